import type {
  Cancelled,
  ErrorRecorded,
  Interrupt,
  ToolErrorTerminal,
  UsageLimitExceeded,
} from "../../audit/wire/graph-event.ts";
import type { FailureKind, FailureKindId } from "../../errors/error-kinds.ts";
import type { RunEnd } from "../../lifecycle/signal.ts";
import type { KnownFacts } from "../known-facts.ts";
import { ENVELOPES, endOfClass } from "./terminals.ts";

/** A row that may be the last word of its run. */
export type TerminalRow =
  | Interrupt
  | Cancelled
  | UsageLimitExceeded
  | ToolErrorTerminal
  | ErrorRecorded;

/** How a run ended, if this row is its last word. */
export function endOf(row: TerminalRow): RunEnd {
  switch (row.kind) {
    case "interrupt":
      return {
        outcome: "interrupted",
        kind: row.interruption_kind ?? undefined,
        content: row.payload,
      };
    case "cancelled":
      return failed({ type: "cancelled" }, row.reason);
    case "usage_limit_exceeded": {
      const { axis, limit, observed } = row.breach;
      const facts: KnownFacts = {
        "entelix.breach.axis": axis,
        "entelix.breach.limit": String(limit),
        "entelix.breach.observed": String(observed),
      };
      const message = `${axis}: observed ${observed}, limit ${limit}`;
      return failed({ type: "usage_limit_exceeded" }, message, facts);
    }
    case "tool_error_terminal": {
      const { error_kind, tool_name } = row;
      return failed({ type: "tool_error_terminal", kind: error_kind, tool_name }, "");
    }
    case "error": {
      const end = endOfClass(row.class);
      return end === "interrupted"
        ? { outcome: "interrupted", message: row.message }
        : failed(plainKind(end), row.message);
    }
    default:
      return row satisfies never;
  }
}

/** A run of which only its caller says that it failed. */
export const FAILED_UNSEEN: RunEnd = failed({ type: "unclassified" }, "");

function failed(kind: FailureKind, message: string, facts?: KnownFacts): RunEnd {
  return { outcome: "failed", kind, message, envelope: ENVELOPES[kind.type], facts };
}

/** A class never says which tool failed, and how: that has a row of its own. */
function plainKind(id: FailureKindId): FailureKind {
  return id === "tool_error_terminal" ? { type: "unclassified" } : { type: id };
}
