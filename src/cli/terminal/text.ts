/**
 * What must never reach a terminal from data: control characters (C0, DEL, C1), which move the
 * cursor and start escape sequences; the line and paragraph separators; and characters nobody sees,
 * among them the marks that change the direction of writing, which make one text look like another.
 * The two joiners stay, since scripts and emoji need them.
 */
const UNSAFE = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Text from outside as it may be shown on a terminal: what is unsafe is written as an escape
 * (`\n`, `\x1b`, `\u202e`). Everything that came from data goes through here before it is printed.
 */
export function safe(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same for a JSON text on one line: it stays JSON, and of the same value. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (unsafe) => {
    // Unit by unit, since JSON has no escape for what lies beyond 16 bits.
    const units = Array.from({ length: unsafe.length }, (_, at) => unsafe.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

function escaped(unsafe: string): string {
  const code = unsafe.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code > 0xffff) return `\\u{${hex}}`;
  return (
    SHORT[unsafe] ?? (code > 0xff ? `\\u${hex.padStart(4, "0")}` : `\\x${hex.padStart(2, "0")}`)
  );
}

/** Takes no column of its own: combining marks, joiners, variation selectors. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Takes two columns: the wide and fullwidth blocks of East Asian scripts, and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

const PLAIN = /^[\x20-\x7e]*$/;

/** How many columns a text takes on a terminal. Control characters must be gone from it. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** At most `columns` columns of a text, the last one an ellipsis where something is missing. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let width = 0;
  let cut = "";
  for (const character of text) {
    width += widthOfCharacter(character);
    if (width > columns - 1) break;
    cut += character;
  }
  return columns < 1 ? "" : `${cut}…`;
}

/** The text with spaces after it, up to `columns` columns. */
export function padToWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(columns - widthOf(text), 0));
}

function widthOfCharacter(character: string): number {
  if (ZERO.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
