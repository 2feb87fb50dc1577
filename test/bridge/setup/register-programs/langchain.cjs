const { FakeListChatModel } = require("@langchain/core/utils/testing");
const { createReactAgent } = require("@langchain/langgraph/prebuilt");

const llm = new FakeListChatModel({ responses: ["on its way"] });
const agent = createReactAgent({ llm, tools: [] });
const messages = [{ role: "user", content: "question-mark" }];
agent.invoke({ messages }, { runName: "support" }).then(() => console.log("done"));
