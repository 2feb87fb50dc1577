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
