import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { isPassing, type SendFailure, statusOf } from "../export/attempt.ts";
import { OtlpPost } from "../export/otlp-post.ts";
import { formatOf, type RequestFormat } from "../export/request-format.ts";
import { REPLAY } from "../export/send-policy.ts";
import { SpanSender } from "../export/span-sender.ts";
import { protocolFromEnvironment, type SignalName, shownUrl } from "../setup/exporter-choice.ts";
import type { SpanTarget } from "./span-outlet.ts";

/** How many spans arrived. */
export interface Delivery {
  /** Without a user's name and password. */
  readonly url: string;
  readonly delivered: number;
  readonly undelivered: number;
  /** What the last failed request, or a receiver that refused spans, said. */
  readonly trouble?: string;
}

/**
 * So many requests in a row without an answer that settles them end the attempts; the first one, if none
 * was ever taken.
 */
const MOST_SILENT = 3;

/**
 * Sends spans by OTLP/HTTP, one request at a time, with retries as the stock exporter has them; protocol,
 * headers, certificates and compression come from its environment variables. What can't be delivered
 * is counted, never thrown.
 */
export class OtlpEndpoint implements SpanTarget {
  readonly #shownUrl: string;
  #delivered = 0;
  #undelivered = 0;
  #trouble: string | undefined;
  readonly #format: RequestFormat;
  readonly #sender: SpanSender;
  #silent = 0;

  /** @param url where requests go, `/v1/traces` included. */
  constructor({ url }: { readonly url: string }) {
    this.#shownUrl = shownUrl(url);
    this.#format = formatOf(protocolFromEnvironment("TRACES"));
    const post = new OtlpPost({ url, contentType: this.#format.contentType });
    const policy = { ...REPLAY, withinMs: post.timeoutMs };
    this.#sender = new SpanSender({ post, requests: 1, policy });
  }

  /** How the delivery stands. */
  get result(): Delivery {
    const trouble = this.#trouble === undefined ? {} : { trouble: this.#trouble };
    const delivered = this.#delivered;
    return { url: this.#shownUrl, delivered, undelivered: this.#undelivered, ...trouble };
  }

  /** It has stopped trying. */
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
      const { refused, said = "it does not say why" } = outcome;
      this.#silent = 0;
      if (refused > 0) this.#trouble = `the receiver refused spans: ${said}`;
      this.#delivered += spans.length - refused;
      this.#undelivered += refused;
      return;
    }
    const status = statusOf(outcome.error);
    const said = describeFailure(outcome);
    if (spans.length > 1 && isTooLarge(status, said)) {
      const half = Math.ceil(spans.length / 2);
      await this.write(spans.slice(0, half));
      await this.write(spans.slice(half));
      return;
    }
    this.#silent = status === undefined || isPassing(status) ? this.#silent + 1 : 0;
    this.#undelivered += spans.length;
    this.#trouble = said;
  }

  /** All that was written has been delivered, or counted. */
  async close(): Promise<void> {}
}

/** The collector answers 400 where others answer 413. */
function isTooLarge(status: number | undefined, said: string): boolean {
  return status === 413 || (status === 400 && said.includes("body too large"));
}

/** Whether a receiver takes requests. */
export interface Probe {
  readonly ok: boolean;
  /** HTTP status of a refusal; `undefined` without an answer, or where it is {@link busy}. */
  readonly status: number | undefined;
  /** It answered that it takes nothing now. */
  readonly busy: boolean;
  /** What the receiver or the system said. */
  readonly said: string;
}

/**
 * Sends an empty request, as the exporter of that signal would send it.
 *
 * @param url where requests go, `/v1/traces` or `/v1/metrics` included.
 * @param timeoutMs how long it may take with its retries, in ms.
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

/** What the end of an empty request says of a receiver. */
export function probeOf(failure: SendFailure | undefined): Probe {
  if (failure === undefined) return { ok: true, status: undefined, busy: false, said: "" };
  const status = statusOf(failure.error);
  const busy = status !== undefined && isPassing(status);
  const said = describeFailure(failure);
  return { ok: false, status: busy ? undefined : status, busy, said };
}

/** A failed request in a line: what the receiver answered, or what the system said. */
export function describeFailure({ error, said = "" }: SendFailure): string {
  const status = statusOf(error);
  const code = "code" in error ? String(error.code) : "";
  if (status === undefined) return error.message || code || error.name;
  const busy = isPassing(status) ? " (it takes nothing now)" : "";
  const answer = `${`HTTP ${status} ${error.message}`.trimEnd()}${busy}`;
  return said === "" || said === "{}" ? answer : `${answer}: ${said.slice(0, 300)}`;
}
