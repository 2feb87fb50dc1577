import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { emptyResource } from "@opentelemetry/resources";
import { withoutHeaderName } from "../export/header-name.ts";
import { type Probe, probeOf } from "./otlp-failure.ts";

/**
 * Sends a request without metrics, as the exporter would send it.
 *
 * @param url where requests go, `/v1/metrics` included.
 * @param timeoutMs how long it may take with its retries, in ms.
 */
export async function probeMetrics(url: string, timeoutMs: number): Promise<Probe> {
  const exporter = new OTLPMetricExporter({ url, timeoutMillis: timeoutMs });
  const failure = await new Promise<Error | undefined>((resolve) => {
    exporter.export({ resource: emptyResource(), scopeMetrics: [] }, ({ code, error }) => {
      resolve(code === 0 ? undefined : withoutHeaderName(error ?? new Error("export failed")));
    });
  });
  await exporter.shutdown();
  return probeOf(failure);
}
