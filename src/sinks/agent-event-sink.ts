import type { AgentEvent } from "../events/agent-event.ts";
import type { EventEnvelope } from "../events/event-envelope.ts";

/**
 * Receives every lifecycle event of an agent, in order.
 *
 * A sink that throws or rejects stops the run at `started` and `complete`. At every other event,
 * the agent continues. Upstream: `AgentEventSink<S>` of entelix-agents.
 *
 * @typeParam S the agent's state type.
 */
export interface AgentEventSink<S = unknown> {
  /**
   * Takes one event.
   *
   * @param envelope time, IDs and parents, which the event itself lacks. Default: none. The sink
   *   then reads the clock once, on entry.
   * @returns nothing if the event was handled synchronously, otherwise a promise.
   */
  send(event: AgentEvent<S>, envelope?: EventEnvelope): void | Promise<void>;
}

/** What a sink may offer besides `send`; the sinks that wrap others pass both on. */
export interface ClosableSink {
  /** Resolves when everything sent so far has reached its end; rejects when that failed. */
  forceFlush?(): Promise<void>;
  /** Gives up what the sink holds; nothing is to be sent afterwards. */
  shutdown?(): Promise<void>;
}

/**
 * A sink that other sinks wrap: any {@link AgentEventSink}, with or without the closing methods.
 *
 * @typeParam S the agent's state type.
 */
export type InnerSink<S = unknown> = AgentEventSink<S> & ClosableSink;

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

/** Where code runs: in a run, or in a tool call or a model call of it. Fields as in the events. */
export interface SpanTarget {
  readonly tenant_id: string;
  readonly run_id: string;
  readonly tool_use_id?: string | undefined;
  readonly model_call_id?: string | undefined;
}

/** A sink that can run code inside the span of a run or call; `Bridge` and `Bridge` are. */
export interface SpanActivator {
  /**
   * Calls `work` with the open span of that place active, so that spans made in it become its
   * children. Where it is not open, `work` is called all the same.
   *
   * @returns what `work` returns.
   */
  withSpan<T>(place: SpanTarget, work: () => T): T;
}

/** Whether a sink can run code inside spans. */
export function isSpanActivator(sink: unknown): sink is SpanActivator {
  return (
    typeof sink === "object" &&
    sink !== null &&
    "withSpan" in sink &&
    typeof sink.withSpan === "function"
  );
}

/** Calls `work` inside that place of the sink, where the sink can: what sinks that wrap others do. */
export function withSpanOf<T>(sink: unknown, place: SpanTarget, work: () => T): T {
  return isSpanActivator(sink) ? sink.withSpan(place, work) : work();
}
