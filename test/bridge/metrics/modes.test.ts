import { createNoopMeter, type Meter, type MeterProvider, metrics } from "@opentelemetry/api";
import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { afterEach, describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { RunEvents } from "../../support/run-events.ts";
import { collectMetrics, label, meteredBench } from "./meter.ts";

const ROOT = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";

afterEach(() => metrics.disable());

/** A run with a child, calls that end in every way, repeats without event ids, a late end. */
function play(send: (time: number, event: AgentEvent) => void): void {
  const [root, child] = [new RunEvents(ROOT), new RunEvents(CHILD)];
  send(0, root.started("coordinator"));
  send(1, root.toolStart("a"));
  send(2, child.started("team", ROOT));
  send(3, child.toolStart("a", "search"));
  send(4, child.toolComplete("a", "search", 120));
  send(4, child.toolComplete("a", "search", 120));
  send(5, child.toolStart("b", "search"));
  send(6, child.toolError("b", { tool: "search", kind: "quota" }));
  send(7, child.complete());
  send(8, root.toolComplete("a"));
  send(9, root.denied("c"));
  send(10, root.failed({ kind: { type: "deadline_exceeded" } }));
  send(11, root.toolComplete("late", "fetch", 500));
}

/** All series that are not 0, of what is counted from events. */
async function countsOf(meter: Pick<ReturnType<typeof collectMetrics>, "collect">) {
  const seen = await meter.collect();
  const names = seen.names.filter((name) => !name.startsWith("entelix.bridge."));
  return Object.fromEntries(
    names.map((name) => [
      name,
      seen
        .points(name)
        .filter(({ value }) => value !== 0)
        .map(({ attributes, histogram, value }) => [label(attributes), value, histogram?.sum]),
    ]),
  );
}

describe("a run that is not sampled", () => {
  it("is counted as exactly as one that is", async () => {
    const sampled = meteredBench();
    const unsampled = meteredBench({}, { sampler: new AlwaysOffSampler() });
    play(sampled.at);
    play(unsampled.at);
    expect(unsampled.spans()).toEqual([]);
    expect(sampled.spans().length).toBeGreaterThan(5);
    const counts = await countsOf(sampled);
    expect(await countsOf(unsampled)).toEqual(counts);
    expect(counts["gen_ai.execute_tool.duration"]).toEqual([
      ["gen_ai.agent.name=team,gen_ai.tool.name=search,gen_ai.tool.type=function", 1, 0.12],
      [
        "error.type=quota,gen_ai.agent.name=team,gen_ai.tool.name=search,gen_ai.tool.type=function",
        1,
        1,
      ],
      ["gen_ai.agent.name=coordinator,gen_ai.tool.name=fetch,gen_ai.tool.type=function", 2, 1.5],
    ]);
  });
});

describe("a replay", () => {
  it("records nothing", async () => {
    const bench = meteredBench({ mode: "replay" });
    play(bench.at);
    await bench.sink.shutdown();
    expect((await bench.collect()).names).toEqual([]);
    expect(bench.spans().length).toBeGreaterThan(5);
  });
});

describe("metrics: false", () => {
  it("records nothing", async () => {
    const bench = meteredBench({ metrics: false });
    play(bench.at);
    expect((await bench.collect()).names).toEqual([]);
  });
});

describe("a bridge with an audit side", () => {
  it("counts the same, and the rows that could not be stored", async () => {
    const plain = meteredBench();
    play(plain.at);
    const meter = collectMetrics();
    const bridge = new Bridge({ meterProvider: meter.provider, audit: new MemorySessionLog() });
    play((time, event) => void bridge.send(event, { timestamp: [1_777_464_000 + time, 0] }));
    expect(await countsOf(meter)).toEqual(await countsOf(plain));
    await bridge.shutdown();

    const full = collectMetrics();
    const log = Object.assign(new MemorySessionLog(), {
      append: () => Promise.reject(new Error("disk full")),
    });
    const failing = new Bridge({ meterProvider: full.provider, audit: log, onError: () => {} });
    const run = new RunEvents(ROOT);
    await failing.send(run.started());
    await failing.send(run.toolStart("a"));
    await failing.send(run.failed());
    await failing.shutdown();
    const seen = await full.collect();
    const failures = failing.diagnostics().auditFailures;
    expect(failures).toBeGreaterThan(0);
    expect(seen.sum("entelix.audit.append_failures")).toBe(failures);
  });
});

describe("the global meter provider", () => {
  it("is taken when it is registered between the sink's making and its first event", async () => {
    const sink = new Bridge();
    const meter = collectMetrics();
    metrics.setGlobalMeterProvider(meter.provider);
    void sink.send(new RunEvents(ROOT).started());
    expect((await meter.collect()).sum("entelix.runs.active")).toBe(1);
  });

  it("is not looked for again: metrics that begin in the middle would count ends alone", async () => {
    const sink = new Bridge();
    void sink.send(new RunEvents(ROOT).started());
    const meter = collectMetrics();
    metrics.setGlobalMeterProvider(meter.provider);
    void sink.send(new RunEvents(ROOT).complete());
    expect((await meter.collect()).names).toEqual([]);
  });

  it("is left alone by a sink that was given another one", async () => {
    const [own, global] = [collectMetrics(), collectMetrics()];
    metrics.setGlobalMeterProvider(global.provider);
    void new Bridge({ meterProvider: own.provider }).send(new RunEvents(ROOT).started());
    expect((await global.collect()).names).toEqual([]);
    expect((await own.collect()).sum("entelix.runs.active")).toBe(1);
  });
});

describe("a meter that throws", () => {
  it("when instruments are made turns metrics off, is counted and reported once a try", async () => {
    const reports: string[] = [];
    const provider: MeterProvider = {
      getMeter: () => {
        throw new Error("no meter");
      },
    };
    const bench = meteredBench({
      meterProvider: provider,
      onError: (error, where) => void reports.push(`${where}: ${String(error)}`),
    });
    play(bench.at);
    expect(bench.spans().length).toBeGreaterThan(5);
    expect(reports).toEqual(["metrics: Error: no meter", "metrics: Error: no meter"]);
    expect(bench.sink.diagnostics().metricFailures).toBe(2);
  });

  it("when it records never reaches the agent, and the rest is counted", async () => {
    const meter = collectMetrics();
    const broken = () => {
      throw new Error("broken instrument");
    };
    const own = meter.provider.getMeter("own");
    const throwing: Meter = Object.assign(Object.create(own), {
      createHistogram: () => ({ record: broken }),
    });
    const bench = meteredBench({ meterProvider: { getMeter: () => throwing } });
    play(bench.at);
    const seen = await meter.collect();
    expect(seen.sum("entelix.runs")).toBe(2);
    expect(seen.sum("entelix.tool.failures")).toBe(1);
    // Two runs with two figures each, and four calls.
    expect(bench.sink.diagnostics().metricFailures).toBe(8);
    expect(new Set(bench.reports)).toEqual(new Set(["metrics: Error: broken instrument"]));
    const ends = bench.spans().map(({ name }) => name);
    expect(ends).toHaveLength(7);
  });
});

describe("figures that are none", () => {
  it("are not added, counted and named, and the others are", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    const usage = {
      requests: 1,
      input_tokens: -5,
      output_tokens: 7,
      tool_calls: 0,
      cost_usd: "1,50",
    };
    bench.at(0, run.started());
    bench.at(1, run.toolComplete("a", "fetch", Number.POSITIVE_INFINITY));
    bench.at(2, run.complete({ usage }));
    const seen = await bench.collect();
    expect(seen.sum("entelix.tokens")).toBe(7);
    expect(seen.sum("entelix.cost")).toBe(0);
    expect(seen.sum("entelix.runs")).toBe(1);
    expect(seen.points("gen_ai.execute_tool.duration")).toEqual([]);
    expect(bench.sink.diagnostics().metricFailures).toBe(3);
    expect(bench.reports).toEqual([
      "metrics: RangeError: duration_ms: expected a figure from 0 to 2^53, got Infinity",
      "metrics: RangeError: usage.input_tokens: expected a figure from 0 to 2^53, got -5",
      'metrics: RangeError: usage.cost_usd: expected a figure from 0 to 2^53, got "1,50"',
    ]);
  });

  it("end their spans even where reading them throws", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    const hostile = new Proxy(
      { requests: 1, input_tokens: 1, output_tokens: 1, tool_calls: 0, cost_usd: "0" },
      {
        get: () => {
          throw new Error("hostile");
        },
      },
    );
    bench.at(0, run.started());
    bench.at(1, run.complete({ usage: hostile }));
    const seen = await bench.collect();
    expect(seen.sum("entelix.runs")).toBe(1);
    expect(bench.spans()).toHaveLength(1);
    expect(bench.sink.diagnostics().metricFailures).toBe(1);
  });
});

describe("the API's meter that measures nothing", () => {
  it("counts as no provider, also when it is given", () => {
    const provider: MeterProvider = { getMeter: () => createNoopMeter() };
    const sink = new Bridge({ meterProvider: provider });
    void sink.send(new RunEvents(ROOT).started());
    expect(sink.diagnostics()).toMatchObject({ metricFailures: 0, openRuns: 1 });
  });
});
