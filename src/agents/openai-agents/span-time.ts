import {
  compareInstants,
  fromMilliseconds,
  type Instant,
  now,
  readTimestamp,
  toMilliseconds,
} from "../../events/door.ts";

/** Maximum delay of a callback, in ms. After a longer delay, the span's own time is used. */
const LATE_MS = 5;

/**
 * The time of a span's start or end. The SDK's times are whole milliseconds, so the callback's time is used. The
 * SDK's time is used if the callback is late: another processor was slow, or the span was recorded elsewhere.
 *
 * @param written the SDK's time as text.
 * @param last the previous time in the trace. A time less than 1 ms before it is set to it.
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

/** `Date` also accepts other forms than RFC 3339, but takes twice as long for the SDK's form. */
function instantIn(text: string): Readonly<Instant> | undefined {
  const at = readTimestamp(text);
  if (at !== undefined) return at;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : fromMilliseconds(ms);
}

/** The later of two times, so that an end is not before its start. */
export function notBefore(at: Instant, start: Readonly<Instant>): Instant {
  return compareInstants(at, start) < 0 ? [start[0], start[1]] : at;
}
