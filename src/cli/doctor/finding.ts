import type { Output, Style } from "../terminal/output.ts";

/** A result of one check. Its texts are safe for the terminal. */
export interface Finding {
  /** `note`: useful to know, nothing to fix. */
  readonly level: "ok" | "note" | "problem";
  readonly what: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function ok(what: string): Finding {
  return { level: "ok", what };
}

/** @param advice what to do if it is not intended. */
export function note(what: string, advice?: string): Finding {
  return { level: "note", what, ...(advice === undefined ? {} : { advice }) };
}

export function problem(what: string, advice: string): Finding {
  return { level: "problem", what, advice };
}

const SIGN: Record<Finding["level"], string> = { ok: "✓", note: "•", problem: "✗" };
const STYLE: Record<Finding["level"], Style> = { ok: "green", note: "dim", problem: "red" };

export function printFinding({ advice, level, what }: Finding, out: Output): void {
  out.line(`${out.style(STYLE[level], SIGN[level])} ${what}`);
  if (advice !== undefined) out.line(`    ${advice}`);
}
