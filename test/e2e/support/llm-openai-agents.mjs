// An agent of the OpenAI Agents SDK over OpenAI's Responses API.
import {
  Agent,
  run,
  setDefaultOpenAIClient,
  setTraceProcessors,
  tool,
  withTrace,
} from "@openai/agents";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import OpenAI from "openai";
import { z } from "zod";
import { eachVariant, fails, found, INSTRUCTIONS, USER } from "./llm-variants.mjs";

setDefaultOpenAIClient(
  new OpenAI({ apiKey: "none", baseURL: process.env.OPENAI_BASE_URL, maxRetries: 0 }),
);
const parameters = z.object({ order: z.number() });
const agent = new Agent({
  name: "support",
  instructions: INSTRUCTIONS,
  model: "gpt-4o-mini",
  modelSettings: { temperature: 0.2 },
  tools: [
    tool({
      name: "look_up",
      description: "What is known of an order.",
      parameters,
      execute: async ({ order }) => JSON.stringify(found(order)),
    }),
    tool({ name: "refund", description: "Pays back.", parameters, execute: fails }),
  ],
});

await eachVariant("openai-agents", (sink) => {
  const context = () => ({ user: USER });
  const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme", context });
  setTraceProcessors([processor]);
  return {
    ask: (question, groupId) => withTrace("support", () => run(agent, question), { groupId }),
    flush: () => processor.forceFlush(),
  };
});
