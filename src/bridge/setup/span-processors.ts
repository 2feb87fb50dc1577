import type { Context } from "@opentelemetry/api";
import type { ReadableSpan, Span, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Reporter } from "../report.ts";

/**
 * Reports errors of a user's processor. An error in `onStart` would otherwise lose the span's handle, so that
 * the span never ends, and later processors would not see it.
 */
export class ContainedProcessor implements SpanProcessor {
  /** Absent if the processor has none. */
  readonly onEnding?: (span: Span) => void;
  readonly #processor: SpanProcessor;
  readonly #reporter: Reporter;

  constructor(processor: SpanProcessor, reporter: Reporter) {
    this.#processor = processor;
    this.#reporter = reporter;
    if (processor.onEnding === undefined) return;
    this.onEnding = (span) => this.#contain(() => processor.onEnding?.(span));
  }

  onStart(span: Span, parent: Context): void {
    this.#contain(() => this.#processor.onStart(span, parent));
  }

  onEnd(span: ReadableSpan): void {
    this.#contain(() => this.#processor.onEnd(span));
  }

  async forceFlush(): Promise<void> {
    await this.#processor.forceFlush();
  }

  async shutdown(): Promise<void> {
    await this.#processor.shutdown();
  }

  #contain(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#reporter.report(error, "span processor");
    }
  }
}
