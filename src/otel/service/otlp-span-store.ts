import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describeFailure, type Probe, probeOf, statusOf } from "../replay/otlp-failure.ts";
import { OtlpSender } from "../replay/otlp-sender.ts";
import type { ErrorHook } from "../report.ts";
import type { RetryDelays } from "./backoff.ts";
import { Patience } from "./patience.ts";
import { Slots } from "./slots.ts";
import type { SpanStore, StoredSpans } from "./span-store.ts";

export interface OtlpSpanStoreOptions {
  /** Where requests go, `/v1/traces` included. */
  readonly url: string;
  /** Told of requests that fail (at most once a minute) and of spans that are refused for good. */
  readonly onError: ErrorHook;
  /** How long one attempt may take, in ms. Default: `OTEL_EXPORTER_OTLP_TIMEOUT`, else 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Requests at once, whoever they are of. Default 8. */
  readonly requests?: number | undefined;
  /** Waits between attempts. Default: from 100 ms, doubled up to 10 s. */
  readonly delays?: RetryDelays | undefined;
}

const REQUESTS = 8;

/**
 * Stores spans at an OTLP/HTTP receiver, a collector say, and does not give up while it is away.
 *
 * Tried again: no answer, 5xx, and what an operator mends (401, 403, 404, 415) or time does (408, 429).
 * Any other 4xx is about the spans: the request is halved until the ones that are refused are known,
 * so that no others are lost with them.
 */
export class OtlpSpanStore implements SpanStore {
  readonly #sender: OtlpSender;
  readonly #onError: ErrorHook;
  readonly #slots: Slots;
  readonly #closed = new AbortController();
  readonly #patience: Patience;

  constructor(options: OtlpSpanStoreOptions) {
    const { delays, onError, requests = REQUESTS, timeoutMs, url } = options;
    this.#sender = new OtlpSender({ url, timeoutMs, concurrency: requests + 1 });
    this.#onError = onError;
    this.#slots = new Slots(requests);
    this.#patience = new Patience({
      closed: this.#closed.signal,
      onTrouble: (error) => onError(error, WHERE),
      isFinal: (error) => error instanceof RefusedError,
      delays,
    });
  }

  async store(spans: readonly ReadableSpan[]): Promise<StoredSpans> {
    if (this.#closed.signal.aborted) throw new Error("the span store is closed");
    if (spans.length === 0) return { refused: 0 };
    try {
      return { refused: await this.#patience.until(() => this.#send(spans)) };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (spans.length > 1) return this.#storeHalves(spans);
      this.#onError(error, WHERE);
      return { refused: 1 };
    }
  }

  /** Sends a request without spans, once. */
  async probe(): Promise<Probe> {
    return probeOf((await this.#sender.send([])).failure);
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("the span store was closed"));
    await this.#sender.close();
  }

  /** @returns how many spans the receiver took the request without. */
  async #send(spans: readonly ReadableSpan[]): Promise<number> {
    const { failure, refused, said } = await this.#slots.within(() => this.#request(spans));
    if (failure !== undefined) {
      const what = new Error(`spans: ${describeFailure(failure)}`, { cause: failure });
      throw isForGood(statusOf(failure))
        ? new RefusedError(what.message, { cause: failure })
        : what;
    }
    if (refused > 0) {
      const why = said || "it does not say why";
      this.#onError(new Error(`${refused} spans: the receiver refused them: ${why}`), WHERE);
    }
    return refused;
  }

  async #request(spans: readonly ReadableSpan[]) {
    try {
      return await this.#sender.send(spans);
    } catch (error) {
      // No request can be made of them, now or later.
      throw new RefusedError(`spans: ${String(error)}`, { cause: error });
    }
  }

  async #storeHalves(spans: readonly ReadableSpan[]): Promise<StoredSpans> {
    const half = Math.ceil(spans.length / 2);
    const first = await this.store(spans.slice(0, half));
    const second = await this.store(spans.slice(half));
    return { refused: first.refused + second.refused };
  }
}

/** The receiver does not want these spans, however often they come. */
class RefusedError extends Error {
  override readonly name = "RefusedError";
}

const WHERE = "span export";

/** What an operator or time can mend. */
const PASSING: ReadonlySet<number> = new Set([401, 403, 404, 408, 415, 429]);

function isForGood(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && !PASSING.has(status);
}
