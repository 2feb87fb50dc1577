import {
  AgentError,
  type AgentErrorDetail,
  asAgentError,
  type InterruptionKind,
  property,
} from "../../events/door.ts";

const ENDED: unique symbol = Symbol.for("entelix-otel.run-ended-error");
const DENIED: unique symbol = Symbol.for("entelix-otel.tool-denied-error");

/**
 * Code of a run called a method after the run had ended, for example because a call was not awaited
 * or work continued past a deadline. Nothing was called and nothing was sent.
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

/** A run's handle was closed before the code ended the run. The cause is unknown. */
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
  /** Content: the reason that the approver gave. */
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

/**
 * A pause of a run: an `AgentError` whose `detail` has the reason and the payload for whoever
 * resumes the run.
 */
export type Interruption = AgentError & {
  readonly detail: Extract<AgentErrorDetail, { readonly type: "interrupted" }>;
};

/**
 * Creates an error to throw when the run has to pause. The run ends `interrupted`, which is not a
 * failure.
 *
 * @param kind default `{ type: "custom" }`.
 * @param payload content: data for whoever resumes the run. Default `null`.
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

/** Whether an error of a run means that the run paused. Never throws. */
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
