import type { FailureKindId, RunEnd } from "../../../events/door.ts";
import type { StopReason } from "./events.ts";

/** How a turn may end. */
export type DefectTerminal =
  | StopReason
  /** `turn_ended` with a reason that this version does not know. */
  | "other_reason"
  /** `turn_aborted` when the last model call had failed, or broke off. */
  | "aborted_by_model"
  /** `turn_aborted` otherwise. */
  | "aborted";

/** What a terminal says of its run. */
export interface TerminalReading {
  readonly outcome: Extract<RunEnd["outcome"], "complete" | "refused" | "failed">;
  /** Only of failures. */
  readonly failureKind?: Exclude<FailureKindId, "tool_error_terminal">;
}

/**
 * The failure taxonomy of defect: every terminal with its outcome and, of a failure, its kind.
 *
 * Only what the source says is classed; `turn_aborted` carries no reason, so that it is
 * `unclassified` unless the model call before it failed.
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

/** The terminal that a `turn_ended` with this reason is. */
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
