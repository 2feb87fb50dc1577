import { safe, UNSAFE } from "../../events/format/door.ts";

// Escapes data before it is printed.
export { safe };

/** Escapes control characters in a JSON text on one line. Its value stays the same. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (unsafe) => {
    // Each UTF-16 unit separately: JSON has no escape for more than 16 bits.
    const units = Array.from({ length: unsafe.length }, (_, at) => unsafe.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/** Zero columns: combining marks, joiners, variation selectors. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Two columns: wide and fullwidth blocks of East Asian scripts, emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

const PLAIN = /^[\x20-\x7e]*$/;

/** Columns of a text on a terminal. The text must not contain control characters. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** Cuts a text to at most `columns` columns. A cut text ends with an ellipsis. */
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

/** Appends spaces up to `columns` columns. */
export function padToWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(columns - widthOf(text), 0));
}

function widthOfCharacter(character: string): number {
  if (ZERO.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
