import type { VerifyReport } from "../../audit/door.ts";
import type { Style } from "../terminal/output.ts";
import { counted } from "../terminal/table.ts";

/** The result of a verification, for a person. */
interface Verdict {
  /** One or two words, with a sign before them. */
  readonly text: string;
  readonly style: Style;
  /** Explanation and next steps; empty if the text needs none. */
  readonly advice: readonly string[];
  readonly exitCode: 0 | 2 | 3;
}

/** @param spans number of spans that the log was compared with. */
export function verdictOf({ end, ok, problemCount }: VerifyReport, spans: number): Verdict {
  if (!ok) {
    const text = `✗ ${counted(problemCount, "problem")}`;
    return { text, style: "red", advice: [], exitCode: 2 };
  }
  switch (end) {
    case undefined:
      return { text: "✓ intact", style: "green", advice: [], exitCode: 0 };
    case "closed":
      return { text: "✓ intact, closed", style: "green", advice: [], exitCode: 0 };
    case "open":
      return { text: "✓ no damage, open", style: "green", advice: OPEN, exitCode: 0 };
    case "unclosed":
      return { ...NOT_CLOSED, advice: [UNCLOSED, spans > 0 ? COMPARED : COMPARE] };
    // Not 0, which would claim that a process has the log open.
    case "unknown":
      return { ...NOT_CLOSED, advice: UNKNOWN };
    default:
      return end satisfies never;
  }
}

const NOT_CLOSED = { text: "! no damage, not closed", style: "yellow", exitCode: 3 } as const;

const OPEN = [
  "A process has the log open. Rows missing at the end are found once it is closed, or with audit verify --against.",
];

const UNCLOSED =
  "The log has no close mark at its end, and no process has it open: its writer crashed, it is a copy of an open log, or rows were cut off.";

const COMPARE =
  "audit verify --against SPANS finds missing rows. If none is missing, let the writer open the log again and close it.";

const COMPARED =
  "All rows that the spans name are there; rows that no span names may be missing. Let the writer open the log again and close it.";

const UNKNOWN = [
  "The log has no close mark at its end, and this user cannot check whether a process has it open. Run the command as the user of that process.",
];
