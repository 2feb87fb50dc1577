import type { RunState, SpanScope } from "./run-state.ts";

/** Maximum number of spans kept for an open run, to find the parents of later spans. */
const MOST_SPANS = 10_000;

/** Scopes of the spans of open runs, by span ID. */
export class SpanScopes {
  readonly #scopes = new Map<string, SpanScope>();
  readonly #runs = new Map<string, RunState>();
  readonly #byRun = new Map<string, RunState>();

  /** Spans forgotten before their run ended. */
  forgotten = 0;

  get(spanId: string | undefined): SpanScope | undefined {
    return spanId === undefined ? undefined : this.#scopes.get(spanId);
  }

  /** The run of a span whose parent is not exported, by Mastra's run ID. */
  byRun(traceId: string, mastraRunId: string | undefined): SpanScope | undefined {
    if (mastraRunId === undefined) return undefined;
    const run = this.#byRun.get(keyOf({ traceId, mastraRunId }));
    return run === undefined ? undefined : { run };
  }

  runOf(spanId: string): RunState | undefined {
    return this.#runs.get(spanId);
  }

  add(spanId: string, scope: SpanScope): void {
    const { spans } = scope.run;
    this.#scopes.set(spanId, scope);
    spans.add(spanId);
    if (spans.size > MOST_SPANS) this.#forgetOldest(spans);
  }

  addRun(run: RunState): void {
    this.#runs.set(run.spanId, run);
    const key = keyOf(run);
    // A nested workflow has the same ID.
    if (!this.#byRun.has(key)) this.#byRun.set(key, run);
    this.add(run.spanId, { run });
  }

  removeRun(run: RunState): void {
    this.#runs.delete(run.spanId);
    const key = keyOf(run);
    if (this.#byRun.get(key) === run) this.#byRun.delete(key);
    for (const spanId of run.spans) this.#scopes.delete(spanId);
    run.spans.clear();
  }

  /** @returns the number of removed runs. */
  keepRuns(most: number): number {
    let removed = 0;
    for (const run of this.#runs.values()) {
      if (this.#runs.size <= most) break;
      this.removeRun(run);
      removed += 1;
    }
    return removed;
  }

  /** The first span is the run's own, and is kept. */
  #forgetOldest(spans: Set<string>): void {
    const [, oldest] = spans;
    if (oldest === undefined) return;
    spans.delete(oldest);
    this.#scopes.delete(oldest);
    this.forgotten += 1;
  }
}

function keyOf({ mastraRunId, traceId }: Pick<RunState, "traceId" | "mastraRunId">): string {
  return `${traceId} ${mastraRunId}`;
}
