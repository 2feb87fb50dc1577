import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";

/** What became of spans that were given to a {@link SpanStore}. */
export interface StoredSpans {
  /** Spans that the receiver refused for good; they were reported. */
  readonly refused: number;
}

/** Where finished spans are stored. Log processors share one. */
export interface SpanStore {
  /**
   * Resolves once the spans are stored, or refused for good; what fails for the moment is tried again,
   * for as long as it takes.
   *
   * @throws (rejects) after {@link SpanStore.close}, and when it is closed meanwhile.
   */
  store(spans: readonly ReadableSpan[]): Promise<StoredSpans>;
  /** Ends the attempts. Call it when no log processor is left. */
  close(): Promise<void>;
}

/** For a service that only writes the audit log: spans go nowhere. */
export const noSpanStore: SpanStore = {
  async store() {
    return { refused: 0 };
  },
  async close() {},
};
