import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from "@opentelemetry/otlp-exporter-base/node-http";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { withoutHeaderName } from "../export/header-name.ts";
import { protocolFromEnvironment } from "../setup/exporter-choice.ts";
import { formatOf, type OtlpFormat, type TraceResponse } from "./otlp-format.ts";

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

/** A request as it is sent. */
interface Request {
  readonly bytes: Uint8Array;
  readonly spans: number;
}

/**
 * Sends spans by OTLP/HTTP with the stock exporter's retries; protocol, headers, certificates and
 * compression come from its environment variables.
 */
export class OtlpSender {
  readonly #format: OtlpFormat;
  readonly #delegate: ReturnType<typeof createOtlpHttpExportDelegate<Request, TraceResponse>>;
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
    const format = formatOf(protocolFromEnvironment("TRACES"));
    this.#format = format;
    this.#delegate = createOtlpHttpExportDelegate(
      convertLegacyHttpOptions(config, "TRACES", "v1/traces", {
        "Content-Type": format.contentType,
      }),
      {
        serializeRequest: ({ bytes }: Request) => bytes,
        deserializeResponse: (bytes) => this.#note(format.decode(bytes)),
      },
      "otlp_http_span_exporter",
      { name: "span", countItems: ({ spans }) => spans },
      undefined,
    );
  }

  /** @throws (rejects) where the spans can't be put into a request. */
  async send(spans: readonly ReadableSpan[]): Promise<Sent> {
    const encoded = this.#format.encode(spans);
    // Not waited for without need: close() waits for the requests that have begun.
    const bytes = encoded instanceof Uint8Array ? encoded : await encoded;
    return this.#post({ bytes, spans: spans.length });
  }

  /** Waits for the requests on their way. */
  close(): Promise<void> {
    return this.#delegate.shutdown();
  }

  #post(request: Request): Promise<Sent> {
    return new Promise((resolve) => {
      this.#delegate.export(request, ({ code, error }) => {
        const refused = Math.min(this.#refused, request.spans);
        const said = this.#said;
        this.#refused = 0;
        this.#said = undefined;
        const failed = code !== 0;
        resolve({
          failure: failed ? withoutHeaderName(error ?? new Error("export failed")) : undefined,
          refused: failed ? 0 : refused,
          said,
        });
      });
    });
  }

  /** A receiver may take a request and refuse some of its spans. */
  #note(response: TraceResponse): TraceResponse {
    const partial = response.partialSuccess;
    this.#refused = Number(partial?.rejectedSpans ?? 0);
    this.#said = partial?.errorMessage ?? undefined;
    return response;
  }
}
