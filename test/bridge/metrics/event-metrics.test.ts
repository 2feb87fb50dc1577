import { describe, expect, it } from "vitest";
import { RunEvents } from "../../support/run-events.ts";
import { meteredBench } from "./meter.ts";

const ROOT = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const GRANDCHILD = "018f3c7a-0000-7000-8000-000000000003";

const usage = {
  requests: 2,
  input_tokens: 1200,
  output_tokens: 300n,
  tool_calls: 1,
  cost_usd: "0.30",
};

describe("a run", () => {
  it("is active while it is open, then counted with its end", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    bench.at(0, run.started());
    let seen = await bench.collect();
    expect(seen.points("entelix.runs.active")).toEqual([
      {
        attributes: { "gen_ai.agent.name": "react", "entelix.tenant_id": "acme" },
        value: 1,
        histogram: undefined,
      },
    ]);
    bench.at(2.5, run.complete({ usage }));
    seen = await bench.collect();
    expect(seen.sum("entelix.runs.active")).toBe(0);
    expect(seen.nonZero("entelix.runs")).toEqual({
      "entelix.root=true,entelix.run.outcome=complete,entelix.tenant_id=acme,gen_ai.agent.name=react": 1,
    });
    const duration = seen.point("gen_ai.invoke_agent.duration", { "gen_ai.agent.name": "react" });
    expect(duration?.histogram).toMatchObject({ count: 1, sum: 2.5 });
    expect(seen.nonZero("entelix.tokens")).toEqual({
      "entelix.tenant_id=acme,gen_ai.agent.name=react,gen_ai.token.type=input": 1200,
      "entelix.tenant_id=acme,gen_ai.agent.name=react,gen_ai.token.type=output": 300,
    });
    expect(seen.nonZero("entelix.cost")).toEqual({
      "entelix.tenant_id=acme,gen_ai.agent.name=react": 0.3,
    });
    expect(bench.reports).toEqual([]);
  });

  it("has the buckets of the conventions", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    bench.at(0, run.started());
    bench.at(1, run.toolStart("a"));
    bench.at(2, run.toolComplete("a", "fetch", 15));
    bench.at(3, run.complete());
    const seen = await bench.collect();
    const bounds = (name: string) => seen.points(name)[0]?.histogram?.buckets.boundaries;
    expect(bounds("gen_ai.invoke_agent.duration")).toEqual([
      0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6,
    ]);
    expect(bounds("gen_ai.execute_tool.duration")).toEqual([
      0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ]);
    expect(bounds("gen_ai.invoke_agent.tool_calls")).toEqual([1, 2, 4, 8, 16, 32, 64, 128]);
    // 3 s is above the fifth bound and not above the sixth.
    const counts = seen.points("gen_ai.invoke_agent.duration")[0]?.histogram?.buckets.counts;
    expect(counts).toEqual([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  it("that failed has its failure kind, on the duration as error.type", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    bench.at(0, run.started());
    bench.at(1, run.failed({ kind: { type: "model_dispatch" } }));
    const seen = await bench.collect();
    expect(seen.nonZero("entelix.runs")).toEqual({
      "entelix.failure.kind=model_dispatch,entelix.failure.origin=model,entelix.root=true,entelix.run.outcome=failed,entelix.tenant_id=acme,gen_ai.agent.name=react": 1,
    });
    expect(seen.nonZero("gen_ai.invoke_agent.duration")).toEqual({
      "error.type=model_dispatch,gen_ai.agent.name=react": 1,
    });
  });

  it("of a benign failure kind failed, without error.type", async () => {
    const bench = meteredBench({ benignFailureKinds: ["cancelled"] });
    const run = new RunEvents(ROOT);
    bench.at(0, run.started());
    bench.at(1, run.failed({ kind: { type: "cancelled" } }));
    const seen = await bench.collect();
    expect(seen.sum("entelix.runs", { "entelix.failure.kind": "cancelled" })).toBe(1);
    expect(seen.nonZero("gen_ai.invoke_agent.duration")).toEqual({ "gen_ai.agent.name=react": 1 });
  });

  it("whose start was never seen is counted, but how long it took is not known", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    bench.at(1, run.toolComplete("a"));
    let seen = await bench.collect();
    expect(seen.nonZero("entelix.runs.active")).toEqual({
      "entelix.tenant_id=acme,gen_ai.agent.name=unknown": 1,
    });
    bench.at(2, run.started("react"));
    seen = await bench.collect();
    expect(seen.nonZero("entelix.runs.active")).toEqual({
      "entelix.tenant_id=acme,gen_ai.agent.name=react": 1,
    });
    bench.at(3, run.complete());
    seen = await bench.collect();
    expect(seen.sum("entelix.runs.active")).toBe(0);
    expect(seen.sum("entelix.runs", { "gen_ai.agent.name": "react" })).toBe(1);
    expect(seen.points("gen_ai.invoke_agent.duration")).toEqual([]);
  });

  it("that was given up counts as abandoned, and what ends it after all counts too", async () => {
    const bench = meteredBench({ limits: { openRuns: 1 } });
    const run = new RunEvents(ROOT);
    bench.at(0, run.started());
    bench.at(1, run.toolStart("a"));
    bench.at(2, new RunEvents(CHILD).started());
    bench.at(3, new RunEvents(CHILD).complete());
    bench.at(60, run.failed({ kind: { type: "deadline_exceeded" } }));
    const seen = await bench.collect();
    const of = (outcome: string) => seen.sum("entelix.runs", { "entelix.run.outcome": outcome });
    expect([of("abandoned"), of("failed"), of("complete")]).toEqual([1, 1, 1]);
    // Nobody knows how long the first one took: neither of its parts has both a start and an end.
    expect(seen.sum("gen_ai.invoke_agent.duration")).toBe(1);
    expect(seen.sum("gen_ai.invoke_agent.tool_calls")).toBe(3);
    expect(seen.sum("entelix.runs.active")).toBe(0);
  });

  it("counts the tool calls of each of its segments once", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    bench.identified(0, run.started());
    bench.identified(1, run.toolStart("a"));
    bench.identified(2, run.toolComplete("a"));
    bench.identified(3, run.toolStart("b"));
    bench.identified(4, run.toolError("b"));
    bench.identified(5, run.interrupted());
    bench.identified(100, run.started());
    bench.identified(101, run.denied("c"));
    bench.identified(103, run.complete());
    const seen = await bench.collect();
    const calls = seen.point("gen_ai.invoke_agent.tool_calls", { "gen_ai.agent.name": "react" });
    expect(calls?.histogram).toMatchObject({ count: 2, sum: 3, min: 1, max: 2 });
    const duration = seen.point("gen_ai.invoke_agent.duration", { "gen_ai.agent.name": "react" });
    expect(duration?.histogram).toMatchObject({ count: 2, sum: 8, min: 3, max: 5 });
  });
});

