import { validateHeaderName, validateHeaderValue } from "node:http";
import { diag } from "@opentelemetry/api";
import { trimmedEnd } from "../../events/door.ts";
import { environmentText, warnOfVariable } from "./environment-variables.ts";
import type { TracingOptions } from "./tracing-options.ts";

/** An exporter that `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` can name here. */
export type ExporterName = "otlp" | "console";

/** A signal in the names of its variables. */
export type SignalName = "TRACES" | "METRICS";

/**
 * The exporters that `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` names, comma-separated; none
 * for `none`. Default, also when it names only unknown ones: `otlp`.
 */
export function exportersFromEnvironment(signal: SignalName): ReadonlySet<ExporterName> {
  const variable = `OTEL_${signal}_EXPORTER`;
  const text = environmentText(variable) ?? "otlp";
  const chosen = new Set<ExporterName>();
  const unknown: string[] = [];
  for (const part of text.split(",")) {
    const name = part.trim().toLowerCase();
    switch (name) {
      case "none":
        return new Set();
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

/** What a request can be written in here. */
export type Protocol = "http/json" | "http/protobuf";

/** What each signal can be sent in; the first is the default. */
const PROTOCOLS = {
  TRACES: ["http/protobuf", "http/json"],
  METRICS: ["http/json"],
} as const satisfies Record<SignalName, readonly Protocol[]>;

/** What a signal is sent in, and which variable says so. */
export interface ProtocolChoice {
  readonly protocol: Protocol;
  /** Absent for the default. */
  readonly variable: string | undefined;
}

/**
 * What `OTEL_EXPORTER_OTLP_[signal_]PROTOCOL` asks for. Default, also where it asks for what this setup
 * can't send: `http/protobuf` for traces, `http/json` for metrics.
 */
export function protocolFromEnvironment(signal: SignalName): Protocol {
  return protocolChoice(signal).protocol;
}

/** As {@link protocolFromEnvironment}, with where it comes from. */
export function protocolChoice(signal: SignalName): ProtocolChoice {
  const [byDefault] = PROTOCOLS[signal];
  const general = "OTEL_EXPORTER_OTLP_PROTOCOL";
  for (const variable of [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, general]) {
    const asked = environmentText(variable);
    if (asked === undefined) continue;
    const protocol = PROTOCOLS[signal].find((known) => known === asked);
    if (protocol !== undefined) return { protocol, variable };
    // What suits the other signal is no mistake in the variable for both.
    if (
      variable !== general ||
      !Object.values(PROTOCOLS)
        .flat()
        .some((known) => known === asked)
    ) {
      warnOfVariable(variable, asked, PROTOCOLS[signal].join(" or "), byDefault);
    }
    break;
  }
  return { protocol: byDefault, variable: undefined };
}

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
  const url =
    endpoint === undefined ? urlInPlaceOfEnvironments(signal) : signalUrl(endpoint, signal);
  warnOfHeaders(signal);
  return { protocol: protocolFromEnvironment(signal), url, headers };
}

/** The options of a stock exporter for a target. */
export function stockOptions({ url, headers }: OtlpTarget): {
  url?: string;
  headers?: Record<string, string>;
} {
  return {
    ...(url === undefined ? {} : { url }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
  };
}

const EXPECTED = "name=value pairs, comma-separated and percent-encoded";

/**
 * Warns of headers in the environment that the exporters' own code leaves out without a word, as
 * `Authorization: Bearer x` with its colon is, or with which no request can be made. Neither is shown: it
 * may be a secret.
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

/** What becomes of a pair that is none. */
function faultOf(pair: string): string | undefined {
  // What stands behind a semicolon is read as baggage's metadata.
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

/** Where each signal is sent below a base URL, as the OTLP specification says. */
const PATHS = { TRACES: "/v1/traces", METRICS: "/v1/metrics" } as const satisfies Record<
  SignalName,
  string
>;

/** Where signals are sent by default. */
const DEFAULT_BASE = "http://localhost:4318";

/**
 * Where spans are sent for a base URL: the base with `/v1/traces`, as the specification says for
 * `OTEL_EXPORTER_OTLP_ENDPOINT`; a URL that ends with this path is taken as it is.
 *
 * @throws TypeError when it is no http or https URL.
 */
export function tracesUrl(endpoint: string): string {
  return signalUrl(endpoint, "TRACES");
}

/**
 * Where metrics are sent for the same base URL: `/v1/metrics`, also beside a `/v1/traces`.
 *
 * @throws TypeError when it is no http or https URL.
 */
export function metricsUrl(endpoint: string): string {
  return signalUrl(endpoint, "METRICS");
}

/**
 * Where a signal is sent in place of an address of the environment that has another scheme than http
 * or https; such a variable is warned of. `localhost:4318` is one: "localhost:" reads as its scheme. The
 * exporters' own code takes it, and no request is ever made.
 *
 * @returns `undefined` where the exporters' own code reads the variables right.
 */
export function urlInPlaceOfEnvironments(signal: SignalName): string | undefined {
  const general = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const faulty: [variable: string, text: string][] = [];
  let base = DEFAULT_BASE;
  for (const variable of [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, general]) {
    const text = environmentText(variable);
    // What is no URL at all is warned of, and passed over, by the exporters' own code.
    if (text === undefined || !URL.canParse(text)) continue;
    if (!isHttp(new URL(text))) {
      faulty.push([variable, text]);
      continue;
    }
    if (faulty.length === 0) return undefined;
    base = text;
  }
  if (faulty.length === 0) return undefined;
  const url = base.replace(/\/$/, "") + PATHS[signal];
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

/** An address as it may be shown: without a user's name and password, also where it is no URL. */
export function shownUrl(address: string): string {
  if (!URL.canParse(address)) return withoutUser(address);
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}

/** Without what stands between the first `//` and the last `@`. */
function withoutUser(address: string): string {
  const from = address.indexOf("//") + 2;
  const to = address.lastIndexOf("@") + 1;
  return from < 2 || to < from ? address : address.slice(0, from) + address.slice(to);
}
