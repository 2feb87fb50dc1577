import { TraceFlags } from "@opentelemetry/api";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-node";
import { shortText } from "../setup/loss-reason.ts";
import { within } from "../within.ts";
import { Chunk } from "./chunk.ts";
import { ChunkSender } from "./chunk-sender.ts";
import type { ExportSettings } from "./export-settings.ts";
import type { Post } from "./otlp-post.ts";
import type { SpanBooks } from "./span-books.ts";

/**
 * Sends spans by OTLP in protobuf without losing any in silence.
 *
 * A span is encoded when it ends, into the request that it will be sent in. What waits is bounded in
 * bytes; past the bound the newest spans are dropped, and counted. While the endpoint is away, what
 * waits stays as it is, in its order. Nothing is thrown into the code that ends a span.
 */
export class ChunkSpanProcessor implements SpanProcessor {
  readonly #books: SpanBooks;
  readonly #settings: ExportSettings;
  readonly #sender: ChunkSender;
  readonly #chunk = new Chunk();
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  /** @param books counts what becomes of every span. */
  constructor(post: Post, settings: ExportSettings, books: SpanBooks) {
    this.#books = books;
    this.#settings = settings;
    const { backoff, requests } = settings;
    this.#sender = new ChunkSender({ post, books, requests, backoff });
  }

  /** Bytes that wait or are under way, encoded; never more than `queueBytes`. */
  get bytes(): number {
    return this.#sender.bytes + this.#chunk.size;
  }

  /** How long a flush takes at most, in ms. */
  get flushMs(): number {
    return this.#settings.exportTimeoutMillis;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    const books = this.#books;
    const { maxExportBatchSize, maxQueueSize, requestBytes } = this.#settings;
    if (this.#closing !== undefined) {
      books.drop("after_shutdown");
      return;
    }
    const chunk = this.#chunk;
    try {
      if (books.queued >= maxQueueSize || !this.#take(span)) {
        books.drop("queue_full");
        return;
      }
    } catch (error) {
      books.queue();
      books.send(1);
      books.fail(1, new Error(`the span can't be encoded: ${String(error)}`));
      return;
    }
    books.queue();
    if (chunk.size >= requestBytes || chunk.spans >= maxExportBatchSize) this.#seal();
    else this.#timer ??= this.#sealLater();
  }

  /**
   * Waits until every span that ended so far is confirmed.
   *
   * @throws (rejects) when one of them was lost, or after `exportTimeoutMillis`; what is not lost by
   *   then is still sent.
   */
  async forceFlush(): Promise<void> {
    const before = this.#sender.failures;
    if (!(await this.#flush())) {
      const cause = this.#sender.lastError;
      const ms = this.#settings.exportTimeoutMillis;
      const why = cause === undefined ? "" : `; last error of an export: ${shortText(cause)}`;
      throw new Error(`spans were not confirmed within ${ms} ms${why}`, { cause });
    }
    if (this.#sender.failures > before) {
      throw this.#sender.lastError ?? new Error("the export of spans failed");
    }
  }

  /**
   * Sends what waits and takes nothing more. What is not confirmed after `exportTimeoutMillis` is
   * counted as lost. Never rejects.
   */
  shutdown(): Promise<void> {
    this.#closing ??= this.#flush().then(() => this.giveUp());
    return this.#closing;
  }

  /** Counts what is not confirmed yet as lost, and sends no more: the time for a shutdown is over. */
  giveUp(): void {
    this.#closing ??= Promise.resolve();
    this.#seal();
    this.#sender.giveUp(new Error("the export timed out"));
  }

  /** A span that is too large for a request with others gets one of its own: it may be refused. */
  #take(span: ReadableSpan): boolean {
    const { queueBytes, requestBytes } = this.#settings;
    const room = queueBytes - this.#sender.bytes;
    if (this.#chunk.spans === 0 || room <= requestBytes) return this.#chunk.add(span, room);
    if (this.#chunk.add(span, requestBytes)) return true;
    this.#seal();
    return this.#chunk.add(span, queueBytes - this.#sender.bytes);
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
    if (this.#chunk.spans === 0) return;
    this.#sender.add(this.#chunk.seal(this.#settings.exportTimeoutMillis));
  }
}
