import type { AgentEvent } from "../events/agent-event.ts";
import type { EventEnvelope } from "../events/event-envelope.ts";

/**
 * What is registered with an agent: it is sent every lifecycle event, in order.
 *
 * A sink that throws, or whose promise rejects, stops the run at `started` and `complete`; at every
 * other event the agent goes on. Upstream: `AgentEventSink<S>` of entelix-agents.
 *
 * @typeParam S the agent's state type.
 */
export interface AgentEventSink<S = unknown> {
  /**
   * Takes one event.
   *
   * @param envelope what the event itself lacks (time, ids, parents). Default: none; the sink reads
   *   the clock once, on entry.
   * @returns nothing when the event was taken synchronously, else a promise of it.
   */
  send(event: AgentEvent<S>, envelope?: EventEnvelope): void | Promise<void>;
}
