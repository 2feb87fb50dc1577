import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from "@opentelemetry/otlp-exporter-base/node-http";
import {
  type IExportTraceServiceResponse,
  JsonTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describeFailure, type Probe, probeOf, statusOf } from "./otlp-failure.ts";
import { encodeTraceRequest } from "./otlp-json.ts";
import { shownUrl } from "./shown-url.ts";
import type { SpanTarget } from "./span-target.ts";

export interface OtlpEndpointOptions {
  /** Where requests go, `/v1/traces` included. */
  readonly url: string;
  /**
   * How long one request may take with its retries, in ms. Default: `OTEL_EXPORTER_OTLP_TIMEOUT`,
   * else 10,000.
   */
  readonly timeoutMs?: number | undefined;
}

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
 * Sends spans by OTLP/HTTP, one request at a time, with the stock exporter's retries; headers,
 * certificates and compression come from its environment variables. What can't be delivered is
 * counted, never thrown.
 */
export class OtlpEndpoint implements SpanTarget {
  readonly #shownUrl: string;
  #delivered = 0;
  #undelivered = 0;
  #trouble: string | undefined;
  readonly #delegate: ReturnType<typeof createOtlpHttpExportDelegate<ReadableSpan[], Response>>;
  #silent = 0;
  #refused = 0;

  constructor(options: OtlpEndpointOptions) {
    this.#shownUrl = shownUrl(options.url);
    const config = {
      url: options.url,
      ...(options.timeoutMs === undefined ? {} : { timeoutMillis: options.timeoutMs }),
    };
    this.#delegate = createOtlpHttpExportDelegate(
      convertLegacyHttpOptions(config, "TRACES", "v1/traces", {
        "Content-Type": "application/json",
      }),
      {
        serializeRequest: (spans: ReadableSpan[]) => Buffer.from(encodeTraceRequest(spans), "utf8"),
        deserializeResponse: (bytes) => this.#note(JsonTraceSerializer.deserializeResponse(bytes)),
      },
      "otlp_http_span_exporter",
      TraceExporterMetricsHelper,
      undefined,
    );
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
    this.#refused = 0;
    const failure = await this.#send(spans);
    if (failure === undefined) {
      this.#silent = 0;
      const refused = Math.min(this.#refused, spans.length);
      this.#delivered += spans.length - refused;
      this.#undelivered += refused;
      return;
    }
    const status = statusOf(failure);
    if (status === TOO_LARGE && spans.length > 1) {
      const half = Math.ceil(spans.length / 2);
      await this.write(spans.slice(0, half));
      await this.write(spans.slice(half));
      return;
    }
    this.#silent = status === undefined ? this.#silent + 1 : 0;
    this.#undelivered += spans.length;
    this.#trouble = describeFailure(failure);
  }

  /** Sends a request without spans. */
  async probe(): Promise<Probe> {
    return probeOf(await this.#send([]));
  }

  async close(): Promise<void> {
    await this.#delegate.shutdown();
  }

  async #send(spans: readonly ReadableSpan[]): Promise<Error | undefined> {
    return new Promise((resolve) => {
      this.#delegate.export([...spans], (result) => {
        resolve(result.code === 0 ? undefined : (result.error ?? new Error("export failed")));
      });
    });
  }

  /** A receiver may take a request and refuse some of its spans. */
  #note(response: Response): Response {
    const partial = response.partialSuccess;
    const refused = Number(partial?.rejectedSpans ?? 0);
    if (refused > 0) {
      this.#refused = refused;
      this.#trouble = `the receiver refused spans: ${partial?.errorMessage ?? "it does not say why"}`;
    }
    return response;
  }
}

type Response = Partial<IExportTraceServiceResponse>;

const TOO_LARGE = 413;
