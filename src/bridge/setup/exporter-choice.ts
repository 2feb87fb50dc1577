import { validateHeaderName, validateHeaderValue } from "node:http";
import { diag } from "@opentelemetry/api";
import { trimmedEnd } from "../../events/door.ts";
import { environmentText, warnOfVariable } from "./environment-variables.ts";
import { shownUrl } from "./shown-url.ts";
import type { TracingOptions } from "./tracing-options.ts";

/** An exporter that `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` can name here. */
export type ExporterName = "otlp" | "console";

/** A signal in the names of its variables. */
export type SignalName = "TRACES" | "METRICS";

/**
 * The exporters in `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER`, comma-separated. Empty for `none`, also beside
 * others. Default, also if all names are unknown: `otlp`.
 */
export function exportersFromEnvironment(signal: SignalName): ReadonlySet<ExporterName> {
  const variable = `OTEL_${signal}_EXPORTER`;
  const text = environmentText(variable) ?? "otlp";
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  if (names.includes("none")) {
    if (names.length > 1) warnOfVariable(variable, text, "none or others", "none");
    return new Set();
  }
  const chosen = new Set<ExporterName>();
  const unknown: string[] = [];
  for (const name of names) {
    switch (name) {
      case "otlp":
      case "console":
        chosen.add(name);
        break;
      default:
        unknown.push(name);
    }
  }
  if (chosen.size === 0) chosen.add("otlp");
  const taken = [...chosen].join(" and ");
  for (const name of unknown) warnOfVariable(variable, name, "otlp, console or none", taken);
  return chosen;
}

/** A supported protocol of OTLP requests. */
export type Protocol = "http/json" | "http/protobuf";

/** The first is the default. */
const PROTOCOLS: readonly Protocol[] = ["http/protobuf", "http/json"];

/** The protocol of a signal, and the variable that set it. */
export interface ProtocolChoice {
  readonly protocol: Protocol;
  /** `undefined` for the default. */
  readonly variable: string | undefined;
}

/** The protocol in `OTEL_EXPORTER_OTLP_[signal_]PROTOCOL`, in any case. Default, also for an unsupported one: `http/protobuf`. */
export function protocolFromEnvironment(signal: SignalName): Protocol {
  return protocolChoice(signal).protocol;
}

/** As {@link protocolFromEnvironment}, with the variable. */
export function protocolChoice(signal: SignalName): ProtocolChoice {
  for (const variable of [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, "OTEL_EXPORTER_OTLP_PROTOCOL"]) {
    const asked = environmentText(variable);
    if (asked === undefined) continue;
    const name = asked.toLowerCase();
    const protocol = PROTOCOLS.find((known) => known === name);
    if (protocol !== undefined) return { protocol, variable };
    if (name === "grpc") diag.warn(`entelix-otel: ${variable}=grpc: ${NO_GRPC}`);
    else warnOfVariable(variable, asked, PROTOCOLS.join(" or "), DEFAULT_PROTOCOL);
    break;
  }
  return { protocol: DEFAULT_PROTOCOL, variable: undefined };
}

const DEFAULT_PROTOCOL: Protocol = "http/protobuf";

const NO_GRPC =
  "gRPC is not supported, http/protobuf is used: set the variable to it, and the endpoint to the receiver's port for OTLP/HTTP, usually 4318";

