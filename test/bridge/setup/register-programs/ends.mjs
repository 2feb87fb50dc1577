import { FakeListChatModel } from "@langchain/core/utils/testing";
import { createReactAgent } from "@langchain/langgraph/prebuilt";

const llm = new FakeListChatModel({ responses: ["on its way"] });
const agent = createReactAgent({ llm, tools: [] });
const messages = [{ role: "user", content: "question-mark" }];
await agent.invoke({ messages }, { runName: "support" });
if (process.argv[2] === "throw") throw new Error("no such order");
console.log("waits");
setInterval(() => {}, 1000);
