import type { Instant } from "../events/instant.ts";
import { parseRfc3339 } from "../events/rfc3339.ts";

const ZERO = 48;
/** Length of `2026-04-29T12:00:`. */
const MINUTE_LENGTH = 17;
/** Length of `2026-04-29T12:00:00Z`. */
const SHORTEST = 20;
/** Length of the same with nine digits of a second. */
const LONGEST = 30;

/** The minute read last. Lines of one file mostly share it, and reading the date is what costs. */
let minute = "1970-01-01T00:00:";
let minuteStart = 0;

/**
 * `parseRfc3339`, several times as fast for times in UTC of the same minute as the one before.
 * Returns `undefined` for what is no RFC 3339 time.
 */
export function readTimestamp(text: string): Instant | undefined {
  const last = text.length - 1;
  if (last < SHORTEST - 1 || last > LONGEST - 1 || text.charCodeAt(last) !== 0x5a) {
    return parseRfc3339(text);
  }
  if (!text.startsWith(minute) && !enterMinute(text)) return parseRfc3339(text);
  const tens = text.charCodeAt(MINUTE_LENGTH) - ZERO;
  const ones = text.charCodeAt(MINUTE_LENGTH + 1) - ZERO;
  // A leap second (60), and everything malformed, is the slow reader's.
  if (!(tens >= 0 && tens <= 5 && ones >= 0 && ones <= 9)) return parseRfc3339(text);
  const seconds = minuteStart + tens * 10 + ones;
  if (last === SHORTEST - 1) return [seconds, 0];
  if (text.charCodeAt(SHORTEST - 1) !== 0x2e || last === SHORTEST) return parseRfc3339(text);
  let nanos = 0;
  for (let at = SHORTEST; at < SHORTEST + 9; at += 1) {
    const digit = at < last ? text.charCodeAt(at) - ZERO : 0;
    if (!(digit >= 0 && digit <= 9)) return parseRfc3339(text);
    nanos = nanos * 10 + digit;
  }
  return [seconds, nanos];
}

function enterMinute(text: string): boolean {
  const next = text.slice(0, MINUTE_LENGTH);
  const start = parseRfc3339(`${next}00Z`);
  if (start === undefined) return false;
  minute = next;
  minuteStart = start[0];
  return true;
}