/** Where and in what an OTLP exporter sends a signal. */
export interface OtlpTarget {
  readonly protocol: Protocol;
  /** `undefined`: the exporter reads the environment. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** The target that the options name, else the environment. Warns of variables that cannot be used. */
export function otlpTarget(
  signal: SignalName,
  { endpoint, headers }: Pick<TracingOptions, "endpoint" | "headers">,
): OtlpTarget {
  const url = endpoint === undefined ? urlOfEnvironment(signal) : signalUrl(endpoint, signal);
  warnOfHeaders(signal);
  return { protocol: protocolFromEnvironment(signal), url, headers };
}

const EXPECTED = "name=value pairs, comma-separated and percent-encoded";

/**
 * Warns of headers in the environment that the SDK drops without a message, such as `Authorization: Bearer x`
 * with a colon, and of headers that HTTP cannot carry. It never prints the header, which can be a secret.
 */
function warnOfHeaders(signal: SignalName): void {
  for (const variable of ["OTEL_EXPORTER_OTLP_HEADERS", `OTEL_EXPORTER_OTLP_${signal}_HEADERS`]) {
    const pairs = environmentText(variable)?.split(",") ?? [];
    for (const [at, pair] of pairs.entries()) {
      const fault = pair.trim() === "" ? undefined : faultOf(pair);
      if (fault === undefined) continue;
      diag.warn(`entelix-otel: ${variable}: expected ${EXPECTED}; ${fault} pair ${at + 1}`);
    }
  }
}

/** The effect of an invalid pair, for the warning. */
function faultOf(pair: string): string | undefined {
  // The SDK parses the text after a semicolon as baggage metadata.
  const [text = "", ...cut] = pair.split(";");
  const equals = text.indexOf("=");
  const [name, value] = [text.slice(0, Math.max(equals, 0)), text.slice(equals + 1)].map(decoded);
  if (!name || !value) return "left out is";
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    return "no request can carry";
  }
  return cut.length > 0 ? "cut at its semicolon is" : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}

/** The path of each signal below a base URL, from the OTLP specification. */
const PATHS = { TRACES: "/v1/traces", METRICS: "/v1/metrics" } as const satisfies Record<
  SignalName,
  string
>;

/** The default base URL. */
const DEFAULT_BASE = "http://localhost:4318";

/**
 * The URL for spans: the base URL with `/v1/traces`, as the specification says for
 * `OTEL_EXPORTER_OTLP_ENDPOINT`. A URL that ends with this path is used as it is.
 *
 * @throws TypeError if it is not an http or https URL.
 */
export function tracesUrl(endpoint: string): string {
  return signalUrl(endpoint, "TRACES");
}

/**
 * The URL for metrics: the base URL with `/v1/metrics`, which also replaces `/v1/traces`.
 *
 * @throws TypeError if it is not an http or https URL.
 */
export function metricsUrl(endpoint: string): string {
  return signalUrl(endpoint, "METRICS");
}

/**
 * The URL that the variables name for a signal, as the option `endpoint` would: the SDK appends the path also behind a
 * query, and to a base URL that has it. Warns of a scheme other than http or https, such as that of `localhost:4318`,
 * `localhost:`. The SDK accepts it, and then never sends a request.
 *
 * @returns `undefined` if the SDK reads the variables correctly.
 */
export function urlOfEnvironment(signal: SignalName): string | undefined {
  const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
  const faulty: [variable: string, text: string][] = [];
  let url = DEFAULT_BASE + PATHS[signal];
  for (const variable of [own, "OTEL_EXPORTER_OTLP_ENDPOINT"]) {
    const text = environmentText(variable);
    // The SDK itself warns of invalid URLs, and ignores them.
    if (text === undefined || !URL.canParse(text)) continue;
    if (!isHttp(new URL(text))) {
      faulty.push([variable, text]);
      continue;
    }
    if (variable === own) return undefined;
    url = signalUrl(text, signal);
    if (faulty.length === 0) return url;
  }
  if (faulty.length === 0) return undefined;
  for (const [variable, text] of faulty) {
    warnOfVariable(variable, shownUrl(text), "an http or https URL", shownUrl(url));
  }
  return url;
}

function signalUrl(endpoint: string, signal: SignalName): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !isHttp(url)) {
    throw new TypeError(`endpoint: expected an http or https URL, got "${shownUrl(endpoint)}"`);
  }
  url.pathname = baseOf(trimmedEnd(url.pathname, "/")) + PATHS[signal];
  return url.href;
}

/** The path without that of a signal. */
function baseOf(path: string): string {
  const signal = Object.values(PATHS).find((known) => path.endsWith(known));
  return signal === undefined ? path : path.slice(0, -signal.length);
}

function isHttp(url: URL): boolean {
  return url.protocol === "http:" || url.protocol === "https:";
}
