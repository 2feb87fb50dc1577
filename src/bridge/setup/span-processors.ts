import { type Context, TraceFlags } from "@opentelemetry/api";
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace";
import { withoutHeaderName } from "../export/attempt.ts";
import type { BatchSettings } from "../export/export-settings.ts";
import type { Reporter } from "../report.ts";
import type { SpanLedger } from "./span-ledger.ts";
import { StockRequests } from "./stock-requests.ts";

/**
 * The SDK's batch processor, with a count of every sampled span in a ledger.
 *
 * The SDK reports a full queue only when a later span finds room. It does not report spans that end after its
 * shutdown, and stops waiting at the first failed request of a flush. So this class checks the queue size and
 * waits for requests itself.
 */
export class CountedBatchProcessor implements SpanProcessor {
  /** Time limit of a flush, in ms. */
  readonly flushMs: number;
  readonly #batches: BatchSpanProcessor;
  readonly #exporter: CountedExporter;
  readonly #requests: StockRequests;
  readonly #ledger: SpanLedger;
  readonly #maxQueueSize: number;
  #closing: Promise<void> | undefined;

  constructor(exporter: SpanExporter, settings: BatchSettings, ledger: SpanLedger) {
    this.#exporter = new CountedExporter(exporter, ledger);
    this.#requests = new StockRequests(exporter);
    this.#batches = new BatchSpanProcessor({ exporter: this.#exporter, ...settings });
    this.#ledger = ledger;
    this.#maxQueueSize = settings.maxQueueSize;
    this.flushMs = settings.exportTimeoutMillis;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    const ledger = this.#ledger;
    if (this.#closing !== undefined) {
      ledger.drop("after_shutdown");
    } else if (ledger.queued >= this.#maxQueueSize) {
      ledger.drop("queue_full");
    } else {
      ledger.queue();
      this.#batches.onEnd(span);
    }
  }

  /** Waits until every span that ended so far is confirmed. Rejects if a request failed. */
  async forceFlush(): Promise<void> {
    const flush = this.#batches.forceFlush();
    // The SDK does not wait for requests that its timer started. All requests have started by now.
    const requests = this.#exporter.forceFlush();
    const [, sent] = await Promise.allSettled([flush, requests]);
    if (sent.status === "rejected") throw sent.reason;
  }

  /** Sends waiting spans, and accepts no more. Never rejects; the ledger counts losses. */
  shutdown(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends the requests. For the end of the shutdown time. */
  giveUp(): void {
    this.#requests.end();
  }

  async #close(): Promise<void> {
    // The SDK shuts the exporter down only if no request failed.
    await Promise.allSettled([this.#batches.shutdown()]);
    await Promise.allSettled([this.#exporter.forceFlush()]);
    await Promise.allSettled([this.#exporter.shutdown()]);
  }
}

export type ExportDone = Parameters<SpanExporter["export"]>[1];
export type ExportResult = Parameters<ExportDone>[0];

/** The SDK's `ExportResultCode`, whose package is not a dependency. */
const SUCCESS: ExportResult["code"] = 0;
const FAILED: ExportResult["code"] = 1;

export function isExported({ code }: ExportResult): boolean {
  return code === SUCCESS;
}

/** Exports `items`. An error that the exporter throws is a failed export, too. */
export function containedExport<T>(
  exporter: { export(items: T, done: ExportDone): void },
  items: T,
  done: ExportDone,
): void {
  const settle: ExportDone = ({ code, error }) =>
    done({ code, ...(error && { error: withoutHeaderName(error) }) });
  try {
    exporter.export(items, settle);
  } catch (error) {
    settle({ code: FAILED, error: error instanceof Error ? error : new Error(String(error)) });
  }
}

/**
 * Counts the exported spans in a ledger as confirmed or failed, once for each request.
 */
class CountedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #ledger: SpanLedger;
  readonly #underWay = new Set<Promise<ExportResult>>();

  constructor(exporter: SpanExporter, ledger: SpanLedger) {
    this.#exporter = exporter;
    this.#ledger = ledger;
  }

  export(spans: ReadableSpan[], done: ExportDone): void {
    const ledger = this.#ledger;
    const count = spans.length;
    ledger.send(count);
    let finish: (result: ExportResult) => void = () => {};
    const request = new Promise<ExportResult>((resolve) => {
      finish = resolve;
    });
    this.#underWay.add(request);
    containedExport(this.#exporter, spans, (result) => {
      if (!this.#underWay.delete(request)) return;
      if (isExported(result)) ledger.confirm(count);
      else ledger.fail(count, result.error);
      finish(result);
      done(result);
    });
  }

  /** Waits for all current requests. Rejects if one of them failed. */
  async forceFlush(): Promise<void> {
    const results = await Promise.all(this.#underWay);
    const failed = results.find((result) => !isExported(result));
    if (failed !== undefined) throw failed.error ?? new Error("the export of spans failed");
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

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
