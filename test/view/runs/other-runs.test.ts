import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { RunStore, STANDING } from "../../../src/view/runs/run-store.ts";
import { SpanSpool } from "../../../src/view/runs/span-spool.ts";
import { StoredRuns } from "../../../src/view/runs/stored-runs.ts";
import { withVocabulary } from "../../../src/view/sources/other-span.ts";
import { Folder } from "../../cli/support/folder.ts";
import { runs as cases } from "../../support/runs.ts";
import { listOf } from "../support/opened.ts";
import { at, runSpan, T0, viewSpan } from "../support/view-span.ts";

/** A span of other instrumentation. */
function other(
  id: string,
  parent: string | undefined,
  [from, to]: readonly [number, number],
  attributes: ViewSpan["attributes"],
  rest: Partial<ViewSpan> = {},
): ViewSpan {
  const { run_id: _, ...span } = viewSpan(id, parent, { from, to }, { kind: "other", ...rest });
  return withVocabulary({ ...span, attributes });
}

const AGENT = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support" };
const CHAT = {
  "gen_ai.operation.name": "chat",
  "gen_ai.usage.input_tokens": 31,
  "gen_ai.usage.output_tokens": 7,
};
const TREE = [
  other("request", undefined, [0, 100], { "http.request.method": "POST" }),
  other("agent", "request", [10, 90], AGENT, { failed: true }),
  other("chat 1", "agent", [20, 30], CHAT),
  other("search", "agent", [30, 40], { "gen_ai.operation.name": "execute_tool" }),
  other("sub", "search", [32, 38], { ...AGENT, "gen_ai.agent.name": "expert" }),
  other("chat 2", "sub", [33, 37], CHAT),
];

/** The list, and the spans of each run, after these spans came in this order, from one source or several. */
async function listed(spans: readonly ViewSpan[], ...copies: (readonly ViewSpan[])[]) {
  using folder = new Folder();
  const store = new RunStore(folder.path);
  for (const all of [spans, ...copies]) {
    const source = store.addSource(STANDING.spans);
    for (const span of all) store.add(source, span);
  }
  const runs = new StoredRuns(store, {
    content: true,
    jaeger: undefined,
    sources: () => [],
    ready: Promise.resolve(),
    verify: async () => {},
    close: async () => store.close(),
  });
  const list = listOf(runs);
  const details = await Promise.all(list.runs.map(({ key }) => runs.detail(key)));
  await runs.close();
  return { list, spans: details.map((detail) => detail?.spans.map(({ span_id }) => span_id)) };
}

describe("a trace of other instrumentation", () => {
  it("is one run with its outermost agent, all spans and the tokens of its calls, in any order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(TREE.slice(1), { minLength: 5 }), async (spans) => {
        const { list, spans: shown } = await listed(spans);
        expect(list.runs).toEqual([
          {
            key: "trace",
            run_id: "trace",
            tenant_id: "",
            trace_id: "trace",
            agent: "support",
            outcome: "failed",
            start_ns: at(10),
            end_ns: at(90),
            working_ms: 80,
            input_tokens: 62,
            output_tokens: 14,
            spans: 5,
            rows: 0,
            child_runs: 0,
          },
        ]);
        expect(shown).toEqual([["agent", "chat 1", "search", "sub", "chat 2"]]);
      }),
      { numRuns: cases(200) },
    );
  });

  it("ends with the span around it", async () => {
    const { list, spans } = await listed([...TREE.slice(1), ...TREE.slice(0, 1)]);
    expect(list.runs).toMatchObject([
      { agent: "support", outcome: "failed", end_ns: at(100), spans: 6 },
    ]);
    expect(spans).toEqual([["request", "agent", "chat 1", "search", "sub", "chat 2"]]);
  });

  it("is open until its agent ends", async () => {
    expect((await listed(TREE.slice(2, 4))).list.runs).toMatchObject([
      { outcome: "open", end_ns: null, input_tokens: 31 },
    ]);
  });

  it("is a part of a run of this package, whichever comes first", async () => {
    const own = runSpan("own", undefined, { from: 0, to: 100 });
    const chat = other("chat 1", "own", [20, 30], CHAT);
    for (const spans of [
      [own, chat],
      [chat, own],
    ]) {
      const { list, spans: shown } = await listed(spans);
      expect(list.runs.map(({ key, spans }) => [key, spans])).toEqual([["run", 1]]);
      expect(list.other_spans).toBe(0);
      expect(shown).toEqual([["own", "chat 1"]]);
    }
  });

  it("is removed from the page when a run of this package comes", async () => {
    using folder = new Folder();
    const store = new RunStore(folder.path);
    const source = store.addSource(STANDING.spans);
    store.add(source, other("chat 1", "own", [20, 30], CHAT));
    const before = store.index.publish();
    store.add(source, runSpan("own", undefined, { from: 0, to: 100 }));
    store.index.publish();
    expect(store.rebuiltAt).toBeGreaterThan(before);
    store.close();
  });
});

