import { readdirSync, statSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leftOutLines } from "../../../src/view/commands/opened-runs.ts";
import type { RunList, ViewSpan } from "../../../src/view/format.ts";
import { runDetail } from "../../../src/view/runs/run-detail.ts";
import { RunIndex } from "../../../src/view/runs/run-index.ts";
import { rowOf } from "../../../src/view/runs/run-row.ts";
import { RunStore, STANDING } from "../../../src/view/runs/run-store.ts";
import { StoredRuns } from "../../../src/view/runs/stored-runs.ts";
import { Traces } from "../../../src/view/runs/traces.ts";
import { Folder } from "../../cli/support/folder.ts";
import { runs as cases } from "../../support/runs.ts";
import { listOf } from "../support/opened.ts";
import { runSpan, toolSpan } from "../support/view-span.ts";

const MOST = 10;

interface SpanFields {
  readonly parent?: string;
  readonly outcome?: "failed" | "interrupted";
  readonly resumes?: string;
}

/** The span of a run that begins at this second. */
function spanOf(at: number, fields: SpanFields = {}) {
  return runSpan(`span ${at}`, undefined, times(at), {
    run_id: `run ${at}`,
    trace_id: `trace ${at}`,
    attributes: {
      "entelix.tenant_id": "acme",
      ...(fields.parent === undefined ? {} : { "entelix.parent_run_id": fields.parent }),
      ...(fields.resumes === undefined ? {} : { "entelix.run.resumed_from": fields.resumes }),
      "entelix.run.outcome": fields.outcome ?? "complete",
    },
  });
}

function times(second: number) {
  return { from: second * 1_000, to: second * 1_000 + 1 };
}

function indexOf(spans: readonly ViewSpan[], wanted?: string): RunIndex {
  const index = new RunIndex({ mostRuns: MOST, wanted });
  for (const span of spans) index.addSpan(span, 1);
  index.publish();
  return index;
}

function idsIn(index: RunIndex): string[] {
  return [...index.runs()].map(({ run_id }) => run_id).sort();
}

const seconds = (count: number) => Array.from({ length: count }, (_, at) => at);
const newest = (count: number) =>
  seconds(count)
    .slice(-MOST)
    .map((at) => `run ${at}`)
    .sort();

