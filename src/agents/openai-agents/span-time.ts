import {
  compareInstants,
  fromMilliseconds,
  type Instant,
  now,
  readTimestamp,
  toMilliseconds,
} from "../../events/door.ts";

/** How much later than it happened a callback may come, in ms, until the span's own time counts. */
const LATE_MS = 5;

/**
 * When something of a span happened. The SDK's own times are whole milliseconds, so the time of the
 * callback is better, unless it comes late: after another processor that exports, or for a span that
 * was recorded elsewhere.
 *
 * @param written the SDK's time, as text.
 * @param last the time before, in the same trace: what is less than a millisecond earlier was not.
 */
export function timeOf(written: string | null, last?: Readonly<Instant>): Instant {
  const at = now();
  const given = written === null ? undefined : instantIn(written);
  if (given === undefined) return at;
  const ms = toMilliseconds(given);
  if (Math.abs(toMilliseconds(at) - ms) <= LATE_MS) return at;
  const earlier = last === undefined ? 0 : toMilliseconds(last) - ms;
  const from = last !== undefined && earlier > 0 && earlier < 1 ? last : given;
  return [from[0], from[1]];
}

/** `Date` alone reads other forms than RFC 3339; for those of the SDK it takes twice as long. */
function instantIn(text: string): Readonly<Instant> | undefined {
  const at = readTimestamp(text);
  if (at !== undefined) return at;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : fromMilliseconds(ms);
}

/** The later of two times: an end is not before its start. */
export function notBefore(at: Instant, start: Readonly<Instant>): Instant {
  return compareInstants(at, start) < 0 ? [start[0], start[1]] : at;
}
