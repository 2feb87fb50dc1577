import { fetchText } from "./http.ts";
import type { Stack } from "./stack.ts";

/** Spans that Jaeger has confirmed to the collector. */
export const SENT_TO_JAEGER = 'otelcol_exporter_sent_spans{exporter="otlp_grpc/jaeger"}';

/**
 * A figure that the collector has of itself: the sum over the series of that name which have all the
 * labels that are given; 0 where there is none yet.
 *
 * @param selector a name, with `_total` left out, and labels: `name{label="value"}`.
 */
export async function collectorCounter(stack: Stack, selector: string): Promise<number> {
  const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(selector) ?? [];
  const wanted = labels === "" ? [] : labels.split(",");
  let sum = 0;
  for (const line of (await fetchText(`${stack.url("collectorSelf")}/metrics`)).split("\n")) {
    const [, found = "", has = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (found !== name && found !== `${name}_total`) continue;
    if (wanted.every((label) => has.includes(label))) sum += Number(value);
  }
  return sum;
}
