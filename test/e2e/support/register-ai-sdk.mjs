// An application that does not know this package, unless `BY_HAND` is set.
import { generateText, registerTelemetry } from "ai";
import { MockLanguageModelV4 } from "ai/test";

if (process.env.BY_HAND) {
  const { AiSdkTelemetry } = await import("entelix-otel/ai-sdk");
  registerTelemetry(new AiSdkTelemetry({ sink: { send() {} }, tenant: "acme" }));
}
const model = new MockLanguageModelV4({
  modelId: "small-1",
  doGenerate: async () => ({
    content: [{ type: "text", text: "hello" }],
    finishReason: { unified: "stop", raw: "stop" },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } },
    warnings: [],
  }),
});
console.log((await generateText({ model, prompt: "hi" })).text);
