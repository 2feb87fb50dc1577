import { describe, expect, it } from "vitest";
import { observedStream } from "../../../src/agents/core/observed-stream.ts";

/** An observer that keeps what it sees. */
function watching() {
  const seen: unknown[] = [];
  const observer = {
    part: (part: unknown) => void seen.push(part),
    failed: (thrown: unknown) => void seen.push(["failed", thrown]),
    cancelled: (reason: unknown) => void seen.push(["cancelled", reason]),
  };
  return { observer, seen };
}

describe("an observed stream", () => {
  it("gives every part, and sees it first", async () => {
    const { observer, seen } = watching();
    const given: unknown[] = [];
    const stream = new ReadableStream<unknown>({
      start(controller) {
        controller.enqueue(1);
        controller.enqueue(2);
        controller.close();
      },
    });
    for await (const part of observedStream(stream, observer)) given.push([part, seen.length]);
    expect(given).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it("fails with the stream's error", async () => {
    const { observer, seen } = watching();
    const error = new Error("broken");
    const stream = new ReadableStream({ start: (controller) => controller.error(error) });
    const reader = observedStream(stream, observer).getReader();
    await expect(reader.read()).rejects.toBe(error);
    expect(seen).toEqual([["failed", error]]);
  });

  it("tells an error that no reader asks for, once", async () => {
    const { observer, seen } = watching();
    const error = new Error("broken");
    const controllers: ReadableStreamDefaultController[] = [];
    const stream = new ReadableStream({ start: (controller) => void controllers.push(controller) });
    const reader = observedStream(stream, observer).getReader();
    controllers[0]?.error(error);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([["failed", error]]);
    await expect(reader.read()).rejects.toBe(error);
    expect(seen).toEqual([["failed", error]]);
  });

  it("is cancelled once, also while the next part is on its way", async () => {
    const { observer, seen } = watching();
    const reasons: unknown[] = [];
    const stream = new ReadableStream({
      pull: () => new Promise(() => {}),
      cancel: (reason) => void reasons.push(reason),
    });
    const reader = observedStream(stream, observer).getReader();
    const next = reader.read();
    await reader.cancel("left");
    expect(await next).toEqual({ done: true, value: undefined });
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([["cancelled", "left"]]);
    expect(reasons).toEqual(["left"]);
  });
});
