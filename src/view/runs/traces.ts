/** Traces without a run that are remembered. */
export const MOST_OTHER_TRACES = 100_000;

export interface Trace {
  readonly id: string;
  /** Offset of its last piece in the file of spans, plus 1; 0 without one. */
  last: number;
  /** Whether the file of spans has some of it, or will have them with its next batch. */
  isStored: boolean;
  /** Runs with spans in it. */
  runs: number;
  /** Spans without a run that came before the first run. */
  others: number;
  /** Whether it has a run of this package. */
  hasOwnRun: boolean;
  /** Revision of its last span. */
  changedAt: number;
}

/** The traces of spans. Those of runs are retained; of the others only the newest. */
export class Traces {
  /** Spans in traces without a run. */
  otherSpans = 0;
  readonly #ofRuns = new Map<string, Trace>();
  readonly #others = new Map<string, Trace>();

  /** The trace with this ID, a new one if it has none. */
  get(id: string): Trace {
    const known = this.find(id);
    if (known !== undefined) return known;
    const trace = {
      id,
      last: 0,
      isStored: false,
      runs: 0,
      others: 0,
      hasOwnRun: false,
      changedAt: 0,
    };
    this.#others.set(id, trace);
    deleteOldest(this.#others, MOST_OTHER_TRACES);
    return trace;
  }

  find(id: string): Trace | undefined {
    return this.#ofRuns.get(id) ?? this.#others.get(id);
  }

  /** The traces that have a run. */
  ofRuns(): Iterable<Trace> {
    return this.#ofRuns.values();
  }

  /** Forgets the traces without a run. */
  forgetOthers(): void {
    this.#others.clear();
  }

  /** Counts a span without a run. */
  addOther(trace: Trace): void {
    if (trace.runs > 0) return;
    trace.others += 1;
    this.otherSpans += 1;
  }

  addRun(trace: Trace): void {
    trace.runs += 1;
    if (trace.runs > 1) return;
    this.otherSpans -= trace.others;
    trace.others = 0;
    this.#others.delete(trace.id);
    this.#ofRuns.set(trace.id, trace);
  }

  /** A run was left out. Its trace is forgotten with the last run. */
  removeRun(trace: Trace): void {
    trace.runs -= 1;
    if (trace.runs === 0) this.#ofRuns.delete(trace.id);
  }
}

/**
 * Deletes the oldest entries beyond `most`, in batches: finding the oldest entry of a `Map` takes long after deletions.
 */
export function deleteOldest(entries: Map<string, unknown>, most: number): void {
  if (entries.size <= most * 1.1) return;
  for (const key of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(key);
  }
}
