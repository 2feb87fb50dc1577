/** How spans become an `ExportTraceServiceRequest`. */
export interface SpanEncoding<S> {
  /** In OTLP/JSON, on one line. */
  json(spans: readonly S[]): string;
  /**
   * In protobuf. A promise only if attributes of a resource are pending.
   *
   * @throws if a span cannot be encoded.
   */
  protobuf(spans: readonly S[]): Uint8Array | Promise<Uint8Array>;
}

/** A destination of finished spans. */
export interface SpanTarget {
  /** Writes spans. The promise is the back-pressure. It rejects if no more spans can be written. */
  write<S>(spans: readonly S[], encoding: SpanEncoding<S>): Promise<void>;
  /** Resolves when all spans have arrived. */
  close(): Promise<void>;
}

/** Spans of one request. */
const BATCH = 512;
/** Bytes of the spans of one request, as far as they are known. */
const BATCH_BYTES = 8 * 1024 * 1024;

/** Spans that wait for their targets. They are written in batches. */
export class SpanBatches<S> {
  readonly #targets: readonly SpanTarget[];
  readonly #encoding: SpanEncoding<S>;
  #pending: S[] = [];
  #bytes = 0;

  constructor(targets: readonly SpanTarget[], encoding: SpanEncoding<S>) {
    this.#targets = targets;
    this.#encoding = encoding;
  }

  /** Whether a batch must be drained before more spans are added. */
  get full(): boolean {
    return this.#pending.length >= BATCH || this.#bytes >= BATCH_BYTES;
  }

  /** @param bytes rough size of the span, if it is known. */
  add(span: S, bytes = 0): void {
    if (this.#targets.length === 0) return;
    this.#pending.push(span);
    this.#bytes += bytes;
  }

  /**
   * Passes the spans on. Do not call it again before it is done.
   *
   * @throws (rejects) with the error of a target.
   */
  async drain(): Promise<void> {
    const spans = this.#pending;
    this.#pending = [];
    this.#bytes = 0;
    for (let at = 0; at < spans.length; at += BATCH) {
      const batch = spans.slice(at, at + BATCH);
      for (const target of this.#targets) await target.write(batch, this.#encoding);
    }
  }
}
