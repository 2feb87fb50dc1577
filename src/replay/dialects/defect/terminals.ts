import type { FailureKindId, RunEnd } from "../../../events/door.ts";
import type { StopReason } from "./events.ts";

/** The possible ends of a turn. */
export type DefectTerminal =
  | StopReason
  /** `turn_ended` with an unknown reason. */
  | "other_reason"
  /** `turn_aborted` after a model call that failed or broke off. */
  | "aborted_by_model"
  /** `turn_aborted` otherwise. */
  | "aborted";

/** Meaning of a terminal for its run. */
export interface TerminalReading {
  readonly outcome: Extract<RunEnd["outcome"], "complete" | "refused" | "failed">;
  /** Only for failures. */
  readonly failureKind?: Exclude<FailureKindId, "tool_error_terminal">;
}

/**
 * The outcome, and for failures the kind, of each terminal.
 *
 * `turn_aborted` carries no reason, so it is `unclassified` unless the model call before it failed.
 */
export const DEFECT_TERMINALS: Readonly<Record<DefectTerminal, TerminalReading>> = {
  end_turn: { outcome: "complete" },
  max_tokens: { outcome: "complete" },
  max_turn_requests: { outcome: "failed", failureKind: "usage_limit_exceeded" },
  refusal: { outcome: "refused" },
  cancelled: { outcome: "failed", failureKind: "cancelled" },
  other_reason: { outcome: "failed", failureKind: "unclassified" },
  aborted_by_model: { outcome: "failed", failureKind: "model_dispatch" },
  aborted: { outcome: "failed", failureKind: "unclassified" },
};

/** The terminal of a `turn_ended` with this reason. */
export function terminalOf(reason: string): DefectTerminal {
  switch (reason) {
    case "end_turn":
    case "max_tokens":
    case "max_turn_requests":
    case "refusal":
    case "cancelled":
      return reason;
    default:
      return "other_reason";
  }
}
