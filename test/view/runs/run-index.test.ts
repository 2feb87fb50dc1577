import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewAttributes, ViewSpan } from "../../../src/view/format.ts";
import { isKnown, tracesOf } from "../../../src/view/runs/indexed-run.ts";
import { RunIndex } from "../../../src/view/runs/run-index.ts";
import { rowOf } from "../../../src/view/runs/run-row.ts";
import { runs as cases } from "../../support/runs.ts";

const MS = 1_000_000n;
const BEGIN = 1_795_000_000_000n;

/** A span that begins and ends so many ms after the begin. */
function span(fields: {
  readonly run: string;
  readonly from: number;
  readonly to?: number;
  readonly kind?: ViewSpan["kind"];
  readonly attributes?: ViewAttributes;
  readonly events?: ViewSpan["events"];
  readonly trace?: string;
}): ViewSpan {
  const { attributes, events = [], from, kind = "run", run, to, trace = "t" } = fields;
  const at = (ms: number) => String((BEGIN + BigInt(ms)) * MS);
  return {
    trace_id: trace,
    span_id: `${run}${kind}${from}`,
    run_id: run,
    kind,
    name: kind,
    start_ns: at(from),
    end_ns: to === undefined ? null : at(to),
    failed: false,
    attributes: { "entelix.tenant_id": "acme", "entelix.run.outcome": "complete", ...attributes },
    events,
    links: [],
  };
}

function wait(ms: number, by = "user"): ViewAttributes {
  return { "entelix.approval.wait_ms": ms, "entelix.approval.by": by };
}

function decided(at: number, ms: number, id: string): ViewSpan["events"][number] {
  const time_ns = String((BEGIN + BigInt(at)) * MS);
  const attributes = { ...wait(ms), "gen_ai.tool.call.id": id };
  return { name: "entelix.approval", time_ns, attributes };
}

function indexOf(spans: readonly ViewSpan[]): RunIndex {
  const index = new RunIndex();
  for (const each of spans) index.addSpan(each, 1);
  return index;
}

function runOf(index: RunIndex, runId: string) {
  const run = index.find("acme", runId);
  return run === undefined ? undefined : rowOf(run);
}

/** The shapes of one tree of runs: a root, its child, and the child's child. */
const TREE = [
  span({
    run: "c",
    from: 30,
    to: 40,
    attributes: {
      "entelix.parent_run_id": "b",
      "entelix.run.input_tokens": 5,
      "entelix.run.cost": "0.005",
    },
  }),
  span({
    run: "b",
    from: 20,
    to: 60,
    attributes: {
      "entelix.parent_run_id": "a",
      "entelix.run.input_tokens": 30,
      "entelix.run.output_tokens": 3,
    },
  }),
  span({
    run: "a",
    from: 0,
    to: 100,
    attributes: { "entelix.run.input_tokens": 200, "entelix.run.cost": "0.1" },
  }),
];

