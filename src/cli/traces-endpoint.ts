import { tracesUrl } from "../otel/setup/endpoint.ts";
import { httpUrl } from "./jaeger.ts";

/**
 * Where spans are sent: the option, else what the standard variables say, else nowhere.
 *
 * @throws CliError when it is no http(s) address.
 */
export function tracesEndpoint(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (option !== undefined) return tracesUrl(httpUrl("--endpoint", option).href);
  const traces = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (traces) return httpUrl("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces).href;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return base ? tracesUrl(httpUrl("OTEL_EXPORTER_OTLP_ENDPOINT", base).href) : undefined;
}
