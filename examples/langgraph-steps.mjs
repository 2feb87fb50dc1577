// A graph that routes a question, looks documents up, asks a sub-agent, and answers: each node is a step.
//
//   npm install entelix-otel langchain @langchain/core @langchain/langgraph zod
//   node examples/langgraph-steps.mjs
import { BaseRetriever } from "@langchain/core/retrievers";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { inSpan, LangChainHandler } from "entelix-otel/langchain";
import { setupTracing } from "entelix-otel/setup";
import { AIMessage, createAgent, fakeModel, HumanMessage, tool } from "langchain";
import { z } from "zod";
import { printTraces } from "./span-tree.mjs";

// Spans into memory, to print them; an application leaves `spanProcessors` out. With an endpoint, they are sent
// there, too.
const memory = new InMemorySpanExporter();
const sends = process.env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
if (!sends) process.env.OTEL_TRACES_EXPORTER = "none";
const tracing = setupTracing({
  serviceName: "shop",
  spanProcessors: [new SimpleSpanProcessor(memory)],
});
const handler = new LangChainHandler({ sink: tracing.createBridge(), tenant: "acme" });

/** Finds the shop's pages, in place of a vector store. */
class ShopPages extends BaseRetriever {
  lc_namespace = ["shop"];

  async _getRelevantDocuments() {
    return [{ id: "refunds", pageContent: "Refunds take 3 days.", metadata: { page: 4 } }];
  }
}
const pages = inSpan(new ShopPages());

const lookUp = inSpan(
  tool(async ({ order }) => ({ order, total: "41.90" }), {
    name: "look_up",
    schema: z.object({ order: z.number() }),
  }),
);

// Models that answer by a script, in place of yours.
const expert = createAgent({
  model: fakeModel()
    .respondWithTools([{ name: "look_up", args: { order: 17 }, id: "call_1" }])
    .respond(new AIMessage("Order 17 was 41.90.")),
  tools: [lookUp],
  name: "expert",
});
const writer = fakeModel().respond(new AIMessage("You get 41.90 back within 3 days."));

const graph = new StateGraph(MessagesAnnotation)
  .addNode("route", async () => ({}))
  .addNode("retrieve", async ({ messages }, config) => {
    const found = await pages.invoke(messages[0].content, config);
    return { messages: found.map(({ pageContent }) => new HumanMessage(pageContent)) };
  })
  .addNode("ask_expert", expert.graph)
  .addNode("answer", async ({ messages }) => ({ messages: [await writer.invoke(messages)] }))
  .addNode("refuse", async () => ({ messages: [new AIMessage("I only know orders.")] }))
  .addEdge(START, "route")
  .addConditionalEdges("route", ({ messages }) =>
    messages[0].content.includes("order") ? "retrieve" : "refuse",
  )
  .addEdge("retrieve", "ask_expert")
  .addEdge("ask_expert", "answer")
  .addEdge("answer", END)
  .addEdge("refuse", END)
  .compile({ name: "support" });

try {
  const question = { messages: [new HumanMessage("When is order 17 refunded?")] };
  await graph.invoke(question, { callbacks: [handler] });
  await handler.flush();
  printTraces(memory.getFinishedSpans());
} finally {
  await tracing.shutdown();
}