/** What the list says of the only run. */
async function runOf(...spans: readonly ViewSpan[]) {
  const { agent, answer, end_ns, error, outcome, question } =
    (await listed(spans)).list.runs[0] ?? {};
  const end = end_ns === null || end_ns === undefined ? null : Number(BigInt(end_ns) - T0) / 1e6;
  return { agent, answer, end, error, outcome, question };
}

const said = (role: string, content: string) =>
  JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
const named = (name: string): ViewSpan["attributes"] => ({
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.agent.name": name,
  "gen_ai.input.messages": said("user", `${name}?`),
  "gen_ai.output.messages": said("assistant", `${name}.`),
});
const FAILED = { failed: true, message: "broken" };
const HTTP = { "http.request.method": "POST" };

describe("the outcome of a run of other instrumentation", () => {
  it("is that of its agent under a request that succeeded, in any order", async () => {
    const request = other("request", undefined, [0, 100], HTTP);
    const agent = other("agent", "request", [10, 50], named("main"), FAILED);
    for (const spans of [
      [request, agent],
      [agent, request],
    ]) {
      expect(await runOf(...spans)).toMatchObject({
        agent: "main",
        end: 100,
        error: "broken",
        outcome: "failed",
        question: "main?",
      });
    }
  });

  it("is that of the agent around another one, which came later or has a clock that is ahead", async () => {
    const main = other("main", undefined, [0, 100], named("main"));
    const sub = other("sub", "main", [10, 150], named("sub"), FAILED);
    for (const spans of [
      [main, sub],
      [sub, main],
    ]) {
      expect(await runOf(...spans)).toEqual({
        agent: "main",
        answer: "main.",
        end: 100,
        error: undefined,
        outcome: "complete",
        question: "main?",
      });
    }
  });

  it("is that of its calls under a remote parent that sends no spans", async () => {
    const request = other("request", "elsewhere", [0, 100], HTTP);
    const chat = other("chat", "request", [1, 9], CHAT, FAILED);
    expect(await runOf(chat, request)).toMatchObject({ end: 100, outcome: "failed" });
    expect(await runOf(chat)).toMatchObject({ end: null, outcome: "open" });
    const retry = other("retry", "request", [10, 19], CHAT);
    expect(await runOf(retry, chat, request)).toMatchObject({ end: 100, outcome: "complete" });
    const remote = { ...FAILED, remote_parent: true };
    expect(await runOf(other("chat", "elsewhere", [1, 9], CHAT, remote))).toMatchObject({
      end: 9,
      error: "broken",
      outcome: "failed",
    });
  });

  it("is that of a graph under a remote parent, until the parent comes", async () => {
    const chain = { "openinference.span.kind": "CHAIN", "input.value": "q" };
    const graph = other("Graph", "main", [10, 50], chain, FAILED);
    expect(await runOf(graph)).toMatchObject({ agent: "Graph", end: 50, outcome: "failed" });
    const remote = other("Graph", "main", [10, 50], chain, { ...FAILED, remote_parent: true });
    expect(await runOf(remote)).toMatchObject({ agent: "Graph", outcome: "failed", question: "q" });
    // The sender says that the graph around this step has not ended.
    const local = other("Graph", "main", [10, 50], chain, { ...FAILED, remote_parent: false });
    expect(await runOf(local)).toMatchObject({ end: null, outcome: "open" });
    const main = other("main", undefined, [0, 100], named("main"));
    for (const each of [graph, remote, local]) {
      expect(await runOf(each, main)).toMatchObject({
        agent: "main",
        end: 100,
        outcome: "complete",
      });
    }
  });

  it("is the same in every order of the spans", async () => {
    const parts = fc.record({
      kind: fc.constantFrom("agent", "chat", "tool", "chain", "http"),
      failed: fc.boolean(),
      // One with a later number is missing or makes a ring.
      parent: fc.integer({ min: -1, max: 8 }),
      from: fc.integer({ min: 0, max: 50 }),
      ms: fc.integer({ min: 1, max: 50 }),
      remote: fc.constantFrom(undefined, true, false),
    });
    const kinds = {
      agent: AGENT,
      chat: CHAT,
      tool: { "gen_ai.operation.name": "execute_tool" },
      chain: { "openinference.span.kind": "CHAIN" },
      http: HTTP,
    };
    const all = fc.array(parts, { minLength: 1, maxLength: 7 }).chain((drawn) => {
      const spans = drawn.map(({ failed, from, kind, ms, parent, remote }, at) =>
        other(`${at}`, parent < 0 ? undefined : `${parent}`, [from, from + ms], kinds[kind], {
          failed,
          ...(remote === undefined ? {} : { remote_parent: remote }),
        }),
      );
      return fc.tuple(fc.constant(spans), fc.shuffledSubarray(spans, { minLength: spans.length }));
    });
    await fc.assert(
      fc.asyncProperty(all, async ([spans, shuffled]) => {
        const [one, other] = [await listed(spans), await listed(shuffled)];
        expect(other.list.runs).toEqual(one.list.runs);
      }),
      { numRuns: cases(300) },
    );
  });
});