describe("a tool call", () => {
  it("took as long as its end says, else from its start to its end", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    bench.at(0, run.started());
    bench.at(1, run.toolStart("a", "search"));
    bench.at(5, run.toolComplete("a", "search", 250));
    bench.at(6, run.toolStart("b", "search"));
    bench.at(8, run.toolComplete("b", "search", 0));
    const seen = await bench.collect();
    const attributes = {
      "gen_ai.tool.name": "search",
      "gen_ai.tool.type": "function",
      "gen_ai.agent.name": "react",
    };
    const duration = seen.point("gen_ai.execute_tool.duration", attributes)?.histogram;
    expect(duration).toMatchObject({ count: 2, sum: 2.25 });
  });

  it("that failed is a failure of its kind, one that paused is none", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    bench.at(0, run.started());
    bench.at(1, run.toolStart("a"));
    bench.at(2, run.toolError("a", { kind: "rate_limit", duration_ms: 40 }));
    bench.at(3, run.toolStart("b"));
    bench.at(4, run.toolInterrupted("b"));
    bench.at(5, run.denied("c"));
    bench.at(6, run.toolStart("d"));
    bench.at(7, run.interrupted());
    const seen = await bench.collect();
    expect(seen.nonZero("entelix.tool.failures")).toEqual({
      "entelix.tenant_id=acme,entelix.tool.error_kind=rate_limit,gen_ai.agent.name=react,gen_ai.tool.name=fetch": 1,
    });
    // The denied call did not run, and of the unfinished one nobody knows how long it took.
    expect(seen.nonZero("gen_ai.execute_tool.duration")).toEqual({
      "error.type=rate_limit,gen_ai.agent.name=react,gen_ai.tool.name=fetch,gen_ai.tool.type=function": 1,
      "gen_ai.agent.name=react,gen_ai.tool.name=fetch,gen_ai.tool.type=function": 1,
    });
  });

  it("that comes twice counts once, with and without event ids", async () => {
    const bench = meteredBench();
    const run = new RunEvents(ROOT);
    bench.at(0, run.started());
    for (let n = 0; n < 2; n++) {
      bench.at(1, run.toolStart("a"));
      bench.at(2, run.toolError("a"), n === 0 ? {} : { timestamp: [1_777_464_002, 0] });
      bench.at(3, run.toolError("b"), { event_id: "e-1" });
      bench.at(4, run.failed());
      bench.at(5, run.complete());
    }
    const seen = await bench.collect();
    expect(seen.sum("entelix.tool.failures")).toBe(2);
    expect(seen.sum("gen_ai.execute_tool.duration")).toBe(2);
    expect(seen.sum("entelix.runs")).toBe(1);
  });
});

