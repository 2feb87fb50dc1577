import { FakeListChatModel } from "@langchain/core/utils/testing";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { LangChainHandler } from "entelix-otel/langchain";

const sent = [];
const sink = { send: (event) => void sent.push(event.type) };
const callbacks = [new LangChainHandler({ sink, tenant: "acme" })];
const llm = new FakeListChatModel({ responses: ["on its way"] });
const agent = createReactAgent({ llm, tools: [] });
await agent.invoke({ messages: [{ role: "user", content: "hi" }] }, { callbacks });
console.log(sent.filter((type) => type === "started").length);
