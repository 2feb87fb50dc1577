import { describe, expect, it } from "vitest";
import type { ViewAttributes, ViewRun, ViewSpan } from "../../../src/view/format.ts";
import { RunIndex } from "../../../src/view/runs/run-index.ts";
import { rowOf } from "../../../src/view/runs/run-row.ts";
import { at, runSpan, toolSpan } from "../support/view-span.ts";

/** The span of a run, from its ID and times in ms. */
function run(id: string, from: number, to: number, attributes: ViewAttributes = {}): ViewSpan {
  const ended = { "entelix.run.outcome": "complete", ...attributes };
  return runSpan(`${id}${from}`, undefined, { from, to }, { run_id: id, attributes: ended });
}

/** A run that waits for the decision about call `c`. */
function paused(id: string, from: number, to: number, attributes: ViewAttributes = {}): ViewSpan {
  return run(id, from, to, {
    "entelix.run.outcome": "interrupted",
    "entelix.interruption.kind": "approval_pending",
    "entelix.interruption.tool_use_id": "c",
    "entelix.interruption.payload": '{"question":"May I?"}',
    ...attributes,
  });
}

/** Call `c` of a run, with its decision. */
function decided(id: string, from: number, attributes: ViewAttributes = {}): ViewSpan {
  const times = { from, to: from + 10 };
  return toolSpan(`${id}tool${from}`, `${id}${from}`, times, {
    run_id: id,
    attributes: {
      "gen_ai.tool.call.id": "c",
      "entelix.approval.outcome": "approved",
      ...attributes,
    },
  });
}

class Rows {
  readonly #index = new RunIndex();

  constructor(...spans: readonly ViewSpan[]) {
    this.add(...spans);
  }

