import type { ClosableSink } from "../sinks/closable-sink.ts";

/**
 * The ends of a sink without what the provider holds: for a `Tracing`, which flushes its provider
 * itself, once for all its sinks, and tells of the trouble once.
 */
export interface OwnEnds extends ClosableSink {
  /** Resolves when no span is held back for its rows; rejects when that took too long. */
  forceFlush(): Promise<void>;
  /** Ends the open runs, and no more. Never rejects. */
  shutdown(): Promise<void>;
}

const ENDS = new WeakMap<object, OwnEnds>();

/** Called by a sink that is made. */
export function setOwnEnds(sink: ClosableSink, ends: OwnEnds): void {
  ENDS.set(sink, ends);
}

/** The sink's own ends; the sink itself where it has told of none. */
export function ownEndsOf(sink: ClosableSink): ClosableSink {
  return ENDS.get(sink) ?? sink;
}
