import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { LangChainHandler } from "../../../../src/entries/langchain.ts";
import { reactAgent } from "../../langchain/agents.ts";
import { says } from "../../langchain/scripted-model.ts";
import { codeOf, type Driver, INPUT, settled, WHOLE } from "../driver.ts";

export const langchain: Driver = {
  name: "LangChain",
  has: WHOLE,
  async play(options, scene) {
    const handler = new LangChainHandler(options);
    const work = codeOf(scene);
    const schema = z.object({ a: z.number(), b: z.number() });
    const add = tool(async () => String(await work()), { name: "add", description: "", schema });
    const script = [says("", ["add", "c1", INPUT]), scene.modelThrows ?? says("answer-mark")];
    const asked = { messages: [{ role: "user", content: "question-mark" }] };
    const { given, thrown } = await settled(
      reactAgent(script, [add]).invoke(asked, { callbacks: [handler] }),
    );
    await handler.flush();
    return {
      answer: given === undefined ? undefined : String(given.messages.at(-1)?.content),
      thrown,
      counts: handler.counts,
    };
  },
};
