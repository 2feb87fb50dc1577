import { AIMessage, createAgent, fakeModel } from "langchain";

const model = fakeModel().respond(new AIMessage("Order 17 is on its way."));
const agent = createAgent({ name: "support", model, tools: [] });
const question = { role: "user", content: "Where is order 17?" };
const { messages } = await agent.invoke({ messages: [question] });
console.log(messages.at(-1).text);
