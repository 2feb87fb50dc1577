import type { ToolErrorKind } from "../errors/error-kinds.ts";
import type { IsFailure } from "../errors/tool-result.ts";
import { checkFunction } from "../events/option-checks.ts";
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
 * A decision about a tool call.
 *
 * - `"approved"`: the tool is called, and `tool_call_approved` is sent. - `"exempt"`: the tool is
 *   called without approval, and no event is sent. - `{ denied }`: the tool is not called, and
 *   `tool_call_denied` is sent. The caller gets a `ToolDeniedError`. - `"external"`: somebody
 *   decides later. The run ends `interrupted` with `approval_pending`.
 */
export type ApprovalDecision = "approved" | "exempt" | "external" | { readonly denied: string };

/**
 * Called before each tool call. If it throws, the tool is not called and the caller gets the error. So
 * does a text that is no decision: TypeScript takes every text that an async function returns for a
 * `string`, so the type allows it.
 */
export type Approve<I = unknown> = (
  call: PendingTool<I>,
) => ApprovalDecision | PromiseLike<ApprovalDecision | string>;

/** @throws TypeError for an approver that can't be asked. */
export function checkApprove<I>(approve: Approve<I> | undefined): Approve<I> | undefined {
  checkFunction(approve, "approve");
  return approve;
}

/**
 * The decision, checked: a call must never be made because an approver forgot to answer.
 *
 * @throws TypeError for an answer that is no decision.
 */
export function checkDecision(decision: unknown): ApprovalDecision {
  switch (decision) {
    case "approved":
    case "exempt":
    case "external":
      return decision;
    default:
      if (typeof decision === "object" && decision !== null && "denied" in decision) {
        if (typeof decision.denied === "string") return { denied: decision.denied };
      }
      throw new TypeError(
        'approve: expected "approved", "exempt", "external" or { denied: reason }, got ' +
          (typeof decision === "string" ? JSON.stringify(decision.slice(0, 100)) : typeof decision),
      );
  }
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
