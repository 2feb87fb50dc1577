import { describe, expect, it } from "vitest";
import { FakeCall, listen, USAGE } from "./fake-sdk.ts";

/** A call of `streamObject`, which ends with this finish reason and error. */
async function ended(finishReason: string, error?: unknown) {
  const heard = listen();
  const call = new FakeCall(heard.telemetry, { operationId: "ai.streamObject" });
  const { callId } = call;
  await call.start();
  heard.telemetry.onObjectStepStart({ callId, modelId: "small-1" });
  const answer = { callId, finishReason, usage: USAGE, objectText: "{}" };
  heard.telemetry.onObjectStepEnd(answer);
  heard.telemetry.onEnd({ callId, finishReason, usage: USAGE, error });
  return heard;
}

describe("streamObject of the AI SDK 7", () => {
  it("fails because of its model if the provider sends an error in the stream", async () => {
    const heard = await ended("error", new Error("overloaded"));
    expect(heard.types()).toEqual(["started", "model_start", "model_error", "failed"]);
    expect(heard.ofType("model_error")[0]).toMatchObject({
      error: "overloaded",
      usage: { input_tokens: USAGE.inputTokens, output_tokens: USAGE.outputTokens },
    });
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: "model_dispatch" },
      envelope: { origin: "model" },
    });
  });

  it("has an answer of the model if only its object is wrong", async () => {
    const cause = Object.assign(new Error("no JSON"), { name: "AI_JSONParseError" });
    const error = new Error("no object", { cause });
    const wrong = Object.assign(error, { name: "AI_NoObjectGeneratedError" });
    for (const reason of ["stop", "error"]) {
      const heard = await ended(reason, wrong);
      expect(heard.types()).toEqual(["started", "model_start", "model_complete", "failed"]);
      expect(heard.ofType("failed")[0]?.envelope.origin).toBe("run");
    }
  });

  it("is complete if the model says error, and there is none", async () => {
    const heard = await ended("error");
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
    expect(heard.ofType("model_complete")[0]?.finish_reasons).toEqual(["error"]);
  });
});
