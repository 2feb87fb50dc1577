import type { AgentEventSink } from "./agent-event-sink.ts";

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
