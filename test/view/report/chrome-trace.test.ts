import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunDetail, ViewSpan } from "../../../src/view/format.ts";
import { ChromeTrace } from "../../../src/view/report/chrome-trace.ts";
import { aDetail, aRun, aSpan, at } from "../support/fake-runs.ts";

interface Event {
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
  readonly id?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

function eventsOf(...details: readonly RunDetail[]): Event[] {
  const trace = new ChromeTrace(at(0));
  const texts = [trace.start()];
  for (const detail of details) texts.push(...trace.run(detail));
  texts.push(trace.end());
  const document: { traceEvents: Event[] } = JSON.parse(texts.join(""));
  return document.traceEvents;
}

const complete = (events: readonly Event[]) => events.filter(({ ph }) => ph === "X");

const run = (id: string, from: number, to: number | null, fields: Partial<ViewSpan> = {}) =>
  aSpan(id, from, to, { kind: "run", name: `invoke_agent ${id}`, ...fields });

/** Whether two spans on one track are one within the other, or apart. */
function nest(a: Event, b: Event): boolean {
  const [aEnd, bEnd] = [a.ts + a.dur, b.ts + b.dur];
  const apart = aEnd <= b.ts || bEnd <= a.ts;
  return apart || (a.ts <= b.ts && bEnd <= aEnd) || (b.ts <= a.ts && aEnd <= bEnd);
}

describe("the trace event format", () => {
  it("has a complete event for each span, with its time in µs and its attributes", () => {
    const spans = [
      run("root", 0, 3),
      aSpan("call", 1, 2.0000015, { parent_span_id: "root", attributes: { model: "m", n: 3 } }),
    ];
    const events = eventsOf(aDetail(aRun("run"), { spans }));
    expect(complete(events)).toEqual([
      expect.objectContaining({ name: "invoke_agent root", cat: "run", ts: 0, dur: 3_000_000 }),
      {
        ph: "X",
        pid: 1,
        tid: 1,
        name: "call",
        cat: "tool",
        ts: 1_000_000,
        dur: 1_000_001.5,
        args: { model: "m", n: 3, trace_id: "f".repeat(32), span_id: "call" },
      },
    ]);
    const names = events.filter(({ ph }) => ph === "M").map(({ args, name }) => [name, args.name]);
    expect(names).toEqual([
      ["process_name", "planner (run)"],
      ["process_sort_index", undefined],
      ["thread_name", "agent"],
    ]);
  });

  it("gives siblings that overlap tracks of their own, and those that follow the same one", () => {
    const under = { parent_span_id: "root" };
    const spans = [
      run("root", 0, 10),
      aSpan("a", 1, 5, under),
      aSpan("b", 2, 6, under),
      aSpan("in b", 3, 4, { parent_span_id: "b" }),
      aSpan("c", 7, 8, under),
      aSpan("late", 9, 11, under),
    ];
    const tids = complete(eventsOf(aDetail(aRun("run"), { spans }))).map(({ name, tid }) => [
      name,
      tid,
    ]);
    expect(Object.fromEntries(tids)).toEqual({
      "invoke_agent root": 1,
      a: 1,
      b: 2,
      "in b": 2,
      c: 1,
      late: 2,
    });
  });

  it("has a process for each run, and an arrow from the call to the child run", () => {
    const spans = [
      run("root", 0, 10),
      aSpan("call", 1, 9, { parent_span_id: "root" }),
      run("child", 2, 8, {
        run_id: "child",
        parent_span_id: "call",
        attributes: { "gen_ai.agent.name": "expert" },
      }),
    ];
    const events = eventsOf(aDetail(aRun("run"), { spans }));
    expect(complete(events).map(({ pid, tid }) => [pid, tid])).toEqual([
      [1, 1],
      [1, 1],
      [2, 2],
    ]);
    const arrows = events.filter(({ ph }) => ph === "s" || ph === "f");
    const id = `${"f".repeat(32)}/child`;
    expect(arrows).toEqual([
      expect.objectContaining({ ph: "s", pid: 1, tid: 1, ts: 2_000_000, id }),
      expect.objectContaining({ ph: "f", pid: 2, tid: 2, ts: 2_000_000, id, bp: "e" }),
    ]);
    const names = events.filter(({ name }) => name === "process_name").map(({ args }) => args.name);
    expect(names).toEqual(["planner (run)", "expert (child)"]);
  });

  it("marks a failure at its end, and what happened in a span", () => {
    const failed = run("root", 0, 2, {
      failed: true,
      message: "no answer",
      attributes: { "entelix.failure.kind": "model_dispatch" },
      events: [{ name: "exception", time_ns: at(1), attributes: { "exception.type": "Error" } }],
    });
    const events = eventsOf(aDetail(aRun("run"), { spans: [failed] }));
    const instants = events.filter(({ ph }) => ph === "i").map(({ name, ts }) => [name, ts]);
    expect(instants).toEqual([
      ["exception", 1_000_000],
      ["failed: model_dispatch", 2_000_000],
    ]);
    expect(complete(events)[0]?.args.status_message).toBe("no answer");
  });

  it("ends what is open with the last that is known, and says that it is open", () => {
    const spans = [run("root", 0, null), aSpan("call", 1, 4, { parent_span_id: "root" })];
    const open = aRun("run", { end_ns: null, outcome: "open" });
    const [root] = complete(eventsOf(aDetail(open, { spans })));
    expect([root?.dur, root?.args.open]).toEqual([4_000_000, true]);
  });

  it("has a child run once, also where it is a run of the report itself", () => {
    const child = run("child", 2, 8, { run_id: "child", parent_span_id: "root" });
    const events = eventsOf(
      aDetail(aRun("run"), { spans: [run("root", 0, 10), child] }),
      aDetail(aRun("child"), { spans: [child] }),
    );
    expect(complete(events)).toHaveLength(2);
  });

  it("has the arrow to a child run that was written before its parent", () => {
    const child = run("child", 2, 8, { run_id: "child", parent_span_id: "call" });
    const call = aSpan("call", 1, 9, { parent_span_id: "root" });
    const events = eventsOf(
      aDetail(aRun("child"), { spans: [child] }),
      aDetail(aRun("run"), { spans: [run("root", 0, 10), call, child] }),
    );
    const arrows = events.filter(({ ph }) => ph === "s" || ph === "f");
    expect(arrows.map(({ ph, pid }) => [ph, pid])).toEqual([
      ["s", 2],
      ["f", 1],
    ]);
  });

  it("is JSON also without a run", () => {
    expect(eventsOf()).toEqual([]);
  });

  it("keeps every span, and lets no two on one track cross, whatever their times", () => {
    const times = fc.array(fc.tuple(fc.nat(60), fc.nat(30), fc.nat(9)), { maxLength: 40 });
    fc.assert(
      fc.property(times, (given) => {
        const spans = given.map(([from, length, above], index) =>
          aSpan(`s${index}`, from, from + length, {
            ...(above < index ? { parent_span_id: `s${above}` } : {}),
          }),
        );
        const events = complete(eventsOf(aDetail(aRun("run"), { spans })));
        expect(events.map(({ name }) => name).sort()).toEqual(spans.map((s) => s.name).sort());
        for (const a of events) {
          for (const b of events) {
            if (a.tid === b.tid) expect(nest(a, b), `${a.name} ${b.name}`).toBe(true);
          }
        }
      }),
    );
  });
});
