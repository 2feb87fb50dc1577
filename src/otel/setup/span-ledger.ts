import { type LossReason, reasonOfFailure, shortText } from "./loss-reason.ts";

/**
 * Where the spans are that were to be sent by OTLP. All are counts of sampled spans since the start;
 * `ended` is always the sum of the other four. All 0 where OTLP is not used.
 */
export interface SpanCounts {
  /** Spans that ended. */
  readonly ended: number;
  /** Spans that the endpoint has confirmed. */
  readonly exported: number;
  /** Spans in requests that failed for good. */
  readonly failed: number;
  /** Spans that were never in a request. */
  readonly dropped: number;
  /** Spans that wait, or are in a request under way. */
  readonly pending: number;
  /** The failed and the dropped ones, by reason. */
  readonly lost: Readonly<Record<LossReason, number>>;
}

/** Counts every sampled span that ended, and what became of it. */
export class SpanLedger {
  /** Called after each loss; the {@link LossReporter} sets it. */
  onLoss: () => void = () => {};
  /** The last error of an export, in a few words. */
  lastError: string | undefined;
  #ended = 0;
  #exported = 0;
  #failed = 0;
  #dropped = 0;
  #queued = 0;
  readonly #lost: Record<LossReason, number> = {
    queue_full: 0,
    after_shutdown: 0,
    too_many_exports: 0,
    timeout: 0,
    unreachable: 0,
    rejected: 0,
    export_failed: 0,
  };

  /** Spans that wait to be put into a request. */
  get queued(): number {
    return this.#queued;
  }

  /** A span ended and waits. */
  queue(): void {
    this.#ended++;
    this.#queued++;
  }

  /** A span ended and can't wait. */
  drop(reason: "queue_full" | "after_shutdown"): void {
    this.#ended++;
    this.#dropped++;
    this.#lose(reason, 1);
  }

  /** Waiting spans are put into a request. */
  send(spans: number): void {
    this.#queued -= spans;
  }

  confirm(spans: number): void {
    this.#exported += spans;
  }

  fail(spans: number, error: Error | undefined): void {
    this.#failed += spans;
    if (error !== undefined) this.lastError = shortText(error);
    this.#lose(reasonOfFailure(error), spans);
  }

  counts(): SpanCounts {
    return {
      ended: this.#ended,
      exported: this.#exported,
      failed: this.#failed,
      dropped: this.#dropped,
      pending: this.#ended - this.#exported - this.#failed - this.#dropped,
      lost: { ...this.#lost },
    };
  }

  #lose(reason: LossReason, spans: number): void {
    this.#lost[reason] += spans;
    this.onLoss();
  }
}
