import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { roughSpanBytes } from "../export/rough-bytes.ts";
import type { SpanStore } from "./span-store.ts";
import type { Epoch, StoreFlow } from "./store-flow.ts";

/** Limits of a request in spans and bytes. A larger span is sent alone. */
const BATCH = 512;
const BATCH_BYTES = 8 * 1024 * 1024;
/** Concurrent requests of one log processor. */
const AT_ONCE = 4;
/** Limit of spans that wait or are being sent before more are made. */
export const MOST_SPANS = 2 * AT_ONCE * BATCH;

interface Waiting {
  readonly span: ReadableSpan;
  readonly epoch: Epoch;
  readonly bytes: number;
}

/** Sends spans to their store in concurrent batches. */
export class SpanExports {
  stored = 0;
  refused = 0;
  readonly #flow: StoreFlow;
  readonly #store: SpanStore;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #sending = 0;
  /** Number of callers that wait for all spans. If any, partial batches are sent, too. */
  #hurrying = 0;

  /** @param flow counts spans that wait or are being sent. */
  constructor(store: SpanStore, flow: StoreFlow) {
    this.#store = store;
    this.#flow = flow;
  }

  /** @param epoch stays open until the span is stored. */
  add(span: ReadableSpan, epoch: Epoch): void {
    const bytes = roughSpanBytes(span);
    this.#flow.begin(bytes);
    this.#waitingBytes += bytes;
    this.#waiting.push({ span, epoch, bytes });
    this.#sendReady();
  }

  /** Sends partial batches, too, since a caller waits for all spans. */
  hurry(): void {
    this.#hurrying++;
    this.#sendReady();
  }

  relax(): void {
    this.#hurrying--;
  }

  #sendReady(): void {
    while (this.#sending < AT_ONCE && this.#isReady) {
      this.#sending++;
      void this.#send(this.#takeBatch());
    }
  }

  get #isReady(): boolean {
    if (this.#hurrying > 0) return this.#waiting.length > 0;
    return this.#waiting.length >= BATCH || this.#waitingBytes >= BATCH_BYTES;
  }

  #takeBatch(): readonly Waiting[] {
    let count = 0;
    let bytes = 0;
    for (const next of this.#waiting) {
      if (count === BATCH || (count > 0 && bytes + next.bytes > BATCH_BYTES)) break;
      count++;
      bytes += next.bytes;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const spans = batch.map(({ span }) => span);
    try {
      const { refused } = await this.#store.store(spans);
      this.refused += refused;
      this.stored += spans.length - refused;
    } catch {
      // The store is closed. The spans stay uncommitted, and the next processor stores them.
      return;
    }
    this.#sending--;
    for (const { bytes, epoch } of batch) {
      epoch.end();
      this.#flow.end(bytes);
    }
    this.#sendReady();
  }
}
