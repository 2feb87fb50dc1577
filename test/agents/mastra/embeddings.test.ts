import { expect, it } from "vitest";
import { FakeSpan, listen } from "./fake-mastra.ts";

const asked = {
  input: "question-mark",
  attributes: { mode: "query", model: "vector-1", provider: "openai.embedding", inputCount: 1 },
};

it("embeddings in a tool are model calls of it, with their tokens", () => {
  const heard = listen({ price: ({ usage }) => String(usage.input_tokens) });
  const agent = new FakeSpan(heard.telemetry, "agent_run", undefined, { entityName: "support" });
  const tool = agent.child("tool_call", { entityName: "search" });
  const embedding = tool.child("rag_embedding", asked);
  embedding.end({ attributes: { ...asked.attributes, dimensions: 3, usage: { inputTokens: 7 } } });
  tool.end({ output: {} });
  agent.end({ output: { text: "x" } });
  const [call] = heard.ofType("tool_start");
  const [start] = heard.ofType("model_start");
  expect(start).toMatchObject({
    operation: "embeddings",
    model: "vector-1",
    provider: "openai",
    input: [{ role: "user", parts: [{ type: "text", content: "question-mark" }] }],
  });
  expect(start?.sentIn.details?.tool_use_id).toBe(call?.tool_use_id);
  expect(heard.ofType("model_complete")).toMatchObject([
    { usage: { input_tokens: 7 }, cost_usd: "7", parameters: { dimension_count: 3 } },
  ]);
  expect(heard.ofType("complete")[0]?.usage).toMatchObject({ requests: 1, input_tokens: 7 });
});

it("embeddings that fail are failed model calls, and those that stay open are cut", () => {
  const heard = listen({}, "none");
  const agent = new FakeSpan(heard.telemetry, "agent_run", undefined, { entityName: "support" });
  const failed = agent.child("rag_embedding", asked);
  failed.end({ errorInfo: { message: "slow down", name: "Error" } });
  agent.child("rag_embedding", asked);
  agent.end({ output: { text: "x" } });
  expect(heard.ofType("model_error").map(({ error, kind }) => [error, kind.type])).toEqual([
    ["slow down", "model_dispatch"],
    [expect.any(String), "cancelled"],
  ]);
  expect(JSON.stringify(heard.sent)).not.toContain("-mark");
  expect(heard.counts()).toEqual({});
});
