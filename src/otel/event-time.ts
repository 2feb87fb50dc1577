import type { EventEnvelope } from "../events/event-envelope.ts";
import { type Instant, isSpanTime } from "../events/instant.ts";
import { parseRfc3339 } from "../events/rfc3339.ts";

/**
 * The time that an envelope gives, as RFC 3339 text or as an {@link Instant}; `undefined` when it
 * gives none, none that can be read, or one that no span can have, such as the year 1 of a clock that
 * nobody has set. The result is a copy: spans keep it. Never throws, whatever the envelope does.
 */
export function readEventTime(envelope: EventEnvelope | null): Instant | undefined {
  try {
    const given: unknown = envelope?.timestamp;
    const at = typeof given === "string" ? parseRfc3339(given) : instantIn(given);
    return at !== undefined && isSpanTime(at) ? at : undefined;
  } catch {
    return undefined;
  }
}

function instantIn(given: unknown): Instant | undefined {
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
