// A payment that waits for a person, in LangGraph. The node `review` asks and continues as LangChain's
// `humanInTheLoopMiddleware` does, so that the example needs LangGraph alone. With `createAgent`, use the
// middleware in its place.
//
//   node examples/payment/langgraph.mjs
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { LangChainHandler } from "entelix-otel/langchain";
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
  const graph = treasurer();
  await graph.invoke({ messages: [new HumanMessage("Pay 900 to Ada.")] }, config);
  await graph.invoke(new Command({ resume: { decisions: [answers[decision]] } }), config);
  await handler.flush();
});

function treasurer() {
  const llm = fakeModel()
    .respondWithTools([{ name: "pay", args: { amount: 900 }, id: "call_1" }])
    .respond(new AIMessage("Done."));
  const pay = tool(async ({ amount }) => `paid ${amount}`, {
    name: "pay",
    schema: z.object({ amount: z.number() }),
  });
  const lastOf = ({ messages }) => messages.at(-1);
  return new StateGraph(MessagesAnnotation)
    .addNode("ask", async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
    .addNode("review", review)
    .addNode("tools", new ToolNode([pay]))
    .addEdge(START, "ask")
    .addConditionalEdges("ask", (state) => (lastOf(state).tool_calls?.length > 0 ? "review" : END))
    .addConditionalEdges("review", (state) =>
      ToolMessage.isInstance(lastOf(state)) ? "ask" : "tools",
    )
    .addEdge("tools", "ask")
    .compile({ name: "treasurer", checkpointer: new MemorySaver() });
}

function review({ messages }) {
  const answer = messages.at(-1);
  const [call] = answer.tool_calls;
  const { decisions } = interrupt({
    actionRequests: [{ name: call.name, args: call.args, description: "A payment above 100." }],
    reviewConfigs: [{ actionName: call.name, allowedDecisions: DECISIONS }],
  });
  const [{ editedAction, message, type }] = decisions;
  if (type === "reject") {
    return {
      messages: [new ToolMessage({ content: message, tool_call_id: call.id, status: "error" })],
    };
  }
  answer.tool_calls = [{ ...call, ...editedAction }];
  return { messages: [answer] };
}