describe("a failure that rises through nested runs", () => {
  it("is one failed root run, and one terminal failure", async () => {
    const bench = meteredBench();
    const [root, child, grandchild] = [
      new RunEvents(ROOT),
      new RunEvents(CHILD),
      new RunEvents(GRANDCHILD),
    ];
    const kind = { type: "tool_error_terminal", kind: "auth", tool_name: "bigquery" } as const;
    bench.at(0, root.started("coordinator"));
    bench.at(1, child.started("team", ROOT));
    bench.at(2, grandchild.started("worker", CHILD));
    bench.at(3, grandchild.failed({ kind }));
    bench.at(4, child.failed({ kind }));
    bench.at(5, root.failed({ kind }));
    const seen = await bench.collect();
    const failed = { "entelix.run.outcome": "failed", "entelix.failure.kind": kind.type };
    expect(seen.sum("entelix.runs", failed)).toBe(3);
    expect(seen.sum("entelix.runs", { ...failed, "entelix.root": true })).toBe(1);
    expect(seen.nonZero("entelix.tool.terminal_failures")).toEqual({
      "entelix.tenant_id=acme,entelix.tool.error_kind=auth,gen_ai.agent.name=coordinator,gen_ai.tool.name=bigquery": 1,
    });
  });

  it("counts as a root where nobody vouched for the parent", async () => {
    const bench = meteredBench();
    const orphan = new RunEvents(CHILD);
    bench.at(0, orphan.started("team", ROOT));
    bench.at(1, orphan.failed());
    const seen = await bench.collect();
    expect(seen.sum("entelix.runs", { "entelix.root": true })).toBe(1);
  });

  it("adds the usage of the root alone: a child's has its parent's in it", async () => {
    const bench = meteredBench();
    const [root, child] = [new RunEvents(ROOT), new RunEvents(CHILD)];
    bench.at(0, root.started("coordinator"));
    bench.at(1, child.started("team", ROOT));
    bench.at(2, child.complete({ usage: { ...usage, input_tokens: 700 } }));
    bench.at(3, root.complete({ usage }));
    const seen = await bench.collect();
    expect(seen.sum("entelix.tokens", { "gen_ai.token.type": "input" })).toBe(1200);
    expect(seen.nonZero("entelix.cost")).toEqual({
      "entelix.tenant_id=acme,gen_ai.agent.name=coordinator": 0.3,
    });
  });
});

