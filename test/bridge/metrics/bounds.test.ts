import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { FAILURE_KIND_IDS, TOOL_ERROR_KINDS } from "../../../src/entries/events.ts";
import { RunEvents } from "../../support/run-events.ts";
import { collectMetrics, label, meteredBench } from "./meter.ts";

type Bench = ReturnType<typeof meteredBench>;

let runs = 0;

/** A failed run with a failed call, all at second 0. */
function play(bench: Bench, tenant: string, agent: string, tool: string): void {
  const run = new RunEvents(`run-${runs++}`, tenant);
  bench.at(0, run.started(agent));
  bench.at(0, run.toolError("a", { tool }));
  const kind = { type: "tool_error_terminal", kind: "auth", tool_name: tool } as const;
  bench.at(0, run.failed({ kind }));
}

describe("labels", () => {
  it("show the first tenants, agents and tools, and the rest as _other", async () => {
    const bench = meteredBench({ metrics: { tenants: 1, agents: 1, tools: 1 } });
    play(bench, "acme", "react", "search");
    play(bench, "globex", "chat", "fetch");
    play(bench, "acme", "react", "search");
    const seen = await bench.collect();
    expect(seen.nonZero("entelix.tool.failures")).toEqual({
      "entelix.tenant_id=acme,entelix.tool.error_kind=transient,gen_ai.agent.name=react,gen_ai.tool.name=search": 2,
      "entelix.tenant_id=_other,entelix.tool.error_kind=transient,gen_ai.agent.name=_other,gen_ai.tool.name=_other": 1,
    });
    expect(seen.sum("entelix.runs.active")).toBe(0);
    // The second run: opened and ended, its tool calls, its duration, its failure, and its call's two.
    expect(bench.sink.diagnostics().labelOverflow).toEqual({
      tenant: 4,
      agent: 7,
      tool: 3,
      model: 0,
    });
    expect(seen.nonZero("entelix.bridge.label_overflow")).toEqual({
      "entelix.label=tenant": 4,
      "entelix.label=agent": 7,
      "entelix.label=tool": 3,
    });
  });

  it("show those of a list alone", async () => {
    const bench = meteredBench({ metrics: { tenants: ["globex"], agents: [], tools: 0 } });
    play(bench, "acme", "react", "search");
    play(bench, "globex", "react", "search");
    const seen = await bench.collect();
    expect(seen.nonZero("entelix.tool.terminal_failures")).toEqual({
      "entelix.tenant_id=_other,entelix.tool.error_kind=auth,gen_ai.agent.name=_other,gen_ai.tool.name=_other": 1,
      "entelix.tenant_id=globex,entelix.tool.error_kind=auth,gen_ai.agent.name=_other,gen_ai.tool.name=_other": 1,
    });
  });

  it("have caps of 50 tenants, 50 agents and 100 tools unless told otherwise", async () => {
    const bench = meteredBench();
    for (let n = 0; n < 120; n++) play(bench, `t${n}`, `a${n}`, `tool${n}`);
    const seen = await bench.collect();
    const values = (metric: string, attribute: string) =>
      new Set(seen.points(metric).map(({ attributes }) => attributes[attribute])).size - 1;
    expect(values("entelix.approvals.oldest", "entelix.tenant_id")).toBe(50);
    expect(values("gen_ai.invoke_agent.duration", "gen_ai.agent.name")).toBe(50);
    expect(values("gen_ai.execute_tool.duration", "gen_ai.tool.name")).toBe(100);
  });

  it("never show a name that is too long to be one, nor a kind that is not known", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r", "t".repeat(129));
    bench.at(0, run.started("a".repeat(128)));
    bench.at(0, Object.assign(run.toolError("a"), { kind: "of a newer agent" }));
    bench.at(0, Object.assign(run.failed(), { kind: { type: "of a newer agent" } }));
    const seen = await bench.collect();
    const failed = seen.points("entelix.runs").filter(({ value }) => value > 0);
    expect(failed.map(({ attributes }) => attributes)).toEqual([
      {
        "entelix.run.outcome": "failed",
        "entelix.failure.kind": "_OTHER",
        "entelix.failure.origin": "run",
        "gen_ai.agent.name": "a".repeat(128),
        "entelix.tenant_id": "_other",
        "entelix.root": true,
      },
    ]);
    expect(seen.sum("entelix.tool.failures", { "entelix.tool.error_kind": "_OTHER" })).toBe(1);
    expect(seen.sum("gen_ai.execute_tool.duration", { "error.type": "_OTHER" })).toBe(1);
    // The tenant's name, on the two sums of its runs and the one of its failures.
    expect(bench.sink.diagnostics().labelOverflow).toEqual({
      tenant: 3,
      agent: 0,
      tool: 0,
      model: 0,
    });
  });

  it("refuse caps that are none, by their names", () => {
    const sink = (metrics: object) => () => new Bridge({ metrics });
    expect(sink({ tenants: -1 })).toThrow(
      new RangeError("metrics.tenants: expected a whole number from 0, got -1"),
    );
    expect(sink({ tools: 1901 })).toThrow(
      new RangeError("metrics.tools: expected at most 1900, got 1901"),
    );
    expect(sink({ agents: ["a", 1] })).toThrow(
      new TypeError("metrics.agents: expected a list of names, got a number in it"),
    );
  });
});

