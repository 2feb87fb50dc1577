// A model that the list of prices knows, and one that it does not know.
import { Agent, run, Usage, withGenerationSpan } from "@openai/agents-core";

const model = (name) => ({
  getResponse: () =>
    withGenerationSpan(async (span) => {
      span.spanData.model = name;
      span.spanData.usage = { input_tokens: 1000, output_tokens: 100 };
      const content = [{ type: "output_text", text: "yes" }];
      return { output: [{ type: "message", role: "assistant", content }], usage: new Usage() };
    }),
});
await run(new Agent({ name: "known", model: model("gpt-4o-mini") }), "hi");
await run(new Agent({ name: "unknown", model: model("small-1") }), "hi");
