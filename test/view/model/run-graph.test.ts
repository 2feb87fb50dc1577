import { describe, expect, it } from "vitest";
import { MAX_GRAPH_PARTS, runGraph } from "../../../src/view/model/run-graph.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { at, runSpan, toolSpan, viewSpan } from "../support/view-span.ts";

const named = (name: string) => ({ attributes: { "gen_ai.agent.name": name } });

describe("the graph of a run", () => {
  const handoff = {
    name: "entelix.handoff",
    time_ns: at(5),
    attributes: { "entelix.handoff.from": "planner", "entelix.handoff.to": "writer" },
  };
  const graph = runGraph(
    spanTree([
      runSpan("run", undefined, { from: 0, to: 90 }, { events: [handoff, handoff] }),
      viewSpan("step", "run", { from: 1, to: 80 }),
      toolSpan("t1", "step", { from: 2, to: 3 }, { failed: true }),
      toolSpan("t2", "step", { from: 4, to: 5 }),
      toolSpan(
        "t3",
        "step",
        { from: 6, to: 60 },
        { attributes: { "gen_ai.tool.name": "research" } },
      ),
      runSpan("child", "t3", { from: 7, to: 50 }, { ...named("helper"), failed: true }),
      toolSpan("t4", "child", { from: 8, to: 9 }),
    ]),
  );
  const nameOf = (id: string) => graph.parts.find((part) => part.id === id)?.name;

  it("has agents and their tools with counts and failures", () => {
    const parts = graph.parts.map(({ count, failed, first, kind, name }) => [
      kind,
      name,
      count,
      failed,
      first?.id,
    ]);
    expect(parts).toEqual([
      ["agent", "planner", 1, 0, "run"],
      ["agent", "writer", 0, 0, undefined],
      ["tool", "search", 2, 1, "t1"],
      ["tool", "research", 1, 0, "t3"],
      ["agent", "helper", 1, 1, "child"],
      ["tool", "search", 1, 0, "t4"],
    ]);
  });

  it("has who called whom, and handoffs", () => {
    const edges = graph.edges.map(({ count, failed, from, kind, to }) => [
      nameOf(from),
      nameOf(to),
      kind,
      count,
      failed,
    ]);
    expect(edges).toEqual([
      ["planner", "writer", "handoff", 2, 0],
      ["planner", "search", "calls", 2, 1],
      ["planner", "research", "calls", 1, 0],
      ["research", "helper", "calls", 1, 1],
      ["helper", "search", "calls", 1, 0],
    ]);
  });

  it("counts a run that paused, and the way to it, once", () => {
    const handed = (resumed?: string) => ({
      attributes: {
        "gen_ai.agent.name": "payer",
        "entelix.handoff.from": "planner",
        ...(resumed === undefined ? {} : { "entelix.run.resumed_from": resumed }),
      },
    });
    const helper = { ...named("helper"), run_id: "h" };
    const paused = runGraph(
      spanTree([
        runSpan("one", undefined, { from: 0, to: 10 }, named("planner")),
        runSpan("h1", "one", { from: 1, to: 4 }, helper),
        runSpan("p1", "one", { from: 5, to: 10 }, { ...handed(), run_id: "p" }),
        runSpan("two", undefined, { from: 50, to: 90 }, named("planner")),
        runSpan("h2", "two", { from: 51, to: 54 }, helper),
        runSpan("p2", "two", { from: 55, to: 60 }, { ...handed("p"), run_id: "q" }),
        runSpan("p3", "two", { from: 70, to: 80 }, { ...handed(), run_id: "r" }),
      ]),
    );
    expect(paused.parts.map(({ count, name }) => [name, count])).toEqual([
      ["planner", 1],
      ["helper", 1],
      ["payer", 3],
    ]);
    expect(paused.edges.map(({ count, kind }) => [kind, count])).toEqual([
      ["calls", 1],
      ["handoff", 2],
    ]);
  });

  it("draws a run that says who handed control to it as handed to, not as called", () => {
    const handed = (id: string, from: number) =>
      runSpan(
        id,
        "run",
        { from, to: from + 5 },
        {
          run_id: id,
          attributes: { "gen_ai.agent.name": "billing", "entelix.handoff.from": "triage" },
        },
      );
    const { edges, parts } = runGraph(
      spanTree([
        runSpan(
          "run",
          undefined,
          { from: 0, to: 90 },
          { attributes: { "gen_ai.agent.name": "triage" } },
        ),
        handed("b1", 10),
        handed("b2", 20),
        runSpan("child", "run", { from: 30, to: 40 }, named("helper")),
      ]),
    );
    expect(parts.map(({ count, name }) => [name, count])).toEqual([
      ["triage", 1],
      ["billing", 2],
      ["helper", 1],
    ]);
    const shown = edges.map(({ count, kind, to }) => [kind, JSON.parse(to)[1], count]);
    expect(shown).toEqual([
      ["handoff", "billing", 2],
      ["calls", "helper", 1],
    ]);
  });

  it("leaves out the rarest parts of a large one, and says how many", () => {
    const tools = Array.from({ length: MAX_GRAPH_PARTS + 9 }, (_, n) =>
      toolSpan(
        `t${n}`,
        "run",
        { from: n, to: n + 1 },
        {
          attributes: { "gen_ai.tool.name": `tool ${n}` },
          failed: n === MAX_GRAPH_PARTS + 8,
        },
      ),
    );
    const large = runGraph(spanTree([runSpan("run", undefined, { from: 0, to: 999 }), ...tools]));
    expect(large.parts.length).toBe(MAX_GRAPH_PARTS);
    expect(large.leftOut).toBe(10);
    expect(large.parts.at(-1)?.name).toBe(`tool ${MAX_GRAPH_PARTS + 8}`);
    expect(large.edges.length).toBe(MAX_GRAPH_PARTS - 1);
  });
});
