// With arguments: `by-hand` adds a processor of the application's own, `others` sets others in place of all.
import {
  Agent,
  addTraceProcessor,
  run,
  setTraceProcessors,
  Usage,
  withGenerationSpan,
} from "@openai/agents-core";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";

const sent = [];
const sink = { send: (event) => void sent.push(event.type) };
if (process.argv[2] === "by-hand") {
  addTraceProcessor(new OpenAIAgentsProcessor({ sink, tenant: "acme" }));
} else if (process.argv[2] === "others") setTraceProcessors([]);

const model = {
  getResponse: () =>
    withGenerationSpan(async (span) => {
      span.spanData.model = "small-1";
      const content = [{ type: "output_text", text: "yes" }];
      return { output: [{ type: "message", role: "assistant", content }], usage: new Usage() };
    }),
};
const { finalOutput } = await run(new Agent({ name: "A", model }), "hi");
console.log(finalOutput, sent.filter((type) => type === "started").length);
