/**
 * Characters that change how the text around them looks: control characters (C0, DEL, C1), which move a terminal's
 * cursor and start escape sequences; line and paragraph separators; and invisible characters, including those that
 * change the direction of writing. The two joiners are allowed, because scripts and emoji need them.
 */
export const UNSAFE = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The same, except line breaks and tabs. */
const UNSAFE_IN_LINES = /(?!\u200c|\u200d|\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Text from outside, on one line, for a terminal or a page: unsafe characters are written as escapes (`\n`, `\x1b`,
 * `\u202e`).
 */
export function safe(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same for a text of several lines: its line breaks and tabs stay. */
export function safeLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSAFE_IN_LINES, escaped);
}

/** A text, and whether it was cut. */
export interface CutText {
  readonly text: string;
  readonly isCut: boolean;
}

/** At most the first `limit` UTF-16 units. Never half of a surrogate pair. */
export function cut(text: string, limit: number): CutText {
  if (text.length <= limit) return { text, isCut: false };
  const last = text.charCodeAt(limit - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return { text: text.slice(0, isHalf ? limit - 1 : limit), isCut: true };
}

function escaped(unsafe: string): string {
  const code = unsafe.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code > 0xffff) return `\\u{${hex}}`;
  return (
    SHORT[unsafe] ?? (code > 0xff ? `\\u${hex.padStart(4, "0")}` : `\\x${hex.padStart(2, "0")}`)
  );
}

/**
 * A text without this character at its end, any number of times. A regular expression such as `/0+$/` would take
 * quadratic time.
 */
export function trimmedEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
