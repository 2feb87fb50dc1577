import { validateHeaderName, validateHeaderValue } from "node:http";
import type { Attributes } from "@opentelemetry/api";
import type { Sampler, SpanProcessor } from "@opentelemetry/sdk-trace-node";
import {
  checkBoolean,
  checkFunction,
  checkGiven,
  checkHas,
  checkList,
  checkObject,
  checkOptionsObject,
  checkText,
} from "../../events/door.ts";
import type { ErrorHook } from "../report.ts";
import { checkWait } from "../spans/within.ts";
import { tracesUrl } from "./exporter-choice.ts";

/** Options of `setupTracing`. Each overrides the environment variable of the same meaning. */
export interface TracingOptions {
  /** `service.name`. Default: `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, the SDK's default. */
  readonly serviceName?: string | undefined;
  /** More about the service; wins over `OTEL_RESOURCE_ATTRIBUTES` name by name. */
  readonly resourceAttributes?: Attributes | undefined;
  /**
   * Base URL of the OTLP/HTTP receiver; `/v1/traces` is appended unless it is there. Default:
   * `OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT`, else port 4318 of this machine.
   */
  readonly endpoint?: string | undefined;
  /** Headers of each request; win over `OTEL_EXPORTER_OTLP_[TRACES_]HEADERS` name by name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The most bytes of encoded spans that wait or are under way, from 1; past that the newest spans are
   * dropped, and counted. Without effect with `http/json`. Default 67,108,864 (64 MiB).
   */
  readonly queueBytes?: number | undefined;
  /**
   * The sampler for traces that begin here. Other spans follow their parent. It should decide by
   * trace ID. Default: `OTEL_TRACES_SAMPLER`, else all traces are sampled.
   */
  readonly sampler?: Sampler | undefined;
  /**
   * Your own span processors, called after the OTLP exporter. Errors in their `onStart`, `onEnding`
   * and `onEnd` go to `onError` and do not affect the span.
   */
  readonly spanProcessors?: readonly SpanProcessor[] | undefined;
  /**
   * Whether to register the provider, a context manager and the W3C propagators globally. Default
   * `true`. With `false`, the globals of the API stay unchanged.
   */
  readonly register?: boolean | undefined;
  /** How long `shutdown` may take in all, in ms, from 1. Default 5,000. */
  readonly shutdownTimeoutMs?: number | undefined;
  /** Whether SIGTERM and SIGINT cause a shutdown before they end the process. Default `false`. */
  readonly handleSignals?: boolean | undefined;
  /**
   * Called with lost spans (`SpanLossError`) and with every other error of the setup and its sinks.
   * Default: OpenTelemetry's diagnostic logger. Losses go to the console if there is no logger.
   */
  readonly onError?: ErrorHook | undefined;
}

/**
 * @throws TypeError when an option is of another type, `serviceName` blank, a header none that can be sent, or
 *   `endpoint` no http or https URL.
 * @throws RangeError when `queueBytes` is no whole number from 1, or `shutdownTimeoutMs` no number of
 *   milliseconds from 1.
 */
export function checkOptions(options: TracingOptions): void {
  checkTypes(options);
  const { endpoint, serviceName, headers, queueBytes, shutdownTimeoutMs } = options;
  if (serviceName !== undefined && serviceName.trim() === "") {
    throw new TypeError('serviceName: expected a name, got ""');
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    checkHeader(name, value);
  }
  if (queueBytes !== undefined && !(Number.isSafeInteger(queueBytes) && queueBytes >= 1)) {
    throw new RangeError(`queueBytes: expected a whole number of bytes from 1, got ${queueBytes}`);
  }
  if (shutdownTimeoutMs !== undefined) checkWait(shutdownTimeoutMs, "shutdownTimeoutMs");
  if (endpoint !== undefined) tracesUrl(endpoint);
}

/** What no request can carry would be tried, and fail, for as long as the process lives. */
function checkHeader(name: string, value: unknown): void {
  // The value may be a secret: it is not shown.
  if (typeof value !== "string") {
    throw new TypeError(`headers.${name}: expected text, got ${typeof value}`);
  }
  try {
    validateHeaderName(name);
  } catch {
    throw new TypeError(`headers: expected names of HTTP headers, got ${JSON.stringify(name)}`);
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    const expected = "text of one line that HTTP can carry";
    throw new TypeError(`headers.${name}: expected ${expected}, got other characters in it`);
  }
}

function checkTypes(options: TracingOptions): void {
  checkOptionsObject(options);
  checkText(options.serviceName, "serviceName");
  checkObject(options.resourceAttributes, "resourceAttributes");
  checkText(options.endpoint, "endpoint");
  checkObject(options.headers, "headers");
  checkHas(options.sampler, "sampler", "shouldSample");
  checkList(options.spanProcessors, "spanProcessors");
  for (const [at, processor] of (options.spanProcessors ?? []).entries()) {
    checkGiven(processor, `spanProcessors[${at}]`, "onEnd");
  }
  checkBoolean(options.register, "register");
  checkBoolean(options.handleSignals, "handleSignals");
  checkFunction(options.onError, "onError");
}
