import { run, setTraceProcessors, setTracingDisabled, tool } from "@openai/agents-core";
import { z } from "zod";
import { OpenAIAgentsProcessor } from "../../../../src/entries/openai-agents.ts";
import { agent } from "../../openai-agents/scenes.ts";
import { asks, says } from "../../openai-agents/scripted-model.ts";
import { codeOf, type Driver, INPUT, settled, WHOLE } from "../driver.ts";

export const openaiAgents: Driver = {
  name: "OpenAI Agents",
  has: WHOLE,
  async play(options, scene) {
    const processor = new OpenAIAgentsProcessor(options);
    setTracingDisabled(false);
    setTraceProcessors([processor]);
    const work = codeOf(scene);
    const add = tool({
      name: "add",
      description: "",
      parameters: z.object({ a: z.number(), b: z.number() }),
      execute: async () => work(),
    });
    const script = [[asks("add", INPUT, "c1")], scene.modelThrows ?? [says("answer-mark")]];
    const { given, thrown } = await settled(
      run(agent("support", script, { tools: [add] }), "question-mark"),
    );
    await processor.forceFlush();
    const { faults, sinkFailures, untenanted } = processor.counts;
    const counts = { refused: untenanted, faults, sinkFailures };
    return { answer: given?.finalOutput, thrown, counts };
  },
};
