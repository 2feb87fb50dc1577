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
import { encodeTraceRequest } from "./otlp-json.ts";

export interface OtlpSenderOptions {
  /** Where requests go, `/v1/traces` included. */
  readonly url: string;
  /**
   * How long one request may take with the exporter's own retries, in ms. Default:
   * `OTEL_EXPORTER_OTLP_TIMEOUT`, else 10,000.
   */
  readonly timeoutMs?: number | undefined;
  /** Requests at once. Default 30. */
  readonly concurrency?: number | undefined;
}

/** What became of one request. */
export interface Sent {
  /** Why it failed; `undefined` when the receiver took it. */
  readonly failure: Error | undefined;
  /** Spans that the receiver took the request without. */
  readonly refused: number;
  /** What it said of them. */
  readonly said: string | undefined;
}

/**
 * Sends spans by OTLP/HTTP in JSON with the stock exporter's retries; headers, certificates and
 * compression come from its environment variables.
 */
export class OtlpSender {
  readonly #delegate: ReturnType<typeof createOtlpHttpExportDelegate<ReadableSpan[], Response>>;
  /** What the response that was read last refused; read before any other response is. */
  #refused = 0;
  #said: string | undefined;

  constructor(options: OtlpSenderOptions) {
    const { concurrency, timeoutMs, url } = options;
    const config = {
      url,
      ...(timeoutMs === undefined ? {} : { timeoutMillis: timeoutMs }),
      ...(concurrency === undefined ? {} : { concurrencyLimit: concurrency }),
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

  /** @throws (rejects) where the spans can't be put into a request. */
  send(spans: readonly ReadableSpan[]): Promise<Sent> {
    return new Promise((resolve) => {
      this.#delegate.export([...spans], ({ code, error }) => {
        const refused = Math.min(this.#refused, spans.length);
        const said = this.#said;
        this.#refused = 0;
        this.#said = undefined;
        const failed = code !== 0;
        resolve({
          failure: failed ? (error ?? new Error("export failed")) : undefined,
          refused: failed ? 0 : refused,
          said,
        });
      });
    });
  }

  /** Waits for the requests on their way. */
  close(): Promise<void> {
    return this.#delegate.shutdown();
  }

  /** A receiver may take a request and refuse some of its spans. */
  #note(response: Response): Response {
    const partial = response.partialSuccess;
    this.#refused = Number(partial?.rejectedSpans ?? 0);
    this.#said = partial?.errorMessage ?? undefined;
    return response;
  }
}

type Response = Partial<IExportTraceServiceResponse>;