/** Twice as many names as the widest caps and the SDK show. */
const NAMES = 4_000;

describe("an attack with 4,000 names of each kind", () => {
  const failures = FAILURE_KIND_IDS.filter((id) => id !== "tool_error_terminal");
  const count = 5_040;

  /** Every name is new for long, in other company each time it comes again. */
  function attack(bench: Bench): void {
    for (let n = 0; n < count; n++) {
      const run = new RunEvents(`run-${n}`, `t${(n * 7) % NAMES}`);
      const tool = `tool${(n * 13) % NAMES}`;
      bench.at(0, run.started(`a${(n * 3) % NAMES}`));
      bench.at(0, run.toolError("a", { tool, kind: TOOL_ERROR_KINDS[n % 7] ?? "internal" }));
      const child = new RunEvents(`child-${n}`, run.tenant_id);
      bench.at(0, child.started(`b${n % NAMES}`, run.run_id));
      bench.at(0, child.complete());
      bench.at(0, run.failed({ kind: { type: failures[n % 6] ?? "internal" } }));
    }
  }

  it.each([
    ["the default caps", {}],
    ["the widest caps", { tenants: 1900, agents: 1900, tools: 1900 }],
  ])("never reaches the SDK's limit with %s, and loses no count", async (_, metrics) => {
    const unsampled = { sampler: new AlwaysOffSampler() };
    const bench = meteredBench({ metrics, limits: { closedRuns: 1000 } }, unsampled);
    attack(bench);
    const seen = await bench.collect();
    const sizes = Object.fromEntries(seen.names.map((name) => [name, seen.points(name).length]));
    expect(Math.max(...Object.values(sizes))).toBeLessThanOrEqual(1900);
    for (const name of seen.names) {
      for (const { attributes } of seen.points(name)) {
        expect(Object.keys(attributes)).not.toContain("otel.metric.overflow");
      }
    }
    expect(seen.sum("gen_ai.execute_tool.duration")).toBe(count);
    expect(seen.sum("gen_ai.invoke_agent.duration")).toBe(2 * count);
    expect(seen.sum("gen_ai.invoke_agent.tool_calls")).toBe(2 * count);
    // Every run is closed, and was counted down where it was counted up.
    expect(seen.points("entelix.runs.active").filter(({ value }) => value !== 0)).toEqual([]);
    // What alerts go by stays exact, whatever else is given up.
    for (const kind of failures) {
      const failed = { "entelix.failure.kind": kind, "entelix.root": true };
      expect(seen.sum("entelix.runs", failed)).toBe(count / 6);
    }
    expect(seen.sum("entelix.runs", { "entelix.root": false })).toBe(count);
    for (const kind of TOOL_ERROR_KINDS) {
      expect(seen.sum("entelix.tool.failures", { "entelix.tool.error_kind": kind })).toBe(
        count / 7,
      );
    }
  });
});

describe("two sinks on one meter provider", () => {
  it("share the sums and the bounds, and show their own counts together", async () => {
    const meter = collectMetrics();
    const sinks = [{ tenants: ["acme"] }, { tenants: ["globex"] }].map(
      (metrics) => new Bridge({ meterProvider: meter.provider, metrics }),
    );
    for (const [n, sink] of sinks.entries()) {
      for (const tenant of ["acme", "globex"]) {
        const run = new RunEvents(`run-${n}-${tenant}`, tenant);
        sink.send(run.started());
        sink.send(run.complete());
      }
    }
    let seen = await meter.collect();
    const complete = { "entelix.run.outcome": "complete" };
    const of = (tenant: string) =>
      seen.sum("entelix.runs", { ...complete, "entelix.tenant_id": tenant });
    expect([of("acme"), of("globex"), of("_other")]).toEqual([1, 1, 2]);
    expect(seen.points("entelix.bridge.events").map(({ value }) => value)).toEqual([8]);
    // Sums must not move when nothing happens: each is observed once, whoever counted.
    seen = await meter.collect();
    expect([of("acme"), of("globex"), of("_other")]).toEqual([1, 1, 2]);
    expect(seen.points("entelix.bridge.events").map(({ value }) => value)).toEqual([8]);
  });

  it("keep what one of them counted when it has been shut down", async () => {
    const meter = collectMetrics();
    const [first, second] = [0, 1].map(() => new Bridge({ meterProvider: meter.provider }));
    void first?.send(new RunEvents("a").started());
    void second?.send(new RunEvents("b").started());
    let seen = await meter.collect();
    expect(seen.sum("entelix.bridge.open_runs")).toBe(2);
    await first?.shutdown();
    void first?.send(new RunEvents("c").started());
    seen = await meter.collect();
    expect(seen.sum("entelix.bridge.open_runs")).toBe(1);
    expect(seen.sum("entelix.bridge.events")).toBe(3);
    expect(seen.sum("entelix.bridge.ignored", { "entelix.reason": "after_shutdown" })).toBe(1);
    expect(seen.sum("entelix.runs", { "entelix.run.outcome": "abandoned" })).toBe(1);
    const active = seen.points("entelix.runs.active").map((point) => label(point.attributes));
    expect(active).toHaveLength(1);
    await second?.shutdown();
  });
});
