import {
  checkFunction,
  type IsFailure,
  type LoopLimits,
  type ToolErrorKind,
} from "../../events/door.ts";
import type { Budget } from "./budget.ts";
import type { Price } from "./price.ts";

/**
 * A tool call that waits for approval.
 *
 * @typeParam I the tool's input. A run's approver sees the calls of all tools: `unknown`.
 */
export interface PendingTool<I = unknown> {
  readonly tool: string;
  readonly version?: string | undefined;
  readonly toolUseId: string;
  /** Content: the tool's input. */
  readonly input: I;
  readonly runId: string;
  readonly tenantId: string;
  readonly threadId?: string | undefined;
  /** Aborted when the decision is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * A decision, and what is to be recorded of it.
 *
 * @typeParam I the tool's input.
 */
export interface RecordedDecision<I = unknown> {
  /** `false`: the tool is not called. */
  readonly approved: boolean;
  /**
   * Who decided: `"policy"` for a rule, `"user"` for a person who is not named, any other text for the
   * person of that name or ID (personal data). Default: not known.
   */
  readonly by?: string | undefined;
  /** Content: why. Of a denial, the caller gets it in the `ToolDeniedError`. */
  readonly reason?: string | undefined;
  /**
   * How long the decision took, in ms, where the approver looks up one that was made before. Default:
   * how long the approver took.
   */
  readonly waitMs?: number | undefined;
  /**
   * Content: what the approver made of the input. The tool is called with it, and the decision is
   * recorded as `edited`. Default: the input is unchanged.
   */
  readonly input?: I | undefined;
}

/**
 * A decision about a tool call.
 *
 * - `"approved"`: the tool is called, and `tool_call_approved` is sent. - `"exempt"`: the tool is
 *   called without approval, and no event is sent. - `{ denied }`: the tool is not called, and
 *   `tool_call_denied` is sent. The caller gets a `ToolDeniedError`. - `"external"`: somebody
 *   decides later. The run ends `interrupted` with `approval_pending`. - `{ approved, by, reason }`: as
 *   `"approved"` or `{ denied }`, and the event says who decided and why. With `input`, the tool is
 *   called with that.
 *
 * @typeParam I the tool's input.
 */
export type ApprovalDecision<I = unknown> =
  | "approved"
  | "exempt"
  | "external"
  | { readonly denied: string }
  | RecordedDecision<I>;

/**
 * Called before each tool call. If it throws, the tool is not called and the caller gets the error. So
 * does a text that is no decision: TypeScript takes every text that an async function returns for a
 * `string`, so the type allows it.
 */
export type Approve<I = unknown> = (
  call: PendingTool<I>,
) => ApprovalDecision<I> | PromiseLike<ApprovalDecision<I> | string>;

/** @throws TypeError for an approver that can't be asked. */
export function checkApprove<I>(approve: Approve<I> | undefined): Approve<I> | undefined {
  checkFunction(approve, "approve");
  return approve;
}

/** A tool error that a policy decides about. */
export interface FailedTool {
  readonly tool: string;
  readonly toolUseId: string;
  readonly kind: ToolErrorKind;
  /** What the tool threw. */
  readonly error: unknown;
}

/**
 * Tool errors that end the run: a list of kinds, or a predicate. A predicate that throws counts as
 * `true`.
 */
export type TerminalToolErrors = readonly ToolErrorKind[] | ((failed: FailedTool) => boolean);

/** What sub-agents have from the run that they are started in. */
export interface RunPolicy {
  readonly budget: Budget;
  readonly approve: Approve | undefined;
  readonly terminalToolErrors: TerminalToolErrors | undefined;
  readonly isFailure: IsFailure | undefined;
  readonly price: Price | undefined;
  /** What counts as a loop of tool calls that ends the run. */
  readonly loops: LoopLimits | undefined;
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
