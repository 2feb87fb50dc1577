const TRACES_PATH = "/v1/traces";

/**
 * Where spans are sent for a base URL: the base with `/v1/traces`, as the specification says for
 * `OTEL_EXPORTER_OTLP_ENDPOINT`; a URL that ends with this path is taken as it is.
 *
 * @throws TypeError when it is no http or https URL.
 */
export function tracesUrl(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new TypeError(`endpoint: expected an http or https URL, got "${endpoint}"`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith(TRACES_PATH) ? path : path + TRACES_PATH;
  return url.href;
}
