import { metricsUrl, shownUrl, tracesUrl } from "../bridge/door.ts";
import { trimmedEnd } from "../events/door.ts";
import { CliError } from "./cli-error.ts";
import { safe } from "./terminal/text.ts";

/** Default URL of Jaeger's UI. */
export const DEFAULT_JAEGER = "http://127.0.0.1:16686";

/**
 * The URL of a trace in Jaeger.
 *
 * @param base URL of Jaeger's UI, may have a path.
 * @throws CliError if `base` is not an http(s) URL.
 */
export function jaegerTrace(base: string, traceId: string): string {
  const url = httpUrl("--jaeger", base, DEFAULT_JAEGER);
  url.pathname = `${trimmedEnd(url.pathname, "/")}/trace/${traceId}`;
  return url.href;
}

/**
 * Parses the URL of an option.
 *
 * @param example for the error text. Default: the URL of a local receiver.
 * @throws CliError if `text` is not an http(s) URL.
 */
export function httpUrl(option: string, text: string, example = "http://127.0.0.1:4318"): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new CliError(
    `${option}: expected an address such as ${example}, got "${safe(shownUrl(text))}"`,
  );
}

/** Port of a collector for live spans by OTLP/HTTP. They are counted and may raise alerts. */
export const LIVE_PORT = "4318";

/** Port of the shipped collector for replays by OTLP/HTTP, which bypass metrics. */
export const REPLAY_PORT = "4319";

type Env = Readonly<Record<string, string | undefined>>;

export type Signal = "traces" | "metrics";

const WITH_PATH = { traces: tracesUrl, metrics: metricsUrl } as const;

/**
 * The URL for a signal by OTLP/HTTP: from `--endpoint`, else from the standard variables, else `undefined`.
 *
 * @throws CliError if it is not an http(s) URL.
 */
export function signalEndpoint(
  signal: Signal,
  option: string | undefined,
  env: Env,
): string | undefined {
  if (option !== undefined) return WITH_PATH[signal](httpUrl("--endpoint", option).href);
  const variable = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`;
  const own = env[variable];
  if (own) return httpUrl(variable, own).href;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!base) return undefined;
  return WITH_PATH[signal](httpUrl("OTEL_EXPORTER_OTLP_ENDPOINT", base).href);
}

/** The variable that disables OTLP for a signal, as `NAME=value`; `undefined` if none does. */
export function switchedOff(signal: Signal, env: Env): string | undefined {
  const disabled = env.OTEL_SDK_DISABLED?.trim();
  if (disabled?.toLowerCase() === "true") return `OTEL_SDK_DISABLED=${disabled}`;
  const variable = `OTEL_${signal.toUpperCase()}_EXPORTER`;
  const value = env[variable]?.trim() ?? "";
  return withoutOtlp(value) ? `${variable}=${value}` : undefined;
}

/** Whether a value of `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` disables OTLP. */
export function withoutOtlp(value: string): boolean {
  const names = exporterNames(value);
  return names.includes("none") || (names.includes("console") && !names.includes("otlp"));
}

/** The exporters that such a value names, in lower case. */
export function exporterNames(value: string): string[] {
  return value.split(",").map((name) => name.trim().toLowerCase());
}

/** Whether a URL leads to this machine. */
export function isLocal(address: string): boolean {
  const { hostname } = new URL(address);
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The warning for a replay to the port of live spans. */
export function liveEndpointWarning(endpoint: string | undefined): string | undefined {
  if (endpoint === undefined || new URL(endpoint).port !== LIVE_PORT) return undefined;
  return `--endpoint: port ${LIVE_PORT} is for live spans: a collector counts these spans again and may raise alerts. Send replays to port ${REPLAY_PORT}`;
}
