/** Counts what becomes of every sampled span that ended: `SpanLedger` of the setup does. */
export interface SpanBooks {
  /** Spans that wait to be put into a request. */
  readonly queued: number;
  /** A span ended and waits. */
  queue(): void;
  /** A span ended and can't wait. */
  drop(reason: "queue_full" | "after_shutdown"): void;
  /** Waiting spans are put into a request. */
  send(spans: number): void;
  /** The endpoint has them. */
  confirm(spans: number): void;
  /** Spans of a request are lost. */
  fail(spans: number, error: Error | undefined): void;
}
