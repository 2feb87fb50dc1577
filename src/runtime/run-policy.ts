import type { ToolErrorKind } from "../errors/error-kinds.ts";
import type { Approve } from "./approval.ts";
import type { Budget } from "./budget.ts";

/** A tool error, as a policy is asked about it. */
export interface FailedTool {
  readonly tool: string;
  readonly toolUseId: string;
  readonly kind: ToolErrorKind;
  /** What the tool threw. */
  readonly error: unknown;
}

/** Which tool errors end the run: their kinds, or a predicate. One that throws says yes. */
export type TerminalToolErrors = readonly ToolErrorKind[] | ((failed: FailedTool) => boolean);

/** What sub-agents have from the run that they are started in. */
export interface RunPolicy {
  readonly budget: Budget;
  readonly approve: Approve | undefined;
  readonly terminalToolErrors: TerminalToolErrors | undefined;
  readonly onError: ((error: unknown) => void) | undefined;
  /** Milliseconds; see `RunOptions`. */
  readonly graceMs: number;
  /** Fires when the run is called off; sub-agents that run then are called off too. */
  readonly signal: AbortSignal;
}

/** Whether a tool error ends the run. */
export function isTerminal(policy: TerminalToolErrors | undefined, failed: FailedTool): boolean {
  if (policy === undefined) return false;
  if (typeof policy !== "function") return policy.includes(failed.kind);
  try {
    return policy(failed);
  } catch {
    // A policy that can't decide must not let a run go on that it was to end.
    return true;
  }
}
