import { trimmedEnd } from "../../events/door.ts";
import { environmentText, warnOfVariable } from "./environment-variables.ts";
import type { SignalName } from "./exporter-choice.ts";

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
