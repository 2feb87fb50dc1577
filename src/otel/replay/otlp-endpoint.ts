import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describeFailure, type Probe, probeOf, statusOf } from "./otlp-failure.ts";
import { OtlpSender, type OtlpSenderOptions } from "./otlp-sender.ts";
import { shownUrl } from "./shown-url.ts";
import type { SpanTarget } from "./span-target.ts";

export type OtlpEndpointOptions = Pick<OtlpSenderOptions, "url" | "timeoutMs">;

/** How many spans arrived. */
export interface Delivery {
  /** Without a user's name and password. */
  readonly url: string;
  readonly delivered: number;
  readonly undelivered: number;
  /** What the last failed request, or a receiver that refused spans, said. */
  readonly trouble?: string;
}

/** So many requests in a row that reach nobody end the attempts; the first one, if none ever did. */
const MOST_SILENT = 3;

/**
 * Sends spans by OTLP/HTTP, one request at a time, with the stock exporter's retries; protocol,
 * headers, certificates and compression come from its environment variables. What can't be delivered
 * is counted, never thrown.
 */
export class OtlpEndpoint implements SpanTarget {
  readonly #shownUrl: string;
  #delivered = 0;
  #undelivered = 0;
  #trouble: string | undefined;
  readonly #sender: OtlpSender;
  #silent = 0;

  constructor(options: OtlpEndpointOptions) {
    this.#shownUrl = shownUrl(options.url);
    this.#sender = new OtlpSender(options);
  }

  /** How the delivery stands. */
  get result(): Delivery {
    const trouble = this.#trouble === undefined ? {} : { trouble: this.#trouble };
    const delivered = this.#delivered;
    return { url: this.#shownUrl, delivered, undelivered: this.#undelivered, ...trouble };
  }

  /** It has stopped trying, since nobody answers. */
  get #gaveUp(): boolean {
    return this.#silent >= (this.#delivered === 0 ? 1 : MOST_SILENT);
  }

  async write(spans: readonly ReadableSpan[]): Promise<void> {
    if (this.#gaveUp) {
      this.#undelivered += spans.length;
      return;
    }
    const { failure, refused, said: why } = await this.#sender.send(spans);
    if (failure === undefined) {
      this.#silent = 0;
      if (refused > 0) {
        this.#trouble = `the receiver refused spans: ${why ?? "it does not say why"}`;
      }
      this.#delivered += spans.length - refused;
      this.#undelivered += refused;
      return;
    }
    const status = statusOf(failure);
    const said = describeFailure(failure);
    if (spans.length > 1 && isTooLarge(status, said)) {
      const half = Math.ceil(spans.length / 2);
      await this.write(spans.slice(0, half));
      await this.write(spans.slice(half));
      return;
    }
    this.#silent = status === undefined ? this.#silent + 1 : 0;
    this.#undelivered += spans.length;
    this.#trouble = said;
  }

  /** Sends a request without spans. */
  async probe(): Promise<Probe> {
    return probeOf((await this.#sender.send([])).failure);
  }

  async close(): Promise<void> {
    await this.#sender.close();
  }
}

/** The collector answers 400 where others answer 413. */
function isTooLarge(status: number | undefined, said: string): boolean {
  return status === 413 || (status === 400 && said.includes("body too large"));
}
