// Two runs of a LangGraph agent, sent as the environment says: one that answers although a tool fails, and one whose
// model fails. The model is scripted.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { LangChainHandler } from "entelix-otel/langchain";
import { setupTracing } from "entelix-otel/setup";
import { z } from "zod";

const tracing = setupTracing({ serviceName: "llm-langgraph", shutdownTimeoutMs: 180_000 });
const handler = new LangChainHandler({ sink: tracing.createBridge(), tenant: "acme" });

const schema = z.object({ order: z.number() });
const lookUp = tool(({ order }) => ({ order, state: "delivered" }), { name: "look_up", schema });
const refund = tool(
  () => {
    throw new RangeError("the payment gateway is away");
  },
  { name: "refund", schema },
);

const says = (content, calls, input_tokens, output_tokens) =>
  new AIMessage({
    content,
    tool_calls: calls.map(([name, id]) => ({ type: "tool_call", name, id, args: { order: 17 } })),
    usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
    response_metadata: { finish_reason: calls.length > 0 ? "tool_calls" : "stop" },
  });

const ask = (llm, runName, thread_id) =>
  createReactAgent({ llm, tools: [lookUp, refund] }).invoke(
    { messages: [new HumanMessage("Refund order 17.")] },
    { callbacks: [handler], runName, configurable: { thread_id } },
  );

const calls = [
  ["look_up", "call_1"],
  ["refund", "call_2"],
];
const answers = fakeModel()
  .respond(says("", calls, 31, 7))
  .respond(says("A colleague will refund you.", [], 52, 9));
await ask(answers, "answers", "langgraph-1");

const fails = fakeModel().respond(new Error("the model is away"));
await ask(fails, "fails", "langgraph-2").catch(() => undefined);

await handler.flush();
await tracing.shutdown();
