import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type ReadableSpan,
  type Sampler,
} from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { chaos, type Sent } from "../../properties/chaos.ts";
import { isRunSpan, watchSpans } from "../../properties/watch.ts";
import { runs } from "../../support/runs.ts";
import { collectMetrics, label } from "./meter.ts";

const limits = fc.record({
  openRuns: fc.integer({ min: 1, max: 6 }),
  openCalls: fc.integer({ min: 1, max: 3 }),
  closedRuns: fc.integer({ min: 1, max: 3 }),
});

interface Limits {
  readonly openRuns: number;
  readonly openCalls: number;
  readonly closedRuns: number;
}

/** All series that are not 0 after the stream and the shutdown, and the spans. */
async function play(stream: readonly Sent[], some: Limits, sampler: Sampler) {
  const meter = collectMetrics();
  const watch = watchSpans({ sampler });
  const reports: string[] = [];
  const sink = new Bridge({
    tracerProvider: watch.provider,
    meterProvider: meter.provider,
    onError: (error, where) => void reports.push(`${where}: ${String(error)}`),
    limits: { markerAfterMs: 0, ...some },
  });
  for (const { envelope, event } of stream) void sink.send(event, envelope);
  await sink.shutdown();
  const seen = await meter.collect();
  return { seen, spans: watch.ended, reports, diagnostics: sink.diagnostics() };
}

/** How many spans there are of each set of these attributes, named as on the metric. */
function tally(
  spans: readonly Pick<ReadableSpan, "attributes">[],
  names: readonly (readonly [on: string, off: string])[],
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { attributes } of spans) {
    const known = names.flatMap(([to, from]) => {
      const value = attributes[from] ?? (to === "gen_ai.agent.name" ? "unknown" : undefined);
      return value === undefined ? [] : [[to, value] as const];
    });
    const at = label(Object.fromEntries(known));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

const same = (name: string) => [name, name] as const;
const AGENT = same("gen_ai.agent.name");
const TENANT = same("entelix.tenant_id");
const TOOL = same("gen_ai.tool.name");

describe("whatever is sent", () => {
  it("metrics and spans, where all are sampled, say the same", async () => {
    await fc.assert(
      fc.asyncProperty(chaos(), limits, async (stream, some) => {
        const { reports, seen, spans } = await play(stream, some, new AlwaysOnSampler());
        const runs = spans.filter(isRunSpan);
        const calls = spans.filter((span) => !isRunSpan(span));
        const kind = same("entelix.failure.kind");
        const byRun = [same("entelix.run.outcome"), kind, AGENT, TENANT];
        const counted: Record<string, number> = {};
        for (const { attributes, value } of seen.points("entelix.runs")) {
          // A span has an origin only where its sender says it.
          const { "entelix.root": _, "entelix.failure.origin": origin, ...rest } = attributes;
          expect(origin !== undefined).toBe(attributes["entelix.run.outcome"] === "failed");
          if (value > 0) counted[label(rest)] = (counted[label(rest)] ?? 0) + value;
        }
        expect(counted).toEqual(tally(runs, byRun));
        const degraded = runs.flatMap(({ attributes }) => {
          const tools = attributes["entelix.run.degraded"];
          return (Array.isArray(tools) ? tools : []).map((tool) => ({
            attributes: { ...attributes, "gen_ai.tool.name": String(tool) },
          }));
        });
        expect(seen.nonZero("entelix.runs.degraded")).toEqual(
          tally(degraded, [TOOL, AGENT, TENANT]),
        );
        const cancelled = calls.filter(
          (span) => span.attributes["entelix.tool.outcome"] === "cancelled",
        );
        expect(seen.nonZero("entelix.tool.cancelled")).toEqual(
          tally(cancelled, [TOOL, AGENT, TENANT]),
        );
        const failed = calls.filter((span) => span.attributes["entelix.tool.outcome"] === "error");
        expect(seen.nonZero("entelix.tool.failures")).toEqual(
          tally(failed, [TOOL, same("entelix.tool.error_kind"), AGENT, TENANT]),
        );
        const told = new Set<unknown>(["complete", "error", "interrupted", "cancelled"]);
        const ended = calls.filter((span) => told.has(span.attributes["entelix.tool.outcome"]));
        const type = same("gen_ai.tool.type");
        expect(seen.nonZero("gen_ai.execute_tool.duration")).toEqual(
          tally(ended, [TOOL, type, AGENT, same("error.type")]),
        );
        expect(seen.nonZero("entelix.runs.active")).toEqual({});
        expect(seen.sum("entelix.bridge.open_runs")).toBe(0);
        expect(reports).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });

  it("metrics are the same when nothing is sampled", async () => {
    await fc.assert(
      fc.asyncProperty(chaos(), limits, async (stream, some) => {
        const on = await play(stream, some, new AlwaysOnSampler());
        const off = await play(stream, some, new AlwaysOffSampler());
        const all = ({ seen }: typeof on) =>
          Object.fromEntries(seen.names.map((name) => [name, valuesOf(seen, name)]));
        expect(all(off)).toEqual(all(on));
        expect(off.spans).toEqual([]);
        expect(on.seen.sum("entelix.bridge.events")).toBe(stream.length);
        expect(on.diagnostics.metricFailures).toBe(0);
      }),
      { numRuns: runs(100) },
    );
  });
});

/** Each series with its number. */
function valuesOf(seen: Awaited<ReturnType<typeof play>>["seen"], name: string) {
  return seen.points(name).map(({ attributes, value }) => [label(attributes), value]);
}
