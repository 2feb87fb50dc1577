// A model and a tool that ask the service whose address is the argument.
import "./instrumented.mjs";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { z } from "zod";

const ask = async (path) => (await fetch(process.argv[2] + path)).text();
const CALL = { name: "look", id: "c1", args: {} };

class Model extends BaseChatModel {
  _llmType() {
    return "small";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const text = await ask("/model");
    const asked = messages.some((message) => message.getType() === "tool");
    const message = new AIMessage({ content: text, tool_calls: asked ? [] : [CALL] });
    return { generations: [{ text, message }] };
  }
}

class Streaming extends Model {
  async *_streamResponseChunks() {
    const text = await ask("/model");
    yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
  }
}

const look = tool(() => ask("/tool"), { name: "look", description: "", schema: z.object({}) });
const asked = { messages: [{ role: "user", content: "hi" }] };
await createReactAgent({ llm: new Model({}), tools: [look] }).invoke(asked, { runName: "agent" });
const streams = createReactAgent({ llm: new Streaming({}), tools: [] });
for await (const _ of await streams.stream(asked, { runName: "streams", streamMode: "messages" }));
