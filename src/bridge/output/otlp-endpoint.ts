import { adviceOn } from "../export/advice.ts";
import { describeFailure, isPassing, type SendFailure, statusOf } from "../export/attempt.ts";
import { OtlpPost } from "../export/otlp-post.ts";
import { CONTENT_TYPES, formatOf } from "../export/request-format.ts";
import { REPLAY } from "../export/send-policy.ts";
import { type Part, requestOf, SpanSender } from "../export/span-sender.ts";
import {
  type Protocol,
  protocolFromEnvironment,
  type SignalName,
} from "../setup/exporter-choice.ts";
import { shownUrl } from "../setup/shown-url.ts";
import type { SpanEncoding, SpanTarget } from "./span-batches.ts";

/** The number of delivered spans. */
export interface Delivery {
  /** Without user name and password. */
  readonly url: string;
  readonly delivered: number;
  readonly undelivered: number;
  /** Reason of the last failed request, or of the last rejected spans. */
  readonly trouble?: string;
}

/**
 * After this many consecutive requests without a final response, it stops trying. Before the first success, after
 * one.
 */
const MOST_SILENT = 3;

/**
 * Sends spans by OTLP/HTTP, one request at a time, with the retries and the environment variables of the stock
 * exporter. Undelivered spans are counted. It never throws.
 */
export class OtlpEndpoint implements SpanTarget {
  readonly #shownUrl: string;
  #delivered = 0;
  #undelivered = 0;
  #trouble: string | undefined;
  readonly #protocol: Protocol;
  readonly #sender: SpanSender;
  #silent = 0;

  /** @param url including `/v1/traces`. */
  constructor({ url }: { readonly url: string }) {
    this.#shownUrl = shownUrl(url);
    this.#protocol = protocolFromEnvironment("TRACES");
    const post = new OtlpPost({ url, contentType: CONTENT_TYPES[this.#protocol] });
    const policy = { ...REPLAY, withinMs: post.timeoutMs };
    this.#sender = new SpanSender({ post, requests: 1, policy });
  }

  /** The current counts. */
  get result(): Delivery {
    const trouble = this.#trouble === undefined ? {} : { trouble: this.#trouble };
    const delivered = this.#delivered;
    return { url: this.#shownUrl, delivered, undelivered: this.#undelivered, ...trouble };
  }

  /** Whether it has stopped trying. */
  get #gaveUp(): boolean {
    return this.#silent >= (this.#delivered === 0 ? 1 : MOST_SILENT);
  }

  async write<S>(spans: readonly S[], encoding: SpanEncoding<S>): Promise<void> {
    if (this.#gaveUp) {
      this.#undelivered += spans.length;
      return;
    }
    const isJson = this.#protocol === "http/json";
    const encode = (some: readonly S[]) =>
      isJson ? Buffer.from(encoding.json(some), "utf8") : encoding.protobuf(some);
    const request = requestOf(spans, encode);
    for (const part of await this.#sender.send(request)) this.#count(part);
  }

  #count({ outcome, spans }: Part): void {
    if (outcome.kind === "taken") {
      const { refused, detail = "it does not say why" } = outcome;
      this.#silent = 0;
      if (refused > 0) this.#trouble = `the receiver refused spans: ${detail}`;
      this.#delivered += spans - refused;
      this.#undelivered += refused;
      return;
    }
    const status = statusOf(outcome.error);
    this.#silent = status === undefined || isPassing(status) ? this.#silent + 1 : 0;
    this.#undelivered += spans;
    this.#trouble = describeFailure(outcome);
  }

  /** Does nothing, since each {@link write} is complete. */
  async close(): Promise<void> {}
}

/** The result of an empty request. */
export interface Probe {
  readonly ok: boolean;
  /** HTTP status of an error response; `undefined` without a response, or if the receiver is {@link busy}. */
  readonly status: number | undefined;
  /** Whether the receiver answered with a temporary error status. */
  readonly busy: boolean;
  /** Error text of the receiver or the system. */
  readonly detail: string;
  /** What an operator can do about it. */
  readonly advice?: string | undefined;
}

/**
 * Sends an empty request, like the exporter of the signal.
 *
 * @param url including `/v1/traces` or `/v1/metrics`.
 * @param timeoutMs time limit with retries, in ms.
 * @param headers in addition to those of the environment.
 */
export async function probe(
  signal: SignalName,
  url: string,
  timeoutMs: number,
  headers?: Readonly<Record<string, string>>,
): Promise<Probe> {
  const { bytes, contentType } = await emptyRequest(signal);
  const post = new OtlpPost({ url, headers, ownTimeoutMs: timeoutMs, signal, contentType });
  const policy = { ...REPLAY, withinMs: post.timeoutMs };
  const sender = new SpanSender({ post, requests: 1, policy });
  const [part] = await sender.send({ spans: 0, size: 0, encode: () => bytes });
  const outcome = part?.outcome;
  const failure = outcome?.kind === "taken" ? undefined : outcome;
  const isJson = contentType === CONTENT_TYPES["http/json"];
  const advice = failure && adviceOn(failure, { url, signal, isJson, proxy: undefined });
  return { ...probeOf(failure), advice };
}

async function emptyRequest(signal: SignalName) {
  const protocol = protocolFromEnvironment(signal);
  // The empty request of every signal is the same in protobuf.
  const { contentType, encode } = formatOf(protocol);
  const isJson = signal === "METRICS" && protocol === "http/json";
  const bytes = isJson ? Buffer.from('{"resourceMetrics":[]}') : await encode([]);
  return { contentType, bytes };
}

/** Converts the failure of an empty request; `undefined`: it succeeded. */
export function probeOf(failure: SendFailure | undefined): Probe {
  if (failure === undefined) return { ok: true, status: undefined, busy: false, detail: "" };
  const status = statusOf(failure.error);
  const busy = status !== undefined && isPassing(status);
  const detail = describeFailure(failure);
  return { ok: false, status: busy ? undefined : status, busy, detail };
}
