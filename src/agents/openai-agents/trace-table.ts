import type { TraceRecord } from "./trace-record.ts";

/**
 * The traces that are known: those in which something is open, and those at rest, which may go on
 * (the SDK resumes a paused run in its old trace, and does not end a trace whose code threw).
 *
 * Both are bounded; the one longest untouched goes first.
 */
export class TraceTable {
  readonly #live = new Aging();
  readonly #resting = new Aging();
  readonly #maxLive: number;
  readonly #maxResting: number;
  /** Traces given up while something in them was open or paused. */
  forgotten = 0;

  constructor(maxLive: number, maxResting: number) {
    this.#maxLive = maxLive;
    this.#maxResting = maxResting;
  }

  /** The trace, live or at rest. */
  find(traceId: string): TraceRecord | undefined {
    return this.#live.traces.get(traceId) ?? this.#resting.traces.get(traceId);
  }

  /** Takes a new trace, in place of one with the same id. */
  add(trace: TraceRecord): void {
    this.#resting.remove(trace.traceId);
    trace.resting = false;
    this.#live.traces.set(trace.traceId, trace);
    if (this.#live.traces.size > this.#maxLive) {
      this.#live.dropOldest();
      this.forgotten += 1;
    }
  }

  /** Something in the trace is open again. */
  wake(trace: TraceRecord): void {
    if (this.#resting.traces.get(trace.traceId) === trace) this.add(trace);
  }

  /** Nothing in the trace is open any more. */
  rest(trace: TraceRecord): void {
    if (this.#live.traces.get(trace.traceId) !== trace) return;
    this.#live.remove(trace.traceId);
    trace.resting = true;
    this.#resting.traces.set(trace.traceId, trace);
    if (this.#resting.traces.size <= this.#maxResting) return;
    if (this.#resting.dropOldest()?.root?.state === "interrupted") this.forgotten += 1;
  }
}

/** Traces that leave by themselves before the way to the oldest is looked for anew, at least. */
const FEWEST_LEFT = 64;

/** Traces by their ids, the oldest first. */
class Aging {
  readonly traces = new Map<string, TraceRecord>();
  /**
   * Stands before the oldest one: all that it has passed were dropped. A new iterator would step over
   * the gaps that those left, up to as many as there are traces.
   */
  #oldest: Iterator<TraceRecord> | undefined;
  /** Traces taken out since then. An iterator that stands still keeps all that the map has been. */
  #left = 0;

  remove(traceId: string): void {
    if (!this.traces.delete(traceId) || this.#oldest === undefined) return;
    this.#left += 1;
    if (this.#left > Math.max(this.traces.size, FEWEST_LEFT)) this.#oldest = undefined;
  }

  dropOldest(): TraceRecord | undefined {
    if (this.#oldest === undefined) {
      this.#oldest = this.traces.values();
      this.#left = 0;
    }
    const { value } = this.#oldest.next();
    if (value !== undefined) this.traces.delete(value.traceId);
    return value;
  }
}
