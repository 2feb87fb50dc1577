import type { Instant } from "../events/instant.ts";
import { parseRfc3339 } from "../events/rfc3339.ts";

/**
 * The time that an envelope gives, as RFC 3339 text or as an {@link Instant}; `undefined` when it
 * gives none, or none that can be read. The result is a copy: spans keep it.
 */
export function readEventTime(given: unknown): Instant | undefined {
  if (typeof given === "string") return parseRfc3339(given);
  if (!Array.isArray(given)) return undefined;
  const seconds: unknown = given[0];
  const nanos: unknown = given[1];
  return isSeconds(seconds) && isNanos(nanos) ? [seconds, nanos] : undefined;
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isNanos(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 1e9;
}
