import { describe, expect, it } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { inOwnRuns } from "../../../src/view/runs/other-runs.ts";
import { RunIndex } from "../../../src/view/runs/run-index.ts";
import { rowOf } from "../../../src/view/runs/run-row.ts";
import { withVocabulary } from "../../../src/view/sources/other-span.ts";
import { at, viewSpan } from "../support/view-span.ts";

function other(id: string, parent: string | undefined, from: number, attributes: object): ViewSpan {
  const { run_id, ...span } = viewSpan(id, parent, { from, to: 100 - from }, { kind: "other" });
  return withVocabulary({ ...span, attributes: { ...attributes } });
}

const http = other("http", undefined, 0, { "http.request.method": "POST" });
const agent = other("agent", "http", 1, {
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.agent.name": "support",
  "gen_ai.usage.input_tokens": 999,
  "gen_ai.usage.output_tokens": 99,
  "gen_ai.usage.cost": 9,
});
const models = [0.1, 0.2].map((cost, call) =>
  other(`model ${call}`, "agent", 2 + call, {
    "openinference.span.kind": "LLM",
    "llm.token_count.prompt": 10,
    "llm.token_count.completion": 2,
    "llm.cost.total": cost,
  }),
);

function rowsOf(spans: readonly ViewSpan[]) {
  const index = new RunIndex();
  for (const span of spans) index.addSpan(span, 1);
  index.others.settle();
  return [...index.runs()].map((run) => rowOf(run));
}

describe("a run of this package with spans of others", () => {
  const run = viewSpan("run", undefined, { from: 0, to: 100 }, { kind: "run" });
  const own = viewSpan("own", "run", { from: 1, to: 90 }, { kind: "model" });
  const kinds = (spans: readonly ViewSpan[]) =>
    inOwnRuns(spans).map(({ kind, span_id }) => `${span_id} ${kind}`);
  const tool = other("tool", "agent", 4, { "gen_ai.operation.name": "execute_tool" });

  it("does not count a call twice", () => {
    expect(kinds([run, own, agent, ...models, tool, http])).toEqual([
      "run run",
      "own model",
      "agent step",
      "model 0 other",
      "model 1 other",
      "tool tool",
      "http other",
    ]);
  });

  it("has the model calls of others if it has none of its own", () => {
    expect(kinds([run, ...models])).toEqual(["run run", "model 0 model", "model 1 model"]);
  });
});

describe("a run of other instrumentation", () => {
  const usage = { input_tokens: 20, output_tokens: 4, cost_usd: "0.3" };

  it.each([
    ["by end, as programs send them", [...models, agent, http]],
    ["by start, as files have them", [http, agent, ...models]],
    ["mixed", [...models.slice(0, 1), agent, ...models.slice(1), http]],
  ])("has the exact sum of its calls, with spans %s", (_, spans) => {
    const [row, ...more] = rowsOf(spans);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ ...usage, agent: "support", outcome: "complete", run_id: "trace" });
  });

  it("has the usage of the outermost agent if no call has any", () => {
    const inner = other("inner", "agent", 2, {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.usage.input_tokens": 5,
    });
    const root = { ...agent, parent_span_id: undefined };
    const { parent_span_id, ...outer } = root;
    for (const spans of [
      [inner, outer],
      [outer, inner],
    ]) {
      const [row] = rowsOf(spans);
      expect(row).toMatchObject({ input_tokens: 999, output_tokens: 99, cost_usd: "9" });
    }
  });

  it("has the agent that a span in it names, under the span of a request", () => {
    const step = other("step", "http", 1, {
      "openinference.span.kind": "CHAIN",
      metadata: '{"lc_agent_name":"support"}',
    });
    const [row] = rowsOf([...models, step, http]);
    expect(row).toMatchObject({ ...usage, agent: "support", outcome: "complete" });
    expect(row?.start_ns).toBe(at(0));
  });
});