describe("of more runs than a list can have", () => {
  it("the newest are retained and the others counted, in whatever order the spans come", () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(seconds(60), { minLength: 60 }),
        fc.nat(59),
        (order, again) => {
          const spans = order.map((at) => spanOf(at));
          // A late span of a run, which may be left out already, is no other run.
          const index = indexOf([...spans, spanOf(again)]);
          expect(idsIn(index)).toEqual(newest(60));
          expect(index.leftOut).toBe(50);
          const [oldest] = newest(60);
          expect(index.oldest).toBe(index.named(oldest ?? "")[0]?.start);
        },
      ),
      { numRuns: cases(100) },
    );
  });

  it("none is left out of as many as it can have", () => {
    const index = indexOf(seconds(MOST).map((at) => spanOf(at)));
    expect([idsIn(index).length, index.leftOut, index.oldest]).toEqual([MOST, 0, undefined]);
  });

  it("the run that the user asked for is retained with all runs below it, but not listed", () => {
    const spans = [spanOf(2, { parent: "run 1" }), spanOf(1, { parent: "run 0" }), spanOf(0)];
    const index = indexOf([...spans, ...seconds(60).map((at) => spanOf(at + 3))]);
    const wanted = indexOf([...spans, ...seconds(60).map((at) => spanOf(at + 3))], "RUN 0");
    expect(index.find("acme", "run 0")).toBeUndefined();
    const retained = ["run 0", "run 1", "run 2"].map((id) => wanted.find("acme", id));
    expect(retained.map((run) => run && wanted.isListed(run, -1))).toEqual([false, false, false]);
    expect([...wanted.runs()].filter((run) => wanted.isListed(run, -1))).toHaveLength(MOST);
    expect([wanted.leftOut, index.leftOut]).toEqual([50, 53]);
  });

  it("the run that the user asked for has those that it continues, however long they have paused", () => {
    const paused = [0, 1, 2].map((at) => spanOf(at, { outcome: "interrupted" }));
    const spans = [...paused, ...seconds(60).map((at) => spanOf(at + 3))];
    const later = seconds(20).map((at) => spanOf(at + 80));
    const index = indexOf([...spans, ...later, spanOf(70, { resumes: "run 1" })], "run 70");
    const known = [0, 1, 2].map((at) => index.find("acme", `run ${at}`)?.isUnlisted);
    expect(known).toEqual([undefined, true, undefined]);
    const [wanted] = index.named("run 70");
    expect(wanted && [...index.storyOf(wanted)].map(({ run_id }) => run_id)).toEqual([
      "run 70",
      "run 1",
    ]);
    expect([...index.runs()].filter((run) => index.isListed(run, -1))).toHaveLength(MOST);
    // All but the listed ones and those two.
    expect(index.leftOut).toBe(84 - MOST - 2);
  });

  it("a run whose parent was left out names it, and the sums of others stay", () => {
    const index = indexOf([
      spanOf(0),
      ...seconds(60).map((at) => spanOf(at + 1, { parent: at === 58 ? "run 0" : `run ${at}` })),
    ]);
    const [child] = index.named("run 59");
    expect(child && rowOf(child)).toMatchObject({ parent_run_id: "run 0" });
    expect(child?.parent).toBeUndefined();
    const [grandchild] = index.named("run 60");
    expect(grandchild?.parent).toBe(child);
    expect(child && rowOf(child)).toMatchObject({ child_runs: 1 });
  });

  it("runs that only rows name are bounded on their own, by the times of the rows", () => {
    const index = new RunIndex({ mostRuns: MOST });
    const position = { segment: 0, offset: 0 };
    const addRow = (at: number) =>
      index.addRow({
        tenant_id: "acme",
        run_id: `run ${at}`,
        timestamp: new Date(1_795_228_846_599 + at * 1_000).toISOString(),
        log: 0,
        standing: 2,
        from: position,
        to: position,
      });
    for (const at of seconds(60)) addRow(at);
    index.publish();
    expect(idsIn(index)).toEqual(newest(60));
    expect(index.leftOut).toBe(0);
    for (const at of seconds(60)) index.addSpan(spanOf(at), 1);
    index.publish();
    expect(idsIn(index)).toEqual(newest(60));
    expect(index.leftOut).toBe(50);
  });
});

describe("the list of a store with too many runs", () => {
  it("says how many are left out and since when it is complete, and has the details of the others", async () => {
    using folder = new Folder();
    const store = new RunStore(folder.path, { mostRuns: MOST });
    const source = store.addSource(STANDING.spans);
    for (const at of seconds(60)) {
      store.add(source, toolSpan(`tool ${at}`, `span ${at}`, times(at), fieldsOf(at)));
      store.add(source, spanOf(at, { outcome: "failed" }));
    }
    const runs = storedRuns(store);
    const list: RunList = listOf(runs);
    expect(list).toMatchObject({ left_out: 50, oldest_ns: list.runs[0]?.start_ns });
    expect(list.runs.map(({ run_id }) => run_id)).toEqual(newest(60));
    expect(leftOutLines(runs)).toEqual([
      "50 older runs left out: only the newest 100,000 are shown. To see older runs, name fewer sources, or one run with --run ID.",
    ]);
    expect(runs.failedKeys()).toHaveLength(MOST);
    expect(await runs.detail("run 49")).toBeUndefined();
    expect((await runs.detail("run 50"))?.spans).toHaveLength(2);
    // What is not in memory any more is not read either.
    expect(store.spansOf("trace 49")).toEqual([]);
    await runs.close();
  });

  it("has older runs again when the source of the newer ones was replaced", async () => {
    using folder = new Folder();
    const store = new RunStore(folder.path, { mostRuns: MOST });
    const [old, young] = [store.addSource(STANDING.spans), store.addSource(STANDING.spans)];
    for (const at of seconds(5)) store.add(old, spanOf(at));
    for (const at of seconds(60)) store.add(young, spanOf(at + 5));
    const runs = storedRuns(store);
    expect(listOf(runs)).toMatchObject({ left_out: 55 });
    store.forget(young);
    const list = listOf(runs);
    expect(list).not.toHaveProperty("left_out");
    expect(leftOutLines(runs)).toEqual([]);
    expect(list.runs.map(({ run_id }) => run_id)).toEqual(newest(5));
    const [run] = store.index.named("run 0");
    expect(run && (await runDetail(store, run, { content: true })).spans).toHaveLength(1);
    await runs.close();
  });
});