describe("what starts at 0", () => {
  const kinds = [
    "tool_error_terminal tool",
    "usage_limit_exceeded run",
    "cancelled run",
    "deadline_exceeded run",
    "model_dispatch model",
    "internal model",
    "internal run",
    "unclassified run",
  ];

  it("is every outcome, and failure kind with its usual origins, of a tenant and agent, with their first root run", async () => {
    const bench = meteredBench();
    bench.at(0, new RunEvents(ROOT).started());
    const seen = await bench.collect();
    const found = seen.points("entelix.runs").map(({ attributes, value }) => ({
      how:
        attributes["entelix.run.outcome"] === "failed"
          ? `${attributes["entelix.failure.kind"]} ${attributes["entelix.failure.origin"]}`
          : attributes["entelix.run.outcome"],
      root: attributes["entelix.root"],
      value,
    }));
    const expected = ["complete", "interrupted", "abandoned", ...kinds];
    expect(found.toSorted((a, b) => (String(a.how) < String(b.how) ? -1 : 1))).toEqual(
      expected.toSorted().map((how) => ({ how, root: true, value: 0 })),
    );
    expect(seen.points("entelix.tokens").map(({ value }) => value)).toEqual([0, 0]);
    expect(seen.points("entelix.cost").map(({ value }) => value)).toEqual([0]);
    expect(seen.points("entelix.approvals.pending").map(({ value }) => value)).toEqual([0]);
    expect(seen.points("entelix.approvals.oldest").map(({ value }) => value)).toEqual([0]);
  });

  it("is nothing for an agent that only runs below others", async () => {
    const bench = meteredBench();
    bench.at(0, new RunEvents(ROOT).started("coordinator"));
    bench.at(1, new RunEvents(CHILD).started("team", ROOT));
    const seen = await bench.collect();
    expect(seen.sum("entelix.runs.active")).toBe(2);
    const agents = seen
      .points("entelix.runs")
      .map((point) => point.attributes["gen_ai.agent.name"]);
    expect(new Set(agents)).toEqual(new Set(["coordinator"]));
  });

  it("is the tenant conflicts of each tenant that has root runs", async () => {
    const bench = meteredBench();
    bench.at(0, new RunEvents(ROOT).started("coordinator"));
    const seen = await bench.collect();
    const conflicts = seen
      .points("entelix.bridge.adjustments")
      .filter(({ attributes }) => attributes["entelix.reason"] === "tenant_conflicts");
    expect(
      conflicts.map(({ attributes, value }) => [attributes["entelix.tenant_id"], value]),
    ).toEqual([["acme", 0]]);
  });

  it("is every reason of the bridge's own counts, but the one that has a tenant", async () => {
    const bench = meteredBench();
    const seen = await bench.collect();
    const reasons = (name: string) =>
      seen.points(name).map((point) => point.attributes["entelix.reason"]);
    const { adjustments, ignored } = bench.sink.diagnostics();
    expect(reasons("entelix.bridge.ignored")).toEqual(Object.keys(ignored));
    expect(reasons("entelix.bridge.adjustments")).toEqual([
      ...Object.keys(adjustments).filter((reason) => reason !== "tenant_conflicts"),
      "forgotten_pending",
    ]);
    expect(seen.sum("entelix.bridge.ignored")).toBe(0);
    expect(seen.points("entelix.bridge.events").map(({ value }) => value)).toEqual([0]);
    expect(seen.points("entelix.audit.append_failures").map(({ value }) => value)).toEqual([0]);
    const labels = seen.points("entelix.bridge.label_overflow").map(({ attributes }) => attributes);
    expect(labels.map((each) => each["entelix.label"])).toEqual([
      "tenant",
      "agent",
      "tool",
      "model",
    ]);
  });
});
