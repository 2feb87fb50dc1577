import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { RunStore, STANDING } from "../../../src/view/runs/run-store.ts";
import { StoredRuns } from "../../../src/view/runs/stored-runs.ts";
import { withVocabulary } from "../../../src/view/sources/other-span.ts";
import { Folder } from "../../cli/support/folder.ts";
import { runs as cases } from "../../support/runs.ts";
import { listOf } from "../support/opened.ts";
import { at, runSpan, viewSpan } from "../support/view-span.ts";

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

/** The list, and the spans of each run, after these spans came in this order. */
async function listed(spans: readonly ViewSpan[], content = true) {
  using folder = new Folder();
  const store = new RunStore(folder.path);
  const source = store.addSource(STANDING.spans);
  for (const span of spans) store.add(source, span);
  const runs = new StoredRuns(store, {
    content,
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
      { agent: "support", outcome: "complete", end_ns: at(100), spans: 6 },
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

describe("spans without an agent", () => {
  it("are no run", async () => {
    const { list } = await listed([TREE[0]].flatMap((each) => each ?? []));
    expect([list.runs, list.other_spans]).toEqual([[], 1]);
  });
});
