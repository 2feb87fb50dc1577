import type { Instant } from "../events/instant.ts";
import { formatRfc3339 } from "../events/rfc3339.ts";
import { readTimestamp } from "../events/timestamp.ts";

/**
 * A time as upstream's chrono writes it: UTC with `Z` and 0, 3, 6 or 9 sub-second digits.
 *
 * @throws RangeError when a text is no RFC 3339 time.
 */
export function inUtc(timestamp: string | Readonly<Instant>): string {
  if (typeof timestamp !== "string") return formatRfc3339(timestamp);
  const instant = readTimestamp(timestamp);
  if (instant === undefined) {
    throw new RangeError(`timestamp: expected an RFC 3339 time, got ${JSON.stringify(timestamp)}`);
  }
  return formatRfc3339(instant);
}
