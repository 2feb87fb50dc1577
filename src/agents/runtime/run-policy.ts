import {
  answerOf,
  checkFunction,
  type IsFailure,
  type LoopLimits,
  notice,
  type ToolErrorKind,
  yesOrNo,
} from "../../events/door.ts";
import type { Budget } from "./budget.ts";
import type { Price } from "./price.ts";

/**
 * A tool call that waits for approval.
 *
 * @typeParam I the tool's input. `unknown` for a run's approver, which gets the calls of all tools.
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
 * A decision with data for its event.
 *
 * @typeParam I the tool's input.
 */
export interface RecordedDecision<I = unknown> {
  /** `false`: the tool is not called. */
  readonly approved: boolean;
  /**
   * Who decided: `"policy"` for a rule, `"user"` for an unnamed person, any other text for the name or ID of a person
   * (personal data). Default: not known.
   */
  readonly by?: string | undefined;
  /** Content: the reason. For a denial, the `ToolDeniedError` has it. */
  readonly reason?: string | undefined;
  /**
   * How long the decision took, in ms, for an approver that returns an earlier decision. Default: the time that the
   * approver took.
   */
  readonly waitMs?: number | undefined;
  /**
   * Content: the edited input. The tool is called with it, and the decision is recorded as `edited`. Default: the
   * input is unchanged.
   */
  readonly input?: I | undefined;
}

/**
 * A decision about a tool call.
 *
 * - `"approved"`: the tool is called, and `tool_call_approved` is sent.
 * - `"exempt"`: the tool is called without approval, and no event is sent.
 * - `{ denied }`: the tool is not called, and `tool_call_denied` is sent. The caller gets a `ToolDeniedError`.
 * - `"external"`: the decision comes later. The run ends `interrupted` with `approval_pending`.
 * - `{ approved, by, reason }`: same as `"approved"` or `{ denied }`, and the event has the person and the reason.
 *   With `input`, the tool is called with that input.
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
 * Called before each tool call. If it throws, or returns a text that is not a decision, the tool is not called and
 * the caller gets the error. The type allows any text, because TypeScript widens texts that an async function returns
 * to `string`.
 */
export type Approve<I = unknown> = (
  call: PendingTool<I>,
) => ApprovalDecision<I> | PromiseLike<ApprovalDecision<I> | string>;

/** @throws TypeError unless it is a function or undefined. */
export function checkApprove<I>(approve: Approve<I> | undefined): Approve<I> | undefined {
  checkFunction(approve, "approve");
  return approve;
}

/** A failed tool call, for {@link TerminalToolErrors}. */
export interface FailedTool {
  readonly tool: string;
  readonly toolUseId: string;
  readonly kind: ToolErrorKind;
  /** The error that the tool threw. */
  readonly error: unknown;
}

/**
 * Tool errors that end the run: a list of kinds, or a predicate. Any answer of the predicate but `true` counts as
 * `false`, and so does an error. `onError` gets it.
 */
export type TerminalToolErrors = readonly ToolErrorKind[] | ((failed: FailedTool) => boolean);

/** Limit of the text of an error in a notice. */
const LONGEST = 300;

/** The default of `onError`: the first line of the error is said once, since an event, usage or a cost is lost. */
export function sayOnce(error: unknown): void {
  try {
    const [line = ""] = String(error).split("\n", 1);
    notice("ENTELIX_ERROR", `runAgent: ${line.slice(0, LONGEST)}`, "run");
  } catch {
    // The error cannot be shown.
  }
}

/** State that sub-agents inherit from the surrounding run. */
export interface RunPolicy {
  readonly budget: Budget;
  readonly approve: Approve | undefined;
  readonly terminalToolErrors: TerminalToolErrors | undefined;
  readonly isFailure: IsFailure | undefined;
  readonly price: Price | undefined;
  /** Defines a loop of tool calls that ends the run. `undefined`: loops do not end it. */
  readonly loops: LoopLimits | undefined;
  readonly onError: (error: unknown) => void;
  /** In ms. See `RunOptions`. */
  readonly graceMs: number;
  /** Fires when the run is aborted. Running sub-agents are aborted, too. */
  readonly signal: AbortSignal;
}

const ENDS = yesOrNo("terminalToolErrors");

/** Whether a tool error ends the run. Never throws. */
export function isTerminal(
  policy: TerminalToolErrors | undefined,
  failed: FailedTool,
  onError: RunPolicy["onError"],
): boolean {
  if (policy === undefined) return false;
  if (typeof policy !== "function") return policy.includes(failed.kind);
  return answerOf(ENDS, () => policy({ ...failed }), onError) === true;
}
