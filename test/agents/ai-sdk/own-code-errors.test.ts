import { describe, expect, it } from "vitest";
import { asks, FakeCall, listen, text } from "./fake-sdk.ts";
import { finishPart, USAGE_6 } from "./fake-sdk-6.ts";

const broken = new Error("own code is broken");

/** A stream whose parts are read, and that then waits. */
async function readStream(call: FakeCall, ...parts: readonly object[]): Promise<void> {
  const source = new ReadableStream<object>({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
    },
  });
  const result = await call.model({ stream: source });
  const stream: unknown = Reflect.get(result ?? {}, "stream");
  if (!(stream instanceof ReadableStream)) throw new Error("the result has no stream");
  const reader = stream.getReader();
  for (const _ of parts) await reader.read();
}

describe("an error of the application's code", () => {
  it("cuts off the open call of a model, which has not failed", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { operationId: "ai.streamText" });
    await call.start();
    await readStream(call, asks("pay", "c1"));
    call.fails(broken);
    expect(heard.ofType("model_error")[0]).toMatchObject({ kind: { type: "cancelled" } });
    expect(heard.ofType("failed")[0]).toMatchObject({
      error: "own code is broken",
      envelope: { origin: "run" },
    });
  });

  it("leaves a streamed answer that is complete with its tokens", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { operationId: "ai.streamText" });
    await call.start();
    await readStream(call, { type: "text-delta", id: "1", delta: "hi" }, finishPart());
    call.fails(broken);
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "failed"]);
    expect(heard.ofType("model_complete")[0]).toMatchObject({
      finish_reasons: ["stop"],
      usage: { input_tokens: 10, output_tokens: 5 },
    });
  });

  it("leaves an answer that the SDK could not read with its tokens, but without content", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.model({
      content: [text("answer-mark")],
      finishReason: { unified: "tool-calls", raw: "tool_use" },
      usage: USAGE_6,
      response: { id: "r1", modelId: "small-1-2026" },
    });
    call.fails(broken);
    expect(heard.ofType("model_complete")[0]).toMatchObject({
      finish_reasons: ["tool-calls"],
      usage: { input_tokens: 10, output_tokens: 5 },
      response_id: "r1",
      response_model: "small-1-2026",
    });
    expect(heard.ofType("failed")[0]?.sentIn.details?.usage).toMatchObject({ input_tokens: 10 });
    expect(JSON.stringify(heard.sent)).not.toContain("answer-mark");
  });
});

describe("an error that the SDK adds to a stream behind a good answer", () => {
  it("fails the run, whose model call is complete", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { operationId: "ai.streamText" });
    await call.start();
    await call.model({});
    call.answers([text("no call")]);
    call.step([text("no call")], { finishReason: "error", rawFinishReason: "stop" });
    call.end([text("no call")], { finishReason: "error" });
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "failed"]);
    expect(heard.ofType("model_complete")[0]?.finish_reasons).toEqual(["stop"]);
    expect(heard.ofType("failed")[0]).toMatchObject({
      error: "the SDK ended the stream with an error after the answer",
      kind: { type: "model_dispatch" },
      envelope: { wire_code: "model_retry_exhausted" },
    });
  });
});
