import { FakeListChatModel } from "@langchain/core/utils/testing";
import { createReactAgent } from "@langchain/langgraph/prebuilt";

const llm = new FakeListChatModel({ responses: ["on its way"] });
const agent = createReactAgent({ llm, tools: [] });
const messages = [{ role: "user", content: "question-mark" }];
await agent.invoke({ messages }, { runName: "support" });
console.log("done");
process.exitCode = 3;
