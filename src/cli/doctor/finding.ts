import type { Output } from "../terminal/output.ts";

/** One thing the doctor has looked at. Texts are safe for the terminal. */
export interface Finding {
  /** `note`: good to know, nothing to put right. */
  readonly level: "ok" | "note" | "problem";
  readonly what: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function ok(what: string): Finding {
  return { level: "ok", what };
}

/** @param advice what to do where it is not meant to be so. */
export function note(what: string, advice?: string): Finding {
  return { level: "note", what, ...(advice === undefined ? {} : { advice }) };
}

export function problem(what: string, advice: string): Finding {
  return { level: "problem", what, advice };
}

export function printFinding({ advice, level, what }: Finding, out: Output): void {
  switch (level) {
    case "ok":
      out.line(`${out.style("green", "✓")} ${what}`);
      break;
    case "note":
      out.line(`${out.style("dim", "•")} ${what}`);
      break;
    case "problem":
      out.line(`${out.style("red", "✗")} ${what}`);
      break;
    default:
      level satisfies never;
  }
  if (advice !== undefined) out.line(`    ${advice}`);
}
