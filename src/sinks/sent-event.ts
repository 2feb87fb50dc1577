import type { AgentEvent } from "../events/agent-event.ts";
import type { EventEnvelope } from "../events/event-envelope.ts";

/** One event as a sink was sent it, with the envelope where there was one. */
export interface SentEvent<S = unknown> {
  readonly event: AgentEvent<S>;
  readonly envelope?: EventEnvelope;
}

/** The arguments of one `send` as a value. */
export function sentEvent<S>(
  event: AgentEvent<S>,
  envelope: EventEnvelope | undefined,
): SentEvent<S> {
  return envelope === undefined ? { event } : { event, envelope };
}
