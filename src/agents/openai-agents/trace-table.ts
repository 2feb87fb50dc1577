import { type AgentRun, isOver, type KnownTrace, type OpenSpan } from "./trace-record.ts";

/** Shared empty maps of ended traces. Nothing is added to them. */
const NO_RUNS = new Map<string, AgentRun>();
const NO_SPANS = new Map<string, OpenSpan>();

/**
 * Known traces: live ones, in which something is open, and idle ones, which may continue. The SDK resumes a paused
 * run in its old trace, and does not end a trace whose code threw.
 *
 * Both tables are bounded. The trace that is longest unchanged is dropped first.
 */
export class TraceTable {
  readonly #live = new Aging();
  readonly #resting = new Aging();
  readonly #maxLive: number;
  readonly #maxResting: number;
  /** Number of traces dropped while something in them was open or paused. */
  forgotten = 0;

  constructor(maxLive: number, maxResting: number) {
    this.#maxLive = maxLive;
    this.#maxResting = maxResting;
  }

  /** The trace, live or idle. */
  find(traceId: string): KnownTrace | undefined {
    return this.#live.traces.get(traceId) ?? this.#resting.traces.get(traceId);
  }

  /** Adds a new trace. Replaces one with the same ID. */
  add(trace: KnownTrace): void {
    this.#resting.remove(trace.traceId);
    trace.resting = false;
    this.#live.traces.set(trace.traceId, trace);
    if (this.#live.traces.size > this.#maxLive) {
      this.#live.dropOldest();
      this.forgotten += 1;
    }
  }

  /** Something in the trace is open again. */
  wake(trace: KnownTrace): void {
    if (this.#resting.traces.get(trace.traceId) === trace) this.add(trace);
    if (trace.tenantId === undefined) return;
    if (trace.agents === NO_RUNS) trace.agents = new Map();
    if (trace.open === NO_SPANS) trace.open = new Map();
  }

  /** Something in the trace ended. */
  settle(trace: KnownTrace): void {
    if (trace.tenantId !== undefined) {
      if (trace.openRuns > 0 || trace.open.size > 0) return;
      // Thousands of ended traces may be kept, and their maps use most of the memory.
      if (isOver(trace)) {
        trace.agents = NO_RUNS;
        trace.open = NO_SPANS;
        trace.handoffs.length = 0;
      }
    }
    this.#rest(trace);
  }

  #rest(trace: KnownTrace): void {
    if (this.#live.traces.get(trace.traceId) !== trace) return;
    this.#live.remove(trace.traceId);
    trace.resting = true;
    this.#resting.traces.set(trace.traceId, trace);
    if (this.#resting.traces.size <= this.#maxResting) return;
    const dropped = this.#resting.dropOldest();
    if (dropped?.tenantId !== undefined && dropped.root?.state === "interrupted") {
      this.forgotten += 1;
    }
  }
}

/** Minimum number of removed traces before a new iterator is made. */
const LEAST_REMOVED = 64;

/** Traces by ID, oldest first. */
class Aging {
  readonly traces = new Map<string, KnownTrace>();
  /** An iterator just before the oldest trace. A new iterator would have to skip the gaps of all dropped traces. */
  #oldest: Iterator<KnownTrace> | undefined;
  /** Traces removed since the iterator was made. An unused iterator keeps removed entries in memory. */
  #removed = 0;

  remove(traceId: string): void {
    if (!this.traces.delete(traceId) || this.#oldest === undefined) return;
    this.#removed += 1;
    if (this.#removed > Math.max(this.traces.size, LEAST_REMOVED)) this.#oldest = undefined;
  }

  dropOldest(): KnownTrace | undefined {
    if (this.#oldest === undefined) {
      this.#oldest = this.traces.values();
      this.#removed = 0;
    }
    const { value } = this.#oldest.next();
    if (value !== undefined) this.traces.delete(value.traceId);
    return value;
  }
}
