// A payment that waits for a person, in LangGraph with LangChain's `humanInTheLoopMiddleware`.
//
//   node examples/payment/langgraph.mjs
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { LangChainHandler } from "entelix-otel/langchain";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { z } from "zod";
import { DECISIONS, report } from "./report.mjs";

const answers = {
  approve: { type: "approve" },
  edit: { type: "edit", editedAction: { name: "pay", args: { amount: 90 } } },
  reject: { type: "reject", message: "too much" },
};

await report(DECISIONS, async (decision, sink) => {
  // The decisions do not say who made them, so the application does.
  const handler = new LangChainHandler({ sink, tenant: "acme", decidedBy: () => "eve" });
  const config = { callbacks: [handler], configurable: { thread_id: "t1" } };
  const agent = treasurer();
  await agent.invoke({ messages: [{ role: "user", content: "Pay 900 to Ada." }] }, config);
  await agent.invoke(new Command({ resume: { decisions: [answers[decision]] } }), config);
  await handler.flush();
});

function treasurer() {
  const model = fakeModel()
    .respondWithTools([{ name: "pay", args: { amount: 900 }, id: "call_1" }])
    .respond(new AIMessage("Done."));
  const pay = tool(async ({ amount }) => `paid ${amount}`, {
    name: "pay",
    schema: z.object({ amount: z.number() }),
  });
  const review = humanInTheLoopMiddleware({
    interruptOn: { pay: { allowedDecisions: DECISIONS } },
  });
  return createAgent({
    name: "treasurer",
    model,
    tools: [pay],
    middleware: [review],
    checkpointer: new MemorySaver(),
  });
}
