import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { describeFailure, type SendFailure } from "../export/attempt.ts";
import { OtlpPost } from "../export/otlp-post.ts";
import { formatOf, type RequestFormat } from "../export/request-format.ts";
import type { RetryDelays } from "../export/retry.ts";
import { SERVICE } from "../export/send-policy.ts";
import { requestOf, SpanSender } from "../export/span-sender.ts";
import type { ErrorHook } from "../report.ts";
import { protocolFromEnvironment } from "../setup/exporter-choice.ts";

/** The result of {@link SpanStore.store}. */
interface StoredSpans {
  /** Number of spans that the receiver rejected permanently. They were reported. */
  readonly refused: number;
}

/** Stores finished spans. Log processors share one. */
export interface SpanStore {
  /**
   * Resolves when the spans are stored or permanently rejected. Temporary failures are retried without a limit.
   *
   * @throws (rejects) after {@link SpanStore.close}, also if it is called meanwhile.
   */
  store(spans: readonly ReadableSpan[]): Promise<StoredSpans>;
  /** Ends the attempts. Call it after the last log processor has ended. */
  close(): Promise<void>;
}

/** Drops spans, for a service that only writes the audit log. */
export const noSpanStore: SpanStore = {
  async store() {
    return { refused: 0 };
  },
  async close() {},
};

interface OtlpSpanStoreOptions {
  /** URL including `/v1/traces`. */
  readonly url: string;
  /**
   * Called for permanently rejected spans, and, at most once a minute, during an outage: at once for an error
   * status that is not temporary, else after `timeoutMs`.
   */
  readonly onError: ErrorHook;
  /** Time limit of an attempt in ms. Default: `OTEL_EXPORTER_OTLP_TIMEOUT`, else 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Concurrent requests of all log processors. Default 8. */
  readonly requests?: number | undefined;
  /** Waits after a failure, in which nothing is sent. Default: from 100 ms, doubled up to 10 s. */
  readonly delays?: RetryDelays | undefined;
}

const REQUESTS = 8;

/**
 * Stores spans at an OTLP/HTTP receiver such as a collector, and retries during outages without a limit.
 *
 * It retries after no response, 5xx, errors that an operator can fix (401, 403, 404, 415) and temporary errors
 * (408, 429). Any other 4xx is caused by the spans. So is a request that fails 50 times while concurrent ones
 * succeed, for example because the receiver closes the connection. Such a request is halved until the bad spans
 * are found, so that no others are lost.
 */
export class OtlpSpanStore implements SpanStore {
  readonly #format: RequestFormat;
  readonly #sender: SpanSender;
  readonly #onError: ErrorHook;
  #closed = false;

  constructor(options: OtlpSpanStoreOptions) {
    const { delays = SERVICE.delays, onError, requests = REQUESTS, timeoutMs, url } = options;
    this.#onError = onError;
    this.#format = formatOf(protocolFromEnvironment("TRACES"));
    const post = new OtlpPost({
      url,
      ownTimeoutMs: timeoutMs,
      contentType: this.#format.contentType,
    });
    const policy = { ...SERVICE, delays, outageMs: post.timeoutMs };
    const onOutage = (failure: SendFailure) => onError(errorOf(failure), WHERE);
    this.#sender = new SpanSender({ post, requests, policy, onOutage });
  }

  async store(spans: readonly ReadableSpan[]): Promise<StoredSpans> {
    if (this.#closed) throw new Error("the span store is closed");
    if (spans.length === 0) return { refused: 0 };
    const request = requestOf(spans, (some) => this.#format.encode(some));
    let refused = 0;
    for (const { outcome, spans: count } of await this.#sender.send(request)) {
      if (outcome.kind === "taken") {
        const { detail = "it does not say why" } = outcome;
        refused += outcome.refused;
        if (outcome.refused === 0) continue;
        const text = `${outcome.refused} spans: the receiver refused them: ${detail}`;
        this.#onError(new Error(text), WHERE);
        continue;
      }
      if (outcome.kind === "lost" && this.#closed) throw errorOf(outcome);
      // The spans are the cause, since concurrent requests succeeded.
      refused += count;
      this.#onError(new RefusedError(outcome), WHERE);
    }
    return { refused };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sender.giveUp(new Error("the span store was closed"));
  }
}

function errorOf(failure: SendFailure): Error {
  return new Error(`spans: ${describeFailure(failure)}`, { cause: failure.error });
}

/** Whether the receiver rejects these spans permanently. */
class RefusedError extends Error {
  override readonly name = "RefusedError";

  constructor(failure: SendFailure) {
    super(`spans: ${describeFailure(failure)}`, { cause: failure.error });
  }
}

const WHERE = "span export";
