/** As `Date` writes a time: `2026-01-02T03:04:05.678Z`. */
const LENGTH = 24;
const SECONDS_AT = 17;
const POINT_AT = 19;

/** The minute that was read last, as text up to its seconds, and when it began. */
let minute: string | undefined;
let minuteMs = 0;

/**
 * `Date.parse`, for half of its cost where the text is as `Date` writes it: of spans that follow each
 * other only the seconds differ.
 *
 * @returns milliseconds since the Unix epoch; `NaN` where the text is no time.
 */
export function millisecondsIn(text: string): number {
  const within = secondsIn(text);
  if (within === undefined) return Date.parse(text);
  if (minute !== undefined && text.startsWith(minute)) return minuteMs + within;
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) {
    minute = text.slice(0, SECONDS_AT);
    minuteMs = ms - within;
  }
  return ms;
}

/** The seconds of such a text, in ms; `undefined` where it is another one. */
function secondsIn(text: string): number | undefined {
  if (text.length !== LENGTH || text[LENGTH - 1] !== "Z" || text[POINT_AT] !== ".")
    return undefined;
  const tens = digit(text, SECONDS_AT);
  const rest =
    digit(text, SECONDS_AT + 1) * 1000 +
    digit(text, POINT_AT + 1) * 100 +
    digit(text, POINT_AT + 2) * 10 +
    digit(text, POINT_AT + 3);
  return tens < 6 && rest < 10_000 ? tens * 10_000 + rest : undefined;
}

/** More than any number of seconds where it is no digit. */
function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 48;
  return value >= 0 && value <= 9 ? value : 10_000;
}
