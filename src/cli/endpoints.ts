import { metricsUrl, tracesUrl } from "../bridge/door.ts";
import { trimmedEnd } from "../events/door.ts";
import { CliError } from "./cli-error.ts";
import { safe } from "./terminal/text.ts";

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
  url.pathname = `${trimmedEnd(url.pathname, "/")}/trace/${traceId}`;
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

/** Where a collector takes OTLP/HTTP, live: spans are counted, and alerts rest on that. */
export const LIVE_PORT = "4318";

/** Where the shipped collector takes replays by OTLP/HTTP, past its metrics. */
export const REPLAY_PORT = "4319";

type Env = Readonly<Record<string, string | undefined>>;

export type Signal = "traces" | "metrics";

const BELOW = { traces: tracesUrl, metrics: metricsUrl } as const;

/**
 * Where a signal is sent by OTLP/HTTP: as the option says, else the standard variables, else nowhere.
 *
 * @throws CliError when it is no http(s) address.
 */
export function signalEndpoint(
  signal: Signal,
  option: string | undefined,
  env: Env,
): string | undefined {
  if (option !== undefined) return BELOW[signal](httpUrl("--endpoint", option).href);
  const variable = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`;
  const own = env[variable];
  if (own) return httpUrl(variable, own).href;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!base) return undefined;
  // Exporters append the path here whatever the address ends with.
  const url = httpUrl("OTEL_EXPORTER_OTLP_ENDPOINT", base);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/${signal}`;
  return url.href;
}

/** The variable that keeps a signal from being sent by OTLP, with its value, where one does. */
export function switchedOff(signal: Signal, env: Env): string | undefined {
  const disabled = env.OTEL_SDK_DISABLED?.trim();
  if (disabled?.toLowerCase() === "true") return `OTEL_SDK_DISABLED=${disabled}`;
  const variable = `OTEL_${signal.toUpperCase()}_EXPORTER`;
  const value = env[variable]?.trim() ?? "";
  return withoutOtlp(value) ? `${variable}=${value}` : undefined;
}

/** Whether a value of `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` has nothing sent by OTLP. */
export function withoutOtlp(value: string): boolean {
  const names = exporterNames(value);
  return names.includes("none") || (names.includes("console") && !names.includes("otlp"));
}

/** The exporters that such a value names, in lower case. */
export function exporterNames(value: string): string[] {
  return value.split(",").map((name) => name.trim().toLowerCase());
}

/** Whether an address leads to this machine. */
export function isLocal(address: string): boolean {
  const { hostname } = new URL(address);
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** What to say of an endpoint at which a collector counts spans, of whatever time they are. */
export function liveEndpointWarning(endpoint: string | undefined): string | undefined {
  if (endpoint === undefined || new URL(endpoint).port !== LIVE_PORT) return undefined;
  return `--endpoint: port ${LIVE_PORT} is for what is live: a collector counts these spans again, and alerts may be raised; replays belong to port ${REPLAY_PORT}`;
}
