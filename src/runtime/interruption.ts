import { AgentError } from "../errors/agent-error.ts";
import type { AgentErrorDetail, InterruptionKind } from "../errors/agent-error-detail.ts";
import { asAgentError } from "../errors/as-agent-error.ts";

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
