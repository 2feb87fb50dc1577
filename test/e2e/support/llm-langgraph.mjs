// An agent of LangGraph over OpenAI's Chat Completions. Its tool asks a retriever.
import { Document } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { LangChainHandler } from "entelix-otel/langchain";
import { z } from "zod";
import { eachVariant, fails, found, INSTRUCTIONS, USER } from "./llm-variants.mjs";

class Orders extends BaseRetriever {
  lc_namespace = ["shop"];

  async _getRelevantDocuments() {
    return [new Document({ pageContent: "Order 17 was delivered.", metadata: { page: 3 } })];
  }
}

const schema = z.object({ order: z.number() });
const lookUp = async ({ order }, config) => {
  await new Orders().invoke(`order ${order}`, config);
  return JSON.stringify(found(order));
};
const tools = [
  tool(lookUp, { name: "look_up", description: "What is known of an order.", schema }),
  tool(fails, { name: "refund", description: "Pays back.", schema }),
];
const llm = new ChatOpenAI({
  model: "gpt-4o-mini",
  apiKey: "none",
  maxRetries: 0,
  temperature: 0.2,
  configuration: { baseURL: process.env.OPENAI_BASE_URL },
});
const agent = createReactAgent({ llm, tools, prompt: INSTRUCTIONS });

await eachVariant("langgraph", (sink) => {
  const handler = new LangChainHandler({ sink, tenant: "acme", context: () => ({ user: USER }) });
  return {
    ask: (content, thread_id) =>
      agent.invoke(
        { messages: [{ role: "user", content }] },
        { callbacks: [handler], runName: "support", configurable: { thread_id } },
      ),
    flush: () => handler.flush(),
  };
});
