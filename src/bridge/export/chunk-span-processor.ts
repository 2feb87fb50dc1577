import { TraceFlags } from "@opentelemetry/api";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";
import { type SpanLedger, shortText } from "../setup/span-ledger.ts";
import { within } from "../spans/within.ts";
import { type SendFailure, StatusError } from "./attempt.ts";
import type { ExportSettings } from "./export-settings.ts";
import type { Post } from "./otlp-post.ts";
import { LIVE } from "./send-policy.ts";
import { batchOf, type SpanBatch } from "./span-batch.ts";
import { type Part, SpanSender } from "./span-sender.ts";

/**
 * Sends spans by OTLP, and counts every lost span.
 *
 * In protobuf, a span is encoded into its request when it ends. Waiting spans are bounded in bytes; above the bound, new
 * spans are dropped and counted. During an outage of the endpoint, waiting spans stay in order. It never throws
 * into the code that ends a span.
 */
export class ChunkSpanProcessor implements SpanProcessor {
  readonly #ledger: SpanLedger;
  readonly #settings: ExportSettings;
  readonly #sender: SpanSender;
  readonly #batch: SpanBatch;
  /** Number of requests that lost spans. */
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  /**
   * @param ledger counts every span by delivery state.
   * @param onOutage called after the endpoint accepted nothing for 10 s, then at most once a minute.
   * @param batch of the encoding that the post says. Default: protobuf.
   */
  constructor(
    post: Post,
    settings: ExportSettings,
    ledger: SpanLedger,
    onOutage: (error: Error) => void = () => {},
    batch = batchOf("http/protobuf"),
  ) {
    this.#batch = batch;
    this.#ledger = ledger;
    this.#settings = settings;
    this.#sender = new SpanSender({
      post,
      requests: settings.requests,
      policy: { ...LIVE, delays: settings.backoff },
      onOutage: (failure, ms) => onOutage(this.#outage(failure, ms)),
    });
  }

  /** Bytes of encoded spans that wait or are being sent; at most `queueBytes`. */
  get bytes(): number {
    return this.#sender.bytes + this.#batch.size;
  }

  /** Time limit of a flush in ms. */
  get flushMs(): number {
    return this.#settings.exportTimeoutMillis;
  }

  onStart(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0) this.#ledger.start();
  }

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    const ledger = this.#ledger;
    const { maxExportBatchSize, maxQueueSize, requestBytes } = this.#settings;
    if (this.#closing !== undefined) {
      ledger.drop("after_shutdown");
      return;
    }
    const batch = this.#batch;
    try {
      if (ledger.queued >= maxQueueSize || !this.#take(span)) {
        ledger.drop("queue_full");
        return;
      }
    } catch (error) {
      ledger.queue();
      ledger.send(1);
      ledger.fail(1, new Error(`the span can't be encoded: ${String(error)}`));
      return;
    }
    ledger.queue();
    if (batch.size >= requestBytes || batch.spans >= maxExportBatchSize) this.#seal();
    else this.#timer ??= this.#sealLater();
  }

  /**
   * Waits until every span that ended so far is confirmed.
   *
   * @throws (rejects) if one of them was lost, or after `exportTimeoutMillis`. Spans that still wait then are
   *   sent later.
   */
  async forceFlush(): Promise<void> {
    const before = this.#failures;
    if (!(await this.#flush())) {
      const cause = this.#sender.lastError;
      const ms = this.#settings.exportTimeoutMillis;
      const why = cause === undefined ? "" : `; last error of an export: ${shortText(cause)}`;
      throw new Error(`spans were not confirmed within ${ms} ms${why}`, { cause });
    }
    if (this.#failures > before) {
      throw this.#sender.lastError ?? new Error("the export of spans failed");
    }
  }

  /**
   * Sends waiting spans, and accepts no more. Spans that are not confirmed after `exportTimeoutMillis` count as
   * lost. Never rejects.
   */
  shutdown(): Promise<void> {
    this.#closing ??= this.#flush().then(() => this.giveUp());
    return this.#closing;
  }

  /** Counts unconfirmed spans as lost, and stops sending. For the end of the shutdown time. */
  giveUp(): void {
    this.#closing ??= Promise.resolve();
    this.#seal();
    this.#sender.giveUp(new Error("the export timed out"));
  }

  /** Gives a span that is too large for a shared request one of its own, since the endpoint can reject it. */
  #take(span: ReadableSpan): boolean {
    const { queueBytes, requestBytes } = this.#settings;
    const room = queueBytes - this.#sender.bytes;
    if (this.#batch.spans === 0 || room <= requestBytes) return this.#batch.add(span, room);
    if (this.#batch.add(span, requestBytes)) return true;
    this.#seal();
    return this.#batch.add(span, queueBytes - this.#sender.bytes);
  }

  async #flush(): Promise<boolean> {
    this.#seal();
    this.#sender.hurry();
    return within(this.#settings.exportTimeoutMillis, this.#sender.whenSettled());
  }

  #sealLater(): NodeJS.Timeout {
    return setTimeout(() => this.#seal(), this.#settings.scheduledDelayMillis).unref();
  }

  #seal(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#batch.spans === 0) return;
    const request = this.#batch.take(this.#settings.exportTimeoutMillis);
    this.#sender.add(request, {
      started: () => this.#ledger.send(request.spans),
      settled: (part) => this.#settled(part),
    });
  }

  #settled({ outcome, spans }: Part): void {
    switch (outcome.kind) {
      case "taken":
        this.#ledger.confirm(spans - outcome.refused);
        // Without the response text, which can contain data that was sent.
        if (outcome.refused > 0) {
          const text = "partial success; OTEL_LOG_LEVEL=debug shows the reason";
          this.#fail(outcome.refused, new StatusError(200, text));
        }
        break;
      case "refused":
      case "lost":
        this.#fail(spans, outcome.error);
        break;
      default:
        outcome satisfies never;
    }
  }

  #fail(spans: number, error: Error): void {
    this.#failures++;
    this.#ledger.fail(spans, error);
  }

  #outage({ afterMs, error }: SendFailure, ms: number): Error {
    const seconds = Math.round(ms / 1000);
    const asked =
      afterMs === undefined
        ? ""
        : `; it asks to wait ${Math.round(afterMs / 1000)} s, they wait ${CAP_S} s at most`;
    const waiting = `${this.#ledger.counts().pending} spans wait and are sent again${asked}`;
    const text = `the endpoint has taken no spans for ${seconds} s; ${waiting}: ${shortText(error)}`;
    return new Error(text, { cause: error });
  }
}

/** Limit of `Retry-After` in s, for messages. */
const CAP_S = LIVE.mostAskedMs / 1000;
