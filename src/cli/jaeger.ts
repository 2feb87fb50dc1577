import { CliError } from "./cli-error.ts";
import { safe } from "./terminal/safe-text.ts";

/** Where Jaeger's pages are unless `--jaeger` says otherwise. */
export const DEFAULT_JAEGER = "http://127.0.0.1:16686";

/**
 * The address of a trace in Jaeger.
 *
 * @param base where Jaeger's pages are; a path is kept, for a Jaeger behind a proxy.
 * @throws CliError when `base` is no http(s) address.
 */
export function jaegerTrace(base: string, traceId: string): string {
  const url = httpUrl("--jaeger", base, DEFAULT_JAEGER);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/trace/${traceId}`;
  return url.href;
}

/**
 * Reads an address that an option gave.
 *
 * @param example what such an address is like. Default: that of a receiver.
 * @throws CliError when it is no http(s) address.
 */
export function httpUrl(option: string, text: string, example = "http://127.0.0.1:4318"): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new CliError(`${option}: expected an address such as ${example}, got "${safe(text)}"`);
}
