import { safe, UNSAFE } from "../../events/format/door.ts";

// Everything that came from data goes through it before it is printed.
export { safe };

/** A JSON text on one line, as {@link safe} shows text: it stays JSON, and of the same value. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (unsafe) => {
    // Unit by unit, since JSON has no escape for what lies beyond 16 bits.
    const units = Array.from({ length: unsafe.length }, (_, at) => unsafe.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
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
