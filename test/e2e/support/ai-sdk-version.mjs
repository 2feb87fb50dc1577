// What differs between the AI SDK 6 and 7 in the programs that run both. It uses only what the oldest of each has.
import * as ai from "ai";
import * as mocks from "ai/test";

export const is6 = ai.registerTelemetry === undefined;
export const isStepCount = ai.isStepCount ?? ai.stepCountIs;
export const MockLanguageModel = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3;
export const MockEmbeddingModel = mocks.MockEmbeddingModelV4 ?? mocks.MockEmbeddingModelV3;

/** The options of a call that is reported, which is registered for version 7. */
export function reported(telemetry, settings) {
  if (!is6) return { telemetry: settings };
  const { tracer } = telemetry;
  const given = { isEnabled: true, tracer, integrations: tracer, ...settings };
  return { experimental_telemetry: given };
}
