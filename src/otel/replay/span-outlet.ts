import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-node";
import { type FinishedSpan, finishedSpan } from "./finished-span.ts";
import type { SpanTarget } from "./span-target.ts";

/** So many spans go in one request. */
const BATCH = 512;

/**
 * Takes the spans that end and passes them on without losing any: whoever makes spans asks
 * {@link SpanOutlet.full} and waits for {@link SpanOutlet.drain} before making more. The stock batch
 * processor has no back-pressure; it drops.
 */
export class SpanOutlet implements SpanProcessor {
  readonly #targets: readonly SpanTarget[];
  readonly #observe: (span: FinishedSpan) => void;
  #pending: ReadableSpan[] = [];

  /** @param observe sees each span when it ends. */
  constructor(targets: readonly SpanTarget[], observe: (span: FinishedSpan) => void) {
    this.#targets = targets;
    this.#observe = observe;
  }

  /** Whether there is a batch to pass on before more spans are made. */
  get full(): boolean {
    return this.#pending.length >= BATCH;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#targets.length > 0) this.#pending.push(span);
    this.#observe(finishedSpan(span));
  }

  /**
   * Passes on what has ended. Not to be called again before it is done.
   *
   * @throws what a target rejects with.
   */
  async drain(): Promise<void> {
    const spans = this.#pending;
    this.#pending = [];
    for (let at = 0; at < spans.length; at += BATCH) {
      const batch = spans.slice(at, at + BATCH);
      for (const target of this.#targets) await target.write(batch);
    }
  }

  /** Passes on the rest and closes the targets. */
  async close(): Promise<void> {
    await this.drain();
    for (const target of this.#targets) await target.close();
  }

  /** Nothing: the provider would wait no longer than half a minute. {@link SpanOutlet.drain} does. */
  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}
