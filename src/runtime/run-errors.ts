import { AgentError } from "../errors/agent-error.ts";
import type { AgentErrorDetail, InterruptionKind } from "../errors/agent-error-detail.ts";
import { asAgentError } from "../errors/as-agent-error.ts";
import { property } from "../errors/thrown.ts";

const ENDED: unique symbol = Symbol.for("entelix-otel.run-ended-error");
const DENIED: unique symbol = Symbol.for("entelix-otel.tool-denied-error");

/**
 * Code of a run did something after the run had ended: a call that it forgot to await, or work that
 * went on past a deadline. Nothing was called and nothing was sent.
 */
export class RunEndedError extends Error {
  override readonly name = "RunEndedError";
  readonly runId: string;

  /** @param ending what the run failed with, or nothing when it completed. It is in the `cause`. */
  constructor(runId: string, what: string, ending: unknown) {
    super(`${what}: the run ${runId} has ended`, {
      cause: AgentError.cancelled({ cause: ending }),
    });
    this.runId = runId;
  }

  get [ENDED](): true {
    return true;
  }
}

/** A run's handle was given up before anybody said how the run had ended: what ended it is not known. */
export class RunNotCompletedError extends Error {
  override readonly name = "RunNotCompletedError";

  constructor() {
    super("the run was closed before it ended: no complete, fail or interrupt was called");
  }
}

/** A tool call was denied. The function was not called; the model may see the reason. */
export class ToolDeniedError extends Error {
  override readonly name = "ToolDeniedError";
  readonly tool: string;
  /** Content: what the approver gave as its reason. */
  readonly reason: string;

  constructor(tool: string, reason: string) {
    // The words are upstream's; they are what the model is shown.
    const message = `approver rejected tool '${tool}' dispatch: ${reason}`;
    super(message, { cause: AgentError.invalidRequest(message) });
    this.tool = tool;
    this.reason = reason;
  }

  get [DENIED](): true {
    return true;
  }
}

/** Whether an error is a {@link RunEndedError}, of whichever loaded copy of this package. */
export function isRunEnded(error: unknown): error is RunEndedError {
  return property(error, ENDED) === true;
}

/** Whether an error is a {@link ToolDeniedError}, of whichever loaded copy of this package. */
export function isToolDenied(error: unknown): error is ToolDeniedError {
  return property(error, DENIED) === true;
}

/** A pause of a run: an `AgentError` whose `detail` says why, with a payload for who answers it. */
export type Interruption = AgentError & {
  readonly detail: Extract<AgentErrorDetail, { readonly type: "interrupted" }>;
};

/**
 * What to throw for the run to pause. It is not a failure: the run ends `interrupted`.
 *
 * @param kind default `{ type: "custom" }`.
 * @param payload content: what the resuming side needs. Default `null`.
 *
 * @example
 * throw interrupt({ type: "custom" }, { question: "Which of the two orders?" });
 */
export function interrupt(
  kind: InterruptionKind = { type: "custom" },
  payload: unknown = null,
): AgentError {
  return AgentError.interrupted(kind, payload);
}

/** Whether what a run rejected with says that it paused. Never throws. */
export function isInterruption(error: unknown): error is Interruption {
  return interruptionIn(error) === error && error !== undefined;
}

/** The pause that a thrown value means, itself or as a cause. Never throws. */
export function interruptionIn(thrown: unknown): Interruption | undefined {
  const known = asAgentError(thrown);
  return known !== undefined && pauses(known) ? known : undefined;
}

function pauses(error: AgentError): error is Interruption {
  return error.detail.type === "interrupted";
}
