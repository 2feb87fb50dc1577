import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { isPassing, type SendFailure, statusOf } from "../export/attempt.ts";
import { OtlpPost } from "../export/otlp-post.ts";
import { formatOf, type RequestFormat } from "../export/request-format.ts";
import { REPLAY } from "../export/send-policy.ts";
import { SpanSender } from "../export/span-sender.ts";
import { protocolFromEnvironment, type SignalName, shownUrl } from "../setup/exporter-choice.ts";
import type { SpanTarget } from "./span-outlet.ts";

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
  readonly #format: RequestFormat;
  readonly #sender: SpanSender;
  #silent = 0;

  /** @param url including `/v1/traces`. */
  constructor({ url }: { readonly url: string }) {
    this.#shownUrl = shownUrl(url);
    this.#format = formatOf(protocolFromEnvironment("TRACES"));
    const post = new OtlpPost({ url, contentType: this.#format.contentType });
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

  async write(spans: readonly ReadableSpan[]): Promise<void> {
    if (this.#gaveUp) {
      this.#undelivered += spans.length;
      return;
    }
    const encode = () => this.#format.encode(spans);
    const outcome = await this.#sender.send({ spans: spans.length, size: 0, encode });
    if (outcome.kind === "taken") {
      const { refused, detail = "it does not say why" } = outcome;
      this.#silent = 0;
      if (refused > 0) this.#trouble = `the receiver refused spans: ${detail}`;
      this.#delivered += spans.length - refused;
      this.#undelivered += refused;
      return;
    }
    const status = statusOf(outcome.error);
    const detail = describeFailure(outcome);
    if (spans.length > 1 && isTooLarge(status, detail)) {
      const half = Math.ceil(spans.length / 2);
      await this.write(spans.slice(0, half));
      await this.write(spans.slice(half));
      return;
    }
    this.#silent = status === undefined || isPassing(status) ? this.#silent + 1 : 0;
    this.#undelivered += spans.length;
    this.#trouble = detail;
  }

  /** Does nothing, since each {@link write} is complete. */
  async close(): Promise<void> {}
}

/** The collector answers 400 instead of 413. */
function isTooLarge(status: number | undefined, detail: string): boolean {
  return status === 413 || (status === 400 && detail.includes("body too large"));
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
}

/**
 * Sends an empty request, like the exporter of the signal.
 *
 * @param url including `/v1/traces` or `/v1/metrics`.
 * @param timeoutMs time limit with retries, in ms.
 */
export async function probe(signal: SignalName, url: string, timeoutMs: number): Promise<Probe> {
  const { bytes, contentType } = await emptyRequest(signal);
  const post = new OtlpPost({ url, ownTimeoutMs: timeoutMs, signal, contentType });
  const policy = { ...REPLAY, withinMs: post.timeoutMs };
  const sender = new SpanSender({ post, requests: 1, policy });
  const outcome = await sender.send({ spans: 0, size: 0, encode: () => bytes });
  return probeOf(outcome.kind === "taken" ? undefined : outcome);
}

async function emptyRequest(signal: SignalName) {
  if (signal === "METRICS") {
    return { contentType: "application/json", bytes: Buffer.from('{"resourceMetrics":[]}') };
  }
  const { contentType, encode } = formatOf(protocolFromEnvironment("TRACES"));
  return { contentType, bytes: await encode([]) };
}

/** Converts the failure of an empty request; `undefined`: it succeeded. */
export function probeOf(failure: SendFailure | undefined): Probe {
  if (failure === undefined) return { ok: true, status: undefined, busy: false, detail: "" };
  const status = statusOf(failure.error);
  const busy = status !== undefined && isPassing(status);
  const detail = describeFailure(failure);
  return { ok: false, status: busy ? undefined : status, busy, detail };
}

/** One line about a failed request: the response, or the error of the system. */
export function describeFailure({ error, detail = "" }: SendFailure): string {
  const status = statusOf(error);
  const code = "code" in error ? String(error.code) : "";
  if (status === undefined) return error.message || code || error.name;
  const busy = isPassing(status) ? " (it takes nothing now)" : "";
  const answer = `${`HTTP ${status} ${error.message}`.trimEnd()}${busy}`;
  return detail === "" || detail === "{}" ? answer : `${answer}: ${detail.slice(0, 300)}`;
}
