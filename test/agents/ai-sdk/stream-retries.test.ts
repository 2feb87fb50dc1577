import { describe, expect, it } from "vitest";
import { FakeCall, listen, type Part, text, USAGE } from "./fake-sdk.ts";

const overloaded = new Error("overloaded");

/** A provider's stream with these parts, as an answer of the model. It stays open behind them. */
function streamOf(...parts: readonly Part[]) {
  return {
    stream: new ReadableStream<Part>({
      start: (controller) => {
        for (const part of parts) controller.enqueue(part);
      },
    }),
  };
}

/** Reads that many parts, and cancels the stream, as the SDK does. */
async function readAndCancel(answer: object | undefined, parts: number): Promise<void> {
  const { stream } = answer as { readonly stream: ReadableStream<Part> };
  const reader = stream.getReader();
  for (let read = 0; read < parts; read += 1) await reader.read();
  await reader.cancel();
  await new Promise((done) => setImmediate(() => setImmediate(done)));
}

const ERROR: Part = { type: "error", error: overloaded };
const DELTA: Part = { type: "text-delta", delta: "par" };

async function streaming() {
  const heard = listen({ price: ({ usage }) => `0.${usage.input_tokens}` });
  const call = new FakeCall(heard.telemetry, { operationId: "ai.streamText" });
  await call.start();
  return { heard, call };
}

describe("a stream that breaks off", () => {
  it("and is retried by the SDK is one call, and cuts nothing off", async () => {
    const { heard, call } = await streaming();
    await readAndCancel(await call.model(streamOf(DELTA, ERROR)), 2);
    const second = await call.model({});
    expect(second).toEqual({});
    call.answers([text("whole answer")]);
    call.step([text("whole answer")]);
    call.end([text("whole answer")]);
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
    expect(heard.ofType("model_complete")).toMatchObject([{ retries: 1 }]);
  });

  it("for good has failed because of its model, with the tokens that it used", async () => {
    const { heard, call } = await streaming();
    await readAndCancel(await call.model(streamOf(DELTA, ERROR)), 2);
    await readAndCancel(await call.model(streamOf(ERROR)), 1);
    call.answers([], { finishReason: "error" });
    call.fails(overloaded);
    expect(heard.types()).toEqual(["started", "model_start", "model_error", "failed"]);
    expect(heard.ofType("model_error")).toMatchObject([
      {
        retries: 1,
        usage: { input_tokens: USAGE.inputTokens, output_tokens: USAGE.outputTokens },
        cost_usd: "0.10",
      },
    ]);
    expect(heard.ofType("failed")).toMatchObject([{ envelope: { origin: "model" } }]);
  });

  it("because its reader left is cancelled", async () => {
    const { heard, call } = await streaming();
    await readAndCancel(await call.model(streamOf(DELTA)), 1);
    expect(heard.ofType("failed").map(({ kind }) => kind?.type)).toEqual(["cancelled"]);
  });
});
