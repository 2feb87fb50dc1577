import { fetchText } from "./http.ts";
import type { Stack } from "./stack.ts";

/** How many spans the collector's span metrics have counted, over the series that have all these labels. */
export async function countedSpans(
  stack: Stack,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  const text = await fetchText(`${stack.url("collectorMetrics")}/metrics`);
  return text
    .split("\n")
    .filter((line) => line.startsWith("entelix_spans_calls_total{"))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(/ (\d+)/.exec(line.slice(line.lastIndexOf("}")))?.[1]), 0);
}
