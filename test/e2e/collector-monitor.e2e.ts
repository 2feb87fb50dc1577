import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fetchJson } from "./support/http.ts";
import { field, list, text } from "./support/json-shape.ts";
import { otlpPostUntilTaken } from "./support/otlp-post.ts";
import { rawRun, requestOf, spansOf } from "./support/raw-runs.ts";
import { Stack } from "./support/stack.ts";
import { untilHolds } from "./support/until.ts";

/** The figures of Jaeger's Monitor tab, by operation; those that are no numbers left out. */
async function monitored(stack: Stack, query: string): Promise<Map<string, number[]>> {
  const answer = await fetchJson(
    `${stack.url("jaegerQuery")}/api/metrics/${query}&service=e2e-raw&groupByOperation=true` +
      "&spanKind=internal&lookback=60000&step=1000&ratePer=10000",
  );
  const series = list(answer, "metrics").map((metric): [string, number[]] => {
    const operation = list(metric, "labels").find((label) => text(label, "name") === "operation");
    const values = list(metric, "metricPoints")
      .map((point) => Number(field(field(point, "gaugeValue"), "doubleValue")))
      .filter(Number.isFinite);
    return [operation === undefined ? "" : text(operation, "value"), values];
  });
  return new Map(series);
}

describe("Jaeger's Monitor tab", () => {
  it("has calls, errors and latencies by operation, from the collector's span metrics", async () => {
    await using stack = await Stack.start({ servers: ["jaeger", "collector", "prometheus"] });
    for (let second = 0; second < 8; second++) {
      const runs = [rawRun("complete"), rawRun("failed")];
      await otlpPostUntilTaken(stack.endpoint, requestOf(runs.flatMap(spansOf)));
      await sleep(1_000);
    }
    const OPERATIONS = ["execute_tool", "invoke_agent"];
    await untilHolds("the figures are there", async () => {
      const calls = await monitored(stack, "calls?");
      expect([...calls.keys()].sort()).toEqual(OPERATIONS);
      // Two runs a second with three tool calls each; a rate over 10 s may see less of them.
      expect(Math.max(...(calls.get("execute_tool") ?? []))).toBeGreaterThan(1);
      const errors = await monitored(stack, "errors?");
      expect(Math.max(...(errors.get("invoke_agent") ?? []))).toBeCloseTo(0.5, 1);
      const latencies = await monitored(stack, "latencies?quantile=0.95");
      // A run takes a second; Jaeger shows milliseconds.
      const [latency = 0] = latencies.get("invoke_agent")?.slice(-1) ?? [];
      expect(latency).toBeGreaterThan(500);
      expect(latency).toBeLessThan(2_500);
    });
  });
});