describe("a store with a limit of its file", () => {
  it("keeps the newer runs whole, and forgets what belongs to no run", async () => {
    using folder = new Folder();
    const store = new RunStore(folder.path, { mostBytes: 6 * 1024 * 1024 });
    const source = store.addSource(STANDING.spans);
    const long = "x".repeat(64 * 1024);
    const { run_id: _, ...other } = { ...spanOf(0), trace_id: "alone" };
    store.add(source, other);
    for (const at of seconds(300)) {
      const attributes = { "entelix.tenant_id": "acme", long };
      store.add(
        source,
        toolSpan(`tool ${at}`, `span ${at}`, times(at), { ...fieldsOf(at), attributes }),
      );
      store.add(source, spanOf(at));
    }
    const runs = storedRuns(store);
    const list = listOf(runs);
    const ids = list.runs.map(({ run_id }) => run_id);
    expect(ids).toEqual(
      seconds(300)
        .slice(-ids.length)
        .map((at) => `run ${at}`),
    );
    expect(ids.length).toBeLessThan(300 - 60);
    expect(ids.length).toBeGreaterThan(20);
    expect(list.left_out).toBe(300 - ids.length);
    for (const id of ids) expect((await runs.detail(id))?.spans).toHaveLength(2);
    expect(store.spansOf("alone")).toEqual([]);
    await runs.close();
  });

  it("leaves out the oldest spans of one run that is larger than the limit, and says how many", async () => {
    using folder = new Folder();
    const MIB = 1024 * 1024;
    const leftOut: number[] = [];
    const store = new RunStore(folder.path, {
      mostBytes: 20 * MIB,
      onSpansLeftOut: (spans) => leftOut.push(spans),
    });
    const source = store.addSource(STANDING.spans);
    const attributes = { "entelix.tenant_id": "acme", long: "x".repeat(MIB) };
    let most = 0;
    for (let at = 0; at < 100; at += 1) {
      store.add(source, toolSpan(`tool ${at}`, "span 0", times(0), { ...fieldsOf(0), attributes }));
      const sizes = readdirSync(folder.path).map((name) => statSync(folder.at(name)).size);
      most = Math.max(most, ...sizes);
    }
    store.add(source, spanOf(0));
    // A batch of 4 MiB is written at once.
    expect(most).toBeLessThan(25 * MIB);
    const runs = storedRuns(store);
    const shown = (await runs.detail("run 0"))?.spans ?? [];
    const tools = shown.filter(({ kind }) => kind === "tool");
    expect(tools.length).toBeGreaterThan(5);
    const newest = seconds(100).slice(-tools.length);
    expect(new Set(tools.map(({ span_id }) => span_id))).toEqual(
      new Set(newest.map((at) => `tool ${at}`)),
    );
    expect(shown).toHaveLength(tools.length + 1);
    expect(leftOut.at(-1)).toBe(100 - tools.length);
    await runs.close();
  });
});

describe("traces without a run", () => {
  it("are forgotten when there are too many; their spans stay counted", () => {
    const traces = new Traces();
    for (let at = 0; at <= 110_000; at += 1) traces.addOther(traces.get(`${at}`));
    expect([traces.find("0"), traces.find("110000")?.others]).toEqual([undefined, 1]);
    expect(traces.otherSpans).toBe(110_001);
  });

  it("are retained once they have a run, until that is left out", () => {
    const traces = new Traces();
    const trace = traces.get("t");
    traces.addOther(trace);
    traces.addRun(trace);
    for (let at = 0; at <= 110_000; at += 1) traces.get(`${at}`);
    expect([traces.find("t"), traces.otherSpans]).toEqual([trace, 0]);
    traces.removeRun(trace);
    expect(traces.find("t")).toBeUndefined();
  });
});

function fieldsOf(at: number): Partial<ViewSpan> {
  return {
    run_id: `run ${at}`,
    trace_id: `trace ${at}`,
    attributes: { "entelix.tenant_id": "acme" },
  };
}

function storedRuns(store: RunStore): StoredRuns {
  return new StoredRuns(store, {
    content: true,
    jaeger: undefined,
    sources: () => [],
    ready: Promise.resolve(),
    verify: async () => {},
    close: async () => store.close(),
  });
}
