import { validateHeaderName, validateHeaderValue } from "node:http";
import type { Attributes } from "@opentelemetry/api";
import type { Sampler, SpanProcessor } from "@opentelemetry/sdk-trace";
import {
  among,
  checkBoolean,
  checkEach,
  checkedElsewhere,
  checkFunction,
  checkGiven,
  checkList,
  checkObject,
  checkText,
  having,
  type OptionChecks,
} from "../../events/door.ts";
import type { ErrorHook } from "../report.ts";
import { CONVENTIONS, type Conventions } from "../spans/openinference/finisher.ts";
import { checkWait } from "../spans/within.ts";
import { tracesUrl } from "./exporter-choice.ts";

/** Options of `setupTracing`. Each overrides the environment variable of the same meaning. */
export interface TracingOptions {
  /** `service.name`. Default: `OTEL_SERVICE_NAME`, else `OTEL_RESOURCE_ATTRIBUTES`, else the SDK's default. */
  readonly serviceName?: string | undefined;
  /** Further resource attributes. Each overrides the same name in `OTEL_RESOURCE_ATTRIBUTES`. */
  readonly resourceAttributes?: Attributes | undefined;
  /**
   * Base URL of the OTLP/HTTP receiver. `/v1/traces` is appended if it is missing. Default:
   * `OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT`, else `http://localhost:4318`.
   */
  readonly endpoint?: string | undefined;
  /** Headers of each request. Each overrides the same name in `OTEL_EXPORTER_OTLP_[TRACES_]HEADERS`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Limit of encoded spans that wait or are being sent, in bytes, from 1. Above it, new spans are dropped
   * and counted. An estimate with `http/json`. Default 67,108,864 (64 MiB).
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
  /** Time limit of `shutdown` in ms, from 1. Default 5,000. */
  readonly shutdownTimeoutMs?: number | undefined;
  /** The names of attributes on spans of its bridges. Default `genai`. */
  readonly conventions?: Conventions | undefined;
  /** Whether SIGTERM and SIGINT shut tracing down before they end the process. Default `false`. */
  readonly handleSignals?: boolean | undefined;
  /**
   * Whether an uncaught error or unhandled rejection shuts tracing down before it ends the process. The process runs
   * on meanwhile, at most `shutdownTimeoutMs`. Default `false`.
   */
  readonly handleErrors?: boolean | undefined;
  /**
   * Called with lost spans (`SpanLossError`) and with every other error of the setup and its sinks.
   * Default: OpenTelemetry's diagnostic logger. Losses go to the console if there is no logger.
   */
  readonly onError?: ErrorHook | undefined;
}

/**
 * @param checks of the types. `setupTelemetry` has more.
 * @throws TypeError if an option has another type, `serviceName` is blank, HTTP cannot carry a header, or
 *   `endpoint` is not an http or https URL.
 * @throws RangeError if `queueBytes` is not a whole number from 1, or `shutdownTimeoutMs` not a number from 1.
 */
export function checkOptions<T extends TracingOptions>(given: T, checks: OptionChecks<T>): T {
  const options = checkEach(given, checks);
  const { endpoint, serviceName, headers, queueBytes, shutdownTimeoutMs } = options;
  if (serviceName !== undefined && serviceName.trim() === "") {
    throw new TypeError('serviceName: expected a name, got ""');
  }
  for (const [at, [name, value]] of Object.entries(headers ?? {}).entries()) {
    checkHeader(name, value, at + 1);
  }
  if (queueBytes !== undefined && !(Number.isSafeInteger(queueBytes) && queueBytes >= 1)) {
    throw new RangeError(`queueBytes: expected a whole number of bytes from 1, got ${queueBytes}`);
  }
  if (shutdownTimeoutMs !== undefined) checkWait(shutdownTimeoutMs, "shutdownTimeoutMs");
  if (endpoint !== undefined) tracesUrl(endpoint);
  return options;
}

/** Checked here, since a header that HTTP cannot carry would make every request fail. */
function checkHeader(name: string, value: unknown, position: number): void {
  try {
    validateHeaderName(name);
  } catch {
    // A name such as `Authorization: Bearer x`, or a key in the wrong place, would show the secret.
    const got = `other characters in name ${position}`;
    throw new TypeError(`headers: expected names of HTTP headers, got ${got}`);
  }
  // The message does not contain the value, which can be a secret.
  if (typeof value !== "string") {
    throw new TypeError(`headers.${name}: expected text, got ${typeof value}`);
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    const expected = "text of one line that HTTP can carry";
    throw new TypeError(`headers.${name}: expected ${expected}, got other characters in it`);
  }
}

/** The checks of the types, with the names of the options. */
export const TRACING_CHECKS: OptionChecks<TracingOptions> = {
  serviceName: checkText,
  resourceAttributes: checkObject,
  endpoint: checkText,
  headers: checkObject,
  queueBytes: checkedElsewhere,
  sampler: having("shouldSample"),
  spanProcessors(given) {
    checkList(given, "spanProcessors");
    for (const [at, processor] of (Array.isArray(given) ? given : []).entries()) {
      checkGiven(processor, `spanProcessors[${at}]`, "onEnd");
    }
  },
  register: checkBoolean,
  shutdownTimeoutMs: checkedElsewhere,
  conventions: among(...CONVENTIONS),
  handleSignals: checkBoolean,
  handleErrors: checkBoolean,
  onError: checkFunction,
};
