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
 * A method of a run was called after its end, for example because a call was not awaited or work continued past a
 * deadline. Nothing was called or sent.
 */
export class RunEndedError extends Error {
  override readonly name = "RunEndedError";
  readonly runId: string;

  /** @param ending the run's error, if it failed. It becomes part of the `cause`. */
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

/** A run's handle was closed before the run ended. The reason is not known. */
export class RunNotCompletedError extends Error {
  override readonly name = "RunNotCompletedError";

  constructor() {
    super("the run was closed before it ended: no complete, fail or interrupt was called");
  }
}

/** A tool call was denied. Its function was not called. The model may see the reason. */
export class ToolDeniedError extends Error {
  override readonly name = "ToolDeniedError";
  readonly tool: string;
  /** Content: the approver's reason. */
  readonly reason: string;

  constructor(tool: string, reason: string) {
    // The text is entelix's. The model sees it.
    const message = `approver rejected tool '${tool}' dispatch: ${reason}`;
    super(message, { cause: AgentError.invalidRequest(message) });
    this.tool = tool;
    this.reason = reason;
  }

  get [DENIED](): true {
    return true;
  }
}

/** Whether an error is a {@link RunEndedError} of any loaded copy of this package. */
export function isRunEnded(error: unknown): error is RunEndedError {
  return property(error, ENDED) === true;
}

/** Whether an error is a {@link ToolDeniedError} of any loaded copy of this package. */
export function isToolDenied(error: unknown): error is ToolDeniedError {
  return property(error, DENIED) === true;
}

/**
 * A pause of a run: an `AgentError` whose `detail` has the reason and the payload for the code that resumes the run.
 */
export type Interruption = AgentError & {
  readonly detail: Extract<AgentErrorDetail, { readonly type: "interrupted" }>;
};

/**
 * Creates an error. Throw it to pause the run. The run ends `interrupted`, which is not a failure.
 *
 * @param kind default `{ type: "custom" }`.
 * @param payload content: data for the code that resumes the run. Default `null`.
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

/** Whether an error means that the run paused. Never throws. */
export function isInterruption(error: unknown): error is Interruption {
  return interruptionIn(error) === error && error !== undefined;
}

/** The pause in a thrown value or its causes. Never throws. */
export function interruptionIn(thrown: unknown): Interruption | undefined {
  const known = asAgentError(thrown);
  return known !== undefined && pauses(known) ? known : undefined;
}

function pauses(error: AgentError): error is Interruption {
  return error.detail.type === "interrupted";
}
