// A graph that pauses for a person's word before it refunds, and its resumption in a second run.
//
//   npm install entelix-otel @langchain/core @langchain/langgraph zod
//   node examples/langgraph.mjs
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { inSpan, LangChainHandler } from "entelix-otel/langchain";
import { setupTracing } from "entelix-otel/setup";
import { z } from "zod";
import { printTraces } from "./span-tree.mjs";

// Spans into memory, to print them; an application leaves `spanProcessors` out.
const memory = new InMemorySpanExporter();
process.env.OTEL_TRACES_EXPORTER = "none";
const tracing = setupTracing({
  serviceName: "shop",
  spanProcessors: [new SimpleSpanProcessor(memory)],
});
const handler = new LangChainHandler({ sink: tracing.createBridge(), tenant: "acme" });

const order = z.object({ order: z.number() });
const lookUp = inSpan(
  tool(async ({ order }) => ({ order, total: "41.90" }), { name: "look_up", schema: order }),
);
const refund = inSpan(
  tool(
    async ({ order }) => {
      const word = interrupt({ question: `Refund order ${order}?` });
      return word === "yes" ? "refunded" : "kept";
    },
    { name: "refund", schema: order },
  ),
);

// A model that answers by a script, in place of yours.
const llm = fakeModel()
  .respondWithTools([{ name: "look_up", args: { order: 17 }, id: "call_1" }])
  .respondWithTools([{ name: "refund", args: { order: 17 }, id: "call_2" }])
  .respond(new AIMessage("Order 17 is refunded."));
const agent = createReactAgent({ llm, tools: [lookUp, refund], checkpointer: new MemorySaver() });

const config = {
  callbacks: [handler],
  runName: "support",
  configurable: { thread_id: "conversation-1" },
};
try {
  const paused = await agent.invoke({ messages: [new HumanMessage("Refund order 17")] }, config);
  console.log("asked:", paused.__interrupt__[0].value.question);

  await agent.invoke(new Command({ resume: "yes" }), config);
  await handler.flush();
  printTraces(memory.getFinishedSpans());
  const [, second] = memory
    .getFinishedSpans()
    .filter(({ name }) => name === "invoke_agent support");
  console.log("second run goes on from the first:", second.links.length === 1);
} finally {
  await tracing.shutdown();
}
