import type { Place, RunState } from "./run-state.ts";

/** Most spans of a run that are kept until it ends, so that later spans find their parents. */
const MOST_SPANS = 10_000;

/** Where the spans of open runs are, by their IDs. */
export class SpanPlaces {
  readonly #places = new Map<string, Place>();
  readonly #runs = new Map<string, RunState>();

  get(spanId: string | undefined): Place | undefined {
    return spanId === undefined ? undefined : this.#places.get(spanId);
  }

  runOf(spanId: string): RunState | undefined {
    return this.#runs.get(spanId);
  }

  add(spanId: string, place: Place): void {
    const { spans } = place.run;
    this.#places.set(spanId, place);
    spans.add(spanId);
    if (spans.size > MOST_SPANS) this.#forgetOldest(spans);
  }

  addRun(run: RunState): void {
    this.#runs.set(run.spanId, run);
    this.add(run.spanId, { run });
  }

  removeRun(run: RunState): void {
    this.#runs.delete(run.spanId);
    for (const spanId of run.spans) this.#places.delete(spanId);
    run.spans.clear();
  }

  /** @returns the runs that were removed. */
  keepRuns(most: number): number {
    let removed = 0;
    for (const run of this.#runs.values()) {
      if (this.#runs.size <= most) break;
      this.removeRun(run);
      removed += 1;
    }
    return removed;
  }

  /** The run's own span comes first, and stays. */
  #forgetOldest(spans: Set<string>): void {
    const [, oldest] = spans;
    if (oldest === undefined) return;
    spans.delete(oldest);
    this.#places.delete(oldest);
  }
}
