import { now } from "../../events/clock.ts";
import {
  compareInstants,
  fromMilliseconds,
  type Instant,
  toMilliseconds,
} from "../../events/instant.ts";
import { millisecondsIn } from "./written-time.ts";

/** How much later than it happened a callback may come, in ms, until the span's own time counts. */
const LATE_MS = 5;

/**
 * When something of a span happened. The SDK's own times are whole milliseconds, so the time of the
 * callback is better, unless it comes late: after another processor that exports, or for a span that
 * was recorded elsewhere.
 *
 * @param last the time before, in the same trace: what is less than a millisecond earlier was not.
 */
export function timeOf(told: string | null, last?: Readonly<Instant>): Instant {
  const at = now();
  if (told === null) return at;
  const ms = millisecondsIn(told);
  if (Number.isNaN(ms) || Math.abs(toMilliseconds(at) - ms) <= LATE_MS) return at;
  if (last === undefined) return fromMilliseconds(ms);
  const earlier = toMilliseconds(last) - ms;
  return earlier > 0 && earlier < 1 ? [last[0], last[1]] : fromMilliseconds(ms);
}

/** The later of two times: an end is not before its start. */
export function notBefore(at: Instant, start: Readonly<Instant>): Instant {
  return compareInstants(at, start) < 0 ? [start[0], start[1]] : at;
}
