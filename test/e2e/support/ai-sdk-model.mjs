// A scripted model for the programs with the AI SDK.
import { APICallError } from "ai";
import { simulateReadableStream } from "ai/test";
import { MockLanguageModel } from "./ai-sdk-version.mjs";
import { RESPONSE, streamed, USAGE } from "./language-model.mjs";

/** Answers by its script: an answer, an error, or a function of the request. */
export function scripted(...script) {
  const steps = [...script];
  const next = async (options) => {
    const step = steps.shift();
    const answer = typeof step === "function" ? await step(options) : step;
    if (answer instanceof Error) throw answer;
    return { usage: USAGE, warnings: [], response: RESPONSE, ...answer };
  };
  return new MockLanguageModel({
    provider: "acme.chat",
    modelId: "small-1",
    doGenerate: next,
    async doStream(options) {
      const { content = [], finishReason, parts, response, usage } = await next(options);
      const chunks = parts ?? [
        { type: "stream-start", warnings: [] },
        { type: "response-metadata", ...response },
        ...content.flatMap(streamed),
        { type: "finish", finishReason, usage },
      ];
      const stream = simulateReadableStream({
        chunks,
        chunkDelayInMs: null,
        initialDelayInMs: null,
      });
      // As a provider's client does.
      const { abortSignal: signal } = options;
      return { stream: signal ? stream.pipeThrough(new TransformStream(), { signal }) : stream };
    },
  });
}

/** What the provider's client throws. */
export const unavailable = (statusCode = 503) =>
  new APICallError({
    message: "overloaded",
    url: "http://127.0.0.1/chat",
    requestBodyValues: {},
    statusCode,
    responseHeaders: { "retry-after-ms": "1" },
    isRetryable: statusCode === 503,
  });
