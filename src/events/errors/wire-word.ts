const WIRE_WORD = /^[a-z]{1,32}(?:_[a-z]{1,32}){0,7}$/;

/**
 * A wire code, reason or failure kind, also of a newer agent. A longer text, or one with other characters, may be a
 * vendor's, so it is none: such a text is for operators, and stands on spans only.
 */
export function wireWord(given: unknown): string | undefined {
  return typeof given === "string" && WIRE_WORD.test(given) ? given : undefined;
}
