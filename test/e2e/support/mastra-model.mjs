// A scripted model for the programs with Mastra: the `LanguageModelV3` of the AI SDK, by hand.
import { RESPONSE, streamed, USAGE } from "./language-model.mjs";

/** What a provider's client throws. */
export const unavailable = (statusCode = 503) => {
  const error = new Error("overloaded");
  error.name = "AI_APICallError";
  const marker = Symbol.for("vercel.ai.error");
  const more = { statusCode, isRetryable: statusCode === 503, url: "http://127.0.0.1/chat" };
  return Object.assign(error, more, {
    responseHeaders: { "retry-after-ms": "1" },
    [marker]: true,
    [Symbol.for("vercel.ai.error.AI_APICallError")]: true,
  });
};

/** Answers by its script: an answer, an error, or a function of the request. */
export function scripted(...script) {
  const steps = [...script];
  const next = async (options) => {
    const step = steps.shift();
    const answer = typeof step === "function" ? await step(options) : step;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return {
    specificationVersion: "v3",
    provider: "acme.chat",
    modelId: "small-1",
    supportedUrls: {},
    async doGenerate(options) {
      const answer = await next(options);
      return { usage: USAGE, warnings: [], response: RESPONSE, ...answer };
    },
    async doStream(options) {
      const { content = [], finishReason, parts, response = RESPONSE } = await next(options);
      const chunks = parts ?? [
        { type: "stream-start", warnings: [] },
        { type: "response-metadata", ...response },
        ...content.flatMap(streamed),
        { type: "finish", finishReason, usage: USAGE },
      ];
      return { stream: streamOf(chunks) };
    },
  };
}

/** One part for each turn of the event loop: a reader may leave in between. */
function streamOf(chunks) {
  const left = [...chunks];
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
}
