import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";

/** Where finished spans go. */
export interface SpanTarget {
  /** Takes spans; the promise is the back-pressure. Rejects when nothing more can be taken. */
  write(spans: readonly ReadableSpan[]): Promise<void>;
  /** Resolves when everything taken has arrived. */
  close(): Promise<void>;
}