describe("the numbers of a run", () => {
  it("are in whatever order its spans and those of its child runs come", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(TREE, { minLength: 3 }), (spans) => {
        const index = indexOf(spans);
        expect(runOf(index, "a")).toMatchObject({
          input_tokens: 235,
          output_tokens: 3,
          cost_usd: "0.105",
          child_runs: 1,
          spans: 1,
        });
        expect(runOf(index, "b")).toMatchObject({
          input_tokens: 35,
          output_tokens: 3,
          cost_usd: "0.005",
          child_runs: 1,
        });
        expect(runOf(index, "c")).toMatchObject({
          input_tokens: 5,
          cost_usd: "0.005",
          child_runs: 0,
          parent_run_id: "b",
        });
      }),
      { numRuns: cases(100) },
    );
  });

  it("are those of the whole tree where the root says them", () => {
    const whole = {
      "gen_ai.usage.input_tokens": 360,
      "gen_ai.usage.output_tokens": 120,
      "entelix.agent.usage.cost": "0.0063",
    };
    const [grandchild, child] = TREE;
    const index = indexOf(
      [
        grandchild,
        child,
        span({ run: "a", from: 0, to: 9, attributes: { ...whole, "entelix.run.input_tokens": 1 } }),
      ].flatMap((each) => each ?? []),
    );
    expect(runOf(index, "a")).toMatchObject({
      input_tokens: 360,
      output_tokens: 120,
      cost_usd: "0.0063",
    });
  });

  it("are the sum over its pauses if its framework counts the tree anew after each", () => {
    const used = (input: number, output: number, cost: string, more = {}) => ({
      attributes: {
        "gen_ai.usage.input_tokens": input,
        "gen_ai.usage.output_tokens": output,
        "entelix.agent.usage.cost": cost,
        "entelix.run.outcome": "interrupted",
        ...more,
      },
    });
    const last = {
      run: "a",
      from: 70,
      to: 90,
      ...used(31, 7, "0.1", { "entelix.run.outcome": "complete" }),
    };
    const index = indexOf([
      span({ run: "a", from: 0, to: 10, ...used(93, 21, "0.2") }),
      span({ run: "a", from: 30, to: 40, ...used(10, 2, "0.05") }),
      span(last),
      span(last),
    ]);
    expect(runOf(index, "a")).toMatchObject({
      input_tokens: 134,
      output_tokens: 30,
      cost_usd: "0.35",
      outcome: "complete",
    });
  });

  it("are those of its last segment, which count from its first", () => {
    const used = (tokens: number) => ({ "entelix.run.input_tokens": tokens });
    const parent = { "entelix.parent_run_id": "a" };
    const index = indexOf([
      span({
        run: "b",
        from: 0,
        to: 10,
        attributes: {
          ...parent,
          ...used(5),
          "entelix.run.outcome": "interrupted",
          "entelix.interruption.kind": "custom",
        },
      }),
      span({ run: "b", from: 70, to: 90, attributes: { ...parent, ...used(8) }, trace: "u" }),
      span({ run: "a", from: 0, to: 100 }),
    ]);
    expect(runOf(index, "b")).toMatchObject({
      input_tokens: 8,
      outcome: "complete",
      waiting_ms: 60,
      working_ms: 30,
      spans: 2,
      trace_id: "t",
    });
    expect(runOf(index, "b")).not.toHaveProperty("interruption_kind");
    expect(runOf(index, "a")).toMatchObject({ input_tokens: 8, child_runs: 1 });
    const found = index.find("acme", "b");
    expect(found && tracesOf(found).map(({ id }) => id)).toEqual(["t", "u"]);
  });

  it("do not count waits for people as work, overlaps once, and those of child runs", () => {
    const index = indexOf([
      // The child waits from 10 to 30, its parent from 20 to 50 and from 60 to 70.
      span({
        run: "b",
        kind: "tool",
        from: 30,
        to: 35,
        attributes: { ...wait(20), "gen_ai.tool.call.id": "x" },
      }),
      span({ run: "b", from: 5, to: 40, attributes: { "entelix.parent_run_id": "a" } }),
      span({
        run: "a",
        kind: "tool",
        from: 52,
        to: 55,
        attributes: { ...wait(30), "gen_ai.tool.call.id": "x" },
      }),
      span({ run: "a", kind: "tool", from: 80, to: 85, attributes: wait(50, "policy") }),
      span({ run: "a", from: 0, to: 100, events: [decided(50, 30, "x"), decided(70, 10, "y")] }),
    ]);
    expect(runOf(index, "b")).toMatchObject({ waiting_ms: 20, working_ms: 15 });
    expect(runOf(index, "a")).toMatchObject({ waiting_ms: 50, working_ms: 50 });
  });

  it("have a wait before them that is none of their own time, though a call of theirs has it", () => {
    const call = span({
      run: "a",
      kind: "tool",
      from: 12,
      to: 20,
      attributes: { ...wait(1000), "gen_ai.tool.call.id": "x" },
    });
    expect(runOf(indexOf([call, span({ run: "a", from: 10 })]), "a")).toMatchObject({
      waiting_ms: 1000,
    });
    // The person decided, and then the run began. Another call of it waited from 15 to 20.
    const events = [decided(11, 1000, "x"), decided(20, 5, "y")];
    const run = span({ run: "a", from: 10, to: 30, events });
    expect(runOf(indexOf([call, run]), "a")).toMatchObject({ waiting_ms: 1005, working_ms: 15 });
  });

  it("have the wait between two child runs of theirs, of which the later one resumes the other", () => {
    const child = { "entelix.parent_run_id": "a" };
    const index = indexOf([
      span({ run: "b", from: 5, to: 20, attributes: child }),
      span({ run: "c", from: 80, to: 95, attributes: child, events: [decided(90, 60, "x")] }),
      span({ run: "a", from: 0, to: 100 }),
    ]);
    expect(runOf(index, "c")).toMatchObject({ waiting_ms: 60, working_ms: 15 });
    // Work: 0 to 20, and 80 to 100.
    expect(runOf(index, "a")).toMatchObject({ waiting_ms: 60, working_ms: 40 });
  });

  it.each([
    ["the question", [{ name: "entelix.approval_asked", at: 15 }], []],
    ["the decision", [], [{ name: "entelix.approval", at: 55 }]],
  ])("count a wait inside of a call, whose time %s says", (_, asked, told) => {
    const eventsOf = (events: readonly { readonly name: string; readonly at: number }[]) =>
      events.map(({ at, name }) => ({ ...decided(at, 0, "x"), name }));
    const index = indexOf([
      span({
        run: "a",
        kind: "tool",
        from: 10,
        to: 60,
        attributes: { ...wait(40), "gen_ai.tool.call.id": "x" },
        events: eventsOf(asked),
      }),
      span({ run: "a", from: 0, to: 100, events: eventsOf(told) }),
    ]);
    expect(runOf(index, "a")).toMatchObject({ waiting_ms: 40, working_ms: 60 });
  });

  it("count a pause once, though the call that was asked about before it says that it waited", () => {
    const paused = { "entelix.run.outcome": "interrupted" };
    const events = [decided(120, 105, "x")];
    const index = indexOf([
      span({ run: "a", from: 0, to: 20, attributes: paused }),
      span({ run: "a", from: 110, to: 150, events }),
    ]);
    // The pause from 20 to 110.
    expect(runOf(index, "a")).toMatchObject({ waiting_ms: 90, working_ms: 60 });
  });

  it.each([
    ["in their order", [0, 1, 2]],
    ["after their calls", [1, 0, 2]],
  ])(
    "count the time after a segment that was given up as work, but for decisions, %s",
    (_, order) => {
      const call = { ...wait(85), "gen_ai.tool.call.id": "x" };
      const spans = [
        span({ run: "a", from: 0, to: 20, attributes: { "entelix.run.outcome": "abandoned" } }),
        span({ run: "a", kind: "tool", from: 110, to: 120, attributes: call }),
        span({ run: "a", from: 110, to: 150, events: [decided(110, 85, "x")] }),
      ];
      const index = indexOf(order.flatMap((at) => spans[at] ?? []));
      expect(runOf(index, "a")).toMatchObject({ waiting_ms: 85, working_ms: 65 });
    },
  );

  it("leave out what is not known yet of an open run", () => {
    const index = indexOf([
      span({ run: "a", from: 0 }),
      span({ run: "a", kind: "tool", from: 1, to: 2 }),
    ]);
    expect(runOf(index, "a")).toEqual({
      key: "a",
      run_id: "a",
      tenant_id: "acme",
      outcome: "open",
      trace_id: "t",
      start_ns: String(BEGIN * MS),
      end_ns: null,
      spans: 2,
      rows: 0,
      child_runs: 0,
    });
  });

  it("are those of the source with the highest standing", () => {
    const failed = { "entelix.run.outcome": "failed", "entelix.run.input_tokens": 1 };
    const better = [
      span({ run: "a", from: 1, to: 9, attributes: { "entelix.run.input_tokens": 7 } }),
    ];
    const worse = [
      span({ run: "a", kind: "tool", from: 0, to: 1 }),
      span({ run: "a", from: 0, to: 5, attributes: failed }),
    ];
    for (const order of [
      [3, 1],
      [1, 3],
    ]) {
      const index = new RunIndex();
      for (const standing of order) {
        for (const each of standing === 3 ? better : worse) index.addSpan(each, standing);
      }
      expect(runOf(index, "a")).toMatchObject({
        outcome: "complete",
        input_tokens: 7,
        spans: 1,
        working_ms: 8,
      });
    }
  });

  it("of the runs above are those of that source only", () => {
    const child = (from: number, tokens: number, cost: string) =>
      span({
        run: "b",
        from,
        to: 9,
        attributes: {
          "entelix.parent_run_id": "a",
          "entelix.run.input_tokens": tokens,
          "entelix.run.cost": cost,
        },
      });
    const index = indexOf([span({ run: "a", from: 0, to: 10 }), child(1, 5, "0.5")]);
    index.addSpan(child(2, 7, "0.25"), 3);
    expect(runOf(index, "a")).toMatchObject({ input_tokens: 7, cost_usd: "0.25" });
  });

  it("are not lost in a ring of parents", () => {
    const of = (run: string, parent: string) =>
      span({
        run,
        from: 0,
        to: 1,
        attributes: { "entelix.parent_run_id": parent, "entelix.run.input_tokens": 1 },
      });
    const index = indexOf([of("a", "b"), of("b", "a"), of("c", "c")]);
    expect(["a", "b", "c"].map((run) => runOf(index, run)?.spans)).toEqual([1, 1, 1]);
    expect(runOf(index, "c")).toMatchObject({ child_runs: 0, input_tokens: 1 });
  });
});

describe("a run that only others name", () => {
  it("is not listed before it has a span", () => {
    const index = indexOf([TREE[1]].flatMap((each) => each ?? []));
    const run = index.find("acme", "a");
    expect(run && isKnown(run)).toBe(false);
  });
});

describe("spans of others", () => {
  it("count where their trace has no run, whichever comes first", () => {
    const { run_id: _, ...foreign } = span({
      run: "x",
      kind: "other",
      from: 0,
      to: 1,
      attributes: {},
    });
    const index = indexOf([foreign, { ...foreign, trace_id: "alone" }]);
    expect(index.traces.otherSpans).toBe(2);
    index.addSpan(span({ run: "a", from: 0, to: 1 }), 1);
    index.addSpan(foreign, 1);
    expect(index.traces.otherSpans).toBe(1);
  });
});
