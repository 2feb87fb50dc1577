// A model and a tool that ask the service whose address is the argument.
import "./instrumented.mjs";
import { Agent, run, tool, Usage, withResponseSpan } from "@openai/agents-core";
import { z } from "zod";

const ask = async (path) => (await fetch(process.argv[2] + path)).text();
const CALL = { type: "function_call", name: "look", callId: "c1", arguments: "{}" };

const model = {
  getResponse: ({ input }) =>
    withResponseSpan(async () => {
      const content = [{ type: "output_text", text: await ask("/model") }];
      const isAnswered = Array.isArray(input) && input.length > 1;
      const item = isAnswered ? { type: "message", role: "assistant", content } : CALL;
      return { output: [{ ...item, status: "completed" }], usage: new Usage() };
    }),
};
const look = tool({
  name: "look",
  description: "",
  parameters: z.object({}),
  execute: () => ask("/tool"),
});
await run(new Agent({ name: "A", model, tools: [look] }), "hi");