  /** @returns the IDs of the runs that the list sends again. */
  add(...spans: readonly ViewSpan[]): readonly string[] {
    const before = this.#index.publish();
    for (const span of spans) this.#index.addSpan(span, 1);
    this.#index.publish();
    const changed = [...this.#index.runs()].filter((one) => this.#index.isListed(one, before));
    return changed.map(({ run_id }) => run_id).sort();
  }

  of(id: string): ViewRun {
    const [found] = this.#index.named(id);
    if (found === undefined) throw new Error(`expected the run ${id}`);
    return rowOf(found);
  }

  /** Runs that wait for a person. */
  get waiting(): readonly string[] {
    const rows = [...this.#index.runs()].map((one) => rowOf(one));
    const waits = rows.filter((row) => row.outcome === "interrupted" && row.resumed !== true);
    return waits.map(({ run_id }) => run_id);
  }
}

const waits = { outcome: "interrupted", end_ns: at(100), asked: "May I?" };

describe("a run that goes on under its own ID after a pause", () => {
  it.each([
    ["came after", [paused("a", 0, 100), decided("a", 200)]],
    ["came before", [decided("a", 200), paused("a", 0, 100)]],
  ])("does not wait any more, though its span comes later: its call %s the pause", (_, spans) => {
    const rows = new Rows(...spans);
    const row = rows.of("a");
    expect(row).toMatchObject({ outcome: "open", end_ns: null, asked: undefined });
    expect(row).not.toHaveProperty("interruption_kind");
    expect(row).not.toHaveProperty("working_ms");
    rows.add(run("a", 190, 300));
    expect(rows.of("a")).toMatchObject({
      outcome: "complete",
      end_ns: at(300),
      waiting_ms: 90,
      working_ms: 210,
    });
  });

  it("waits as long as its calls are from before the pause", () => {
    expect(new Rows(paused("a", 0, 100), decided("a", 100)).of("a")).toMatchObject(waits);
  });

  it("waits again when it pauses again", () => {
    const rows = new Rows(paused("a", 0, 100), decided("a", 200), paused("a", 190, 300));
    expect(rows.of("a")).toMatchObject({ ...waits, end_ns: at(300) });
  });

  it("goes on with the run around it", () => {
    const child = { "entelix.parent_run_id": "p" };
    const rows = new Rows(paused("c", 10, 90, child), paused("p", 0, 100));
    expect(rows.waiting).toEqual(["c", "p"]);
    expect(rows.add(decided("c", 200))).toEqual(["c", "p"]);
    expect(rows.waiting).toEqual([]);
    expect(rows.of("p")).toMatchObject({ outcome: "open", end_ns: null });
  });

  it("may have been given up, but not have ended", () => {
    const ended = (outcome: string) => run("a", 0, 100, { "entelix.run.outcome": outcome });
    const rowAfter = (outcome: string) => new Rows(ended(outcome), decided("a", 200)).of("a");
    expect(rowAfter("abandoned")).toMatchObject({ outcome: "open", end_ns: null });
    expect(rowAfter("complete")).toMatchObject({ outcome: "complete", end_ns: at(100) });
  });
});

describe("a paused run that another run continues", () => {
  const thread = { "gen_ai.conversation.id": "t" };

  it.each([
    ["in a conversation", thread],
    ["without one", {}],
  ])("is known by a call that was decided, which may come before its span: %s", (_, attributes) => {
    const spans = [paused("a", 0, 100, attributes), decided("b", 200, attributes)];
    for (const rows of [new Rows(...spans), new Rows(...spans.reverse())]) {
      expect(rows.of("a")).toMatchObject({ resumed: true });
      expect(rows.of("b")).toMatchObject({ resumed_from: "a", outcome: "open" });
    }
  });

  it("is not known if several runs without a conversation wait for a call with this ID", () => {
    const rows = new Rows(paused("a", 0, 100), paused("b", 0, 100), decided("c", 200));
    expect(rows.waiting).toEqual(["a", "b"]);
    expect(rows.of("c")).not.toHaveProperty("resumed_from");
  });

  it("is not one that paused after the call, or whose continuation has ended", () => {
    expect(new Rows(decided("b", 50), paused("a", 0, 100)).waiting).toEqual(["a"]);
    expect(new Rows(decided("b", 200), run("b", 190, 300), paused("a", 0, 100)).waiting).toEqual([
      "a",
    ]);
  });
});

describe("a sub-agent that waits for a person", () => {
  const thread = { "gen_ai.conversation.id": "t" };
  const childOf = (id: string) => ({ ...thread, "entelix.parent_run_id": id });
  const pauses = [paused("c1", 10, 90, childOf("p1")), paused("p1", 0, 100, thread)];
  const resumed = (id: string) => ({ "entelix.run.resumed_from": id });

  it("is continued by a run of its own, and the run around it does not wait either", () => {
    const rows = new Rows(...pauses);
    expect(rows.add(decided("c2", 200, thread))).toEqual(["c1", "c2", "p1"]);
    expect(rows.of("c2")).toMatchObject({ resumed_from: "c1" });
    expect(rows.waiting).toEqual([]);

    // The sub-agent is complete, and the agent around it still works.
    rows.add(run("c2", 190, 300, { ...childOf("p2"), ...resumed("c1") }));
    expect(rows.waiting).toEqual([]);
    rows.add(decided("p2", 310, { "gen_ai.tool.call.id": "other" }));
    expect(rows.of("p2")).toMatchObject({ outcome: "open", resumed_from: "p1" });

    rows.add(run("p2", 180, 400, resumed("p1")));
    expect(rows.waiting).toEqual([]);
    expect(rows.of("p1")).toMatchObject({ resumed: true });
  });

  it("is told to the page if the run around it turns out to continue nothing", () => {
    const rows = new Rows(...pauses, decided("c2", 200, thread));
    rows.add(run("c2", 190, 300, { ...childOf("p2"), ...resumed("c1") }));
    expect(rows.add(run("p2", 180, 400))).toEqual(["p1", "p2"]);
    expect(rows.waiting).toEqual(["p1"]);
  });

  it("is told to the page if it was no continuation", () => {
    const rows = new Rows(...pauses, decided("c2", 200, thread));
    expect(rows.add(run("c2", 190, 300))).toEqual(["c1", "c2", "p1"]);
    expect(rows.waiting).toEqual(["c1", "p1"]);
  });
});
