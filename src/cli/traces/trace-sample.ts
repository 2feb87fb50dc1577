import type { FinishedSpan } from "../../otel/replay/finished-span.ts";

/** Keeps the spans of the first traces that come, to show them: a bounded number of each. */
export class TraceSample {
  readonly #mostTraces: number;
  readonly #mostSpans: number;
  readonly #traces = new Map<string, FinishedSpan[]>();

  constructor(mostTraces: number, mostSpans: number) {
    this.#mostTraces = mostTraces;
    this.#mostSpans = mostSpans;
  }

  add(span: FinishedSpan): void {
    const spans = this.#traces.get(span.traceId);
    if (spans !== undefined) {
      if (spans.length < this.#mostSpans) spans.push(span);
    } else if (this.#traces.size < this.#mostTraces) this.#traces.set(span.traceId, [span]);
  }

  /** The kept traces, in the order in which their first span ended. */
  get traces(): readonly (readonly FinishedSpan[])[] {
    return [...this.#traces.values()];
  }

  /** How many spans are kept. */
  get spans(): number {
    return this.traces.reduce((sum, spans) => sum + spans.length, 0);
  }
}
