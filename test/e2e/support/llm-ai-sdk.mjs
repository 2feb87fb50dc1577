// An agent of the AI SDK 7 over OpenAI's Responses API. Its tool embeds a text.
import { createOpenAI } from "@ai-sdk/openai";
import { embed, isStepCount, ToolLoopAgent, tool } from "ai";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
import { z } from "zod";
import { eachVariant, fails, found, INSTRUCTIONS, USER } from "./llm-variants.mjs";

const openai = createOpenAI({ apiKey: "none", baseURL: process.env.OPENAI_BASE_URL });
const inputSchema = z.object({ order: z.number() });

await eachVariant("ai-sdk", (sink) => {
  let conversation;
  const integrations = new AiSdkTelemetry({
    sink,
    tenant: "acme",
    context: () => ({ user: USER }),
    thread: () => conversation,
  });
  const telemetry = { functionId: "support", integrations };
  const lookUp = async ({ order }) => {
    const model = openai.embedding("text-embedding-3-small");
    await embed({ model, value: `order ${order}`, telemetry });
    return found(order);
  };
  const agent = new ToolLoopAgent({
    model: openai("gpt-4o-mini"),
    instructions: INSTRUCTIONS,
    temperature: 0.2,
    maxRetries: 0,
    stopWhen: isStepCount(5),
    telemetry,
    tools: {
      look_up: tool({ description: "What is known of an order.", inputSchema, execute: lookUp }),
      refund: tool({ description: "Pays back.", inputSchema, execute: fails }),
    },
  });
  return {
    ask: (prompt, thread) => {
      conversation = thread;
      return agent.generate({ prompt });
    },
    flush: () => integrations.flush(),
  };
});