describe("an agent of others beside a run of this package", () => {
  it("is a run of its own, in any order of the spans", async () => {
    const own = runSpan("own", "elsewhere", { from: 20, to: 30 });
    const spans = [
      own,
      other("agent", "elsewhere", [5, 9], named("main"), FAILED),
      other("chat", "agent", [6, 8], CHAT),
      other("below", "own", [21, 22], { ...CHAT, "gen_ai.usage.input_tokens": 1000 }),
    ];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(spans, { minLength: 4 }), async (all) => {
        const { list, spans: shown } = await listed(all);
        const found = list.runs.map(({ agent, error, input_tokens, outcome, spans }, at) => {
          return [agent, outcome, error, input_tokens, spans, shown[at]];
        });
        expect(found).toHaveLength(2);
        expect(found).toEqual(
          expect.arrayContaining([
            ["planner", "open", undefined, undefined, 1, ["own", "below"]],
            ["main", "failed", "broken", 31, 2, ["agent", "chat"]],
          ]),
        );
      }),
      { numRuns: cases(24) },
    );
  });
});

describe("spans that come twice", () => {
  it("count once, also those of a copy in another source", async () => {
    const { list, spans } = await listed(TREE);
    expect(await listed([...TREE, ...TREE])).toEqual({ list: expect.anything(), spans });
    expect((await listed([...TREE, ...TREE])).list.runs).toEqual(list.runs);
    const copied = await listed(TREE, [...TREE].reverse(), TREE);
    expect([copied.list.runs, copied.spans]).toEqual([list.runs, spans]);
  });

  it("count once in a run of this package", async () => {
    const all = [
      viewSpan("chat", "own", { from: 5, to: 9 }, { kind: "model" }),
      runSpan("own", undefined, { from: 0, to: 10 }),
    ];
    const [chat, run] = all;
    const twice = await listed([chat, chat, run].flatMap((span) => span ?? []));
    expect(twice.list.runs).toMatchObject([{ spans: 2 }]);
    expect((await listed(all, all)).list.runs).toMatchObject([{ spans: 2 }]);
  });

  it("are there when the source of the first ones was replaced", async () => {
    using folder = new Folder();
    const store = new RunStore(folder.path);
    const [one, other] = [store.addSource(STANDING.spans), store.addSource(STANDING.spans)];
    for (const source of [one, other]) for (const span of TREE) store.add(source, span);
    store.forget(one);
    store.look();
    expect([...store.index.runs()].map(({ spans }) => spans)).toEqual([6]);
    expect(store.spansOf("trace")).toHaveLength(6);
    store.close();
  });

  it("count once when the facts of their trace are not in memory any more", async () => {
    using folder = new Folder();
    const store = new RunStore(folder.path);
    const source = store.addSource(STANDING.spans);
    for (const span of TREE) store.add(source, span);
    const read = vi.spyOn(SpanSpool.prototype, "read");
    // Each trace counts as one span: twice the bound forgets all before.
    for (let at = 0; at < 220_000; at += 1) {
      store.index.others.factsOf(store.index.traces.get(`trace ${at}`));
    }
    expect(read).not.toHaveBeenCalled();
    for (const span of TREE) store.add(source, span);
    expect(read.mock.calls).toMatchObject([[{ id: "trace" }]]);
    read.mockRestore();
    store.look();
    expect([...store.index.runs()].map(({ spans }) => spans)).toEqual([6]);
    store.close();
  });
});

describe("spans without an agent", () => {
  it("are no run", async () => {
    const { list } = await listed([TREE[0]].flatMap((each) => each ?? []));
    expect([list.runs, list.other_spans]).toEqual([[], 1]);
  });
});
