/** Where each signal is sent below a base URL, as the OTLP specification says. */
const PATHS = { traces: "/v1/traces", metrics: "/v1/metrics" } as const;

type Signal = keyof typeof PATHS;

/**
 * Where spans are sent for a base URL: the base with `/v1/traces`, as the specification says for
 * `OTEL_EXPORTER_OTLP_ENDPOINT`; a URL that ends with this path is taken as it is.
 *
 * @throws TypeError when it is no http or https URL.
 */
export function tracesUrl(endpoint: string): string {
  return signalUrl(endpoint, "traces");
}

/**
 * Where metrics are sent for the same base URL: `/v1/metrics`, also beside a `/v1/traces`.
 *
 * @throws TypeError when it is no http or https URL.
 */
export function metricsUrl(endpoint: string): string {
  return signalUrl(endpoint, "metrics");
}

function signalUrl(endpoint: string, signal: Signal): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new TypeError(`endpoint: expected an http or https URL, got "${endpoint}"`);
  }
  url.pathname = baseOf(url.pathname.replace(/\/+$/, "")) + PATHS[signal];
  return url.href;
}

/** The path without that of a signal. */
function baseOf(path: string): string {
  const signal = Object.values(PATHS).find((known) => path.endsWith(known));
  return signal === undefined ? path : path.slice(0, -signal.length);
}
