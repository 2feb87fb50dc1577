import { Command, MemorySaver } from "@langchain/langgraph";
import { LangChainHandler } from "entelix-otel/langchain";
import { setupTelemetry } from "entelix-otel/telemetry";
import { AIMessage, createAgent, fakeModel, humanInTheLoopMiddleware, tool } from "langchain";
import { z } from "zod";

const telemetry = setupTelemetry({ serviceName: "shop" });
// Shows texts, and who approved: both are off by default.
const sink = telemetry.createBridge({ captureContent: true, approvalPerson: true });
const handler = new LangChainHandler({
  sink,
  tenant: "acme",
  decidedBy: (_decision, { approver }) => (typeof approver === "string" ? approver : undefined),
});

const schema = z.object({ order: z.number() });
const lookUp = tool(({ order }) => `order ${order}: 41.90, delivered twice`, {
  name: "look_up",
  description: "an order by its number",
  schema,
});
const refund = tool(({ order }) => `refunded order ${order}`, {
  name: "refund",
  description: "pays an order back",
  schema,
});

// A script instead of a model, so that it runs without a key.
// Yours, with @langchain/openai and OPENAI_API_KEY: const model = "openai:gpt-5";
const model = fakeModel()
  .respondWithTools([{ name: "look_up", args: { order: 17 }, id: "call_1" }])
  .respondWithTools([{ name: "refund", args: { order: 17 }, id: "call_2" }])
  .respond(new AIMessage("You have your money back."));
const agent = createAgent({
  name: "support",
  model,
  tools: [lookUp, refund],
  middleware: [humanInTheLoopMiddleware({ interruptOn: { refund: true } })],
  checkpointer: new MemorySaver(),
});

const config = { callbacks: [handler], configurable: { thread_id: "conversation-1" } };
try {
  const question = { role: "user", content: "I was charged twice for order 17." };
  await agent.invoke({ messages: [question] }, config);

  // The run waits for a person, who approves: here at once, in a second run.
  const answer = new Command({ resume: { decisions: [{ type: "approve" }] } });
  const { messages } = await agent.invoke(answer, { ...config, metadata: { approver: "ann" } });
  console.log(messages.at(-1)?.text);
} finally {
  await telemetry.shutdown(); // sends what waits, also of a run that failed
}
