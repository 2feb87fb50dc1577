import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import type { SendFailure } from "../export/attempt.ts";
import { OtlpPost } from "../export/otlp-post.ts";
import { formatOf, type RequestFormat } from "../export/request-format.ts";
import type { RetryDelays } from "../export/retry.ts";
import { SERVICE } from "../export/send-policy.ts";
import { SpanSender } from "../export/span-sender.ts";
import { describeFailure } from "../output/otlp-endpoint.ts";
import type { ErrorHook } from "../report.ts";
import { protocolFromEnvironment } from "../setup/exporter-choice.ts";

/** What became of spans that were given to a {@link SpanStore}. */
interface StoredSpans {
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

interface OtlpSpanStoreOptions {
  /** Where requests go, `/v1/traces` included. */
  readonly url: string;
  /**
   * Called with spans that are refused for good, and, at most once a minute, when the receiver takes
   * nothing: at once where it says why, else after `timeoutMs`.
   */
  readonly onError: ErrorHook;
  /** How long one attempt may take, in ms. Default: `OTEL_EXPORTER_OTLP_TIMEOUT`, else 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Requests at once, of all log processors together. Default 8. */
  readonly requests?: number | undefined;
  /** Waits after a failure, in which nothing is sent. Default: from 100 ms, doubled up to 10 s. */
  readonly delays?: RetryDelays | undefined;
}

const REQUESTS = 8;

/**
 * Stores spans at an OTLP/HTTP receiver, a collector say, and does not give up while it is away.
 *
 * Tried again: no answer, 5xx, and what an operator mends (401, 403, 404, 415) or time does (408, 429).
 * Any other 4xx is about the spans, and so is a failure that comes 50 times while requests beside it are
 * taken, of spans that make the receiver close the connection, say. Then the request is halved until the
 * ones that are refused are known, so that no others are lost with them.
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
    const encode = () => this.#format.encode(spans);
    const outcome = await this.#sender.send({ spans: spans.length, size: 0, encode });
    switch (outcome.kind) {
      case "taken": {
        const { refused, said = "it does not say why" } = outcome;
        if (refused > 0) {
          this.#onError(new Error(`${refused} spans: the receiver refused them: ${said}`), WHERE);
        }
        return { refused };
      }
      case "lost":
      case "refused":
        // Else it is about these spans: others beside them were taken again and again.
        if (outcome.kind === "lost" && this.#closed) throw errorOf(outcome);
        if (spans.length > 1) return this.#storeHalves(spans);
        this.#onError(new RefusedError(outcome), WHERE);
        return { refused: 1 };
      default:
        return outcome satisfies never;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sender.giveUp(new Error("the span store was closed"));
  }

  async #storeHalves(spans: readonly ReadableSpan[]): Promise<StoredSpans> {
    const half = Math.ceil(spans.length / 2);
    const first = await this.store(spans.slice(0, half));
    const second = await this.store(spans.slice(half));
    return { refused: first.refused + second.refused };
  }
}

function errorOf(failure: SendFailure): Error {
  return new Error(`spans: ${describeFailure(failure)}`, { cause: failure.error });
}

/** The receiver does not want these spans, however often they come. */
class RefusedError extends Error {
  override readonly name = "RefusedError";

  constructor(failure: SendFailure) {
    super(`spans: ${describeFailure(failure)}`, { cause: failure.error });
  }
}

const WHERE = "span export";
