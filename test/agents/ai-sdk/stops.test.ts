import { describe, expect, it } from "vitest";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { asks, FakeCall, later, listen, STOPS, streamUntil, text } from "./fake-sdk.ts";
import { FakeCall6, finishPart, listen6 } from "./fake-sdk-6.ts";

setUnclassifiedWarning(() => {});

const outage = new Error("the provider is away");

/** How the runs of a response ended when its client left with this reason. */
async function left(
  reason: unknown,
  make: (heard: ReturnType<typeof listen6>, signal: AbortSignal) => Promise<unknown>,
) {
  const heard = listen6();
  const response = await heard.telemetry.respond(async (signal) => {
    await make(heard, signal);
    return new Response(new ReadableStream());
  });
  await response.body?.cancel(reason);
  await later();
  return heard;
}

const ends = (heard: ReturnType<typeof listen>) =>
  heard.sent.flatMap(({ event }) => {
    if (event.type === "tool_error") return [event.envelope.wire_code];
    if (event.type !== "failed" && event.type !== "model_error") return [];
    return [event.kind?.type ?? "unknown"];
  });

describe("a client that leaves a response", () => {
  it.each(STOPS)(
    "with %s cancels the run of the AI SDK 7 and its model call",
    async (_, reason) => {
      const heard = await left(reason, async ({ telemetry }, signal) => {
        const call = new FakeCall(telemetry, { operationId: "ai.streamText" });
        await call.start();
        await call.model({ stream: streamUntil(signal) });
      });
      expect(ends(heard)).toEqual(["cancelled", "cancelled"]);
    },
  );

  it.each(STOPS)(
    "with %s cancels the run of the AI SDK 6 and its model call",
    async (_, reason) => {
      const heard = await left(reason, ({ tracer }, signal) =>
        new FakeCall6(tracer).stream(streamUntil(signal)),
      );
      expect(ends(heard)).toEqual(["cancelled", "cancelled"]);
    },
  );

  it("cancels a run that waits without a stream, when the signal reaches it", async () => {
    const heard = await left("gone", async ({ telemetry }, signal) => {
      const call = new FakeCall(telemetry);
      await call.start();
      const add = asks("add", "c1");
      void call
        .tool(
          add,
          () =>
            new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(signal.reason)),
            ),
        )
        .then(() => call.fails(signal.reason));
    });
    expect(ends(heard)).toEqual(["cancelled", "cancelled"]);
  });

  it("leaves a call alone that does not take the signal", async () => {
    const calls: FakeCall[] = [];
    const heard = await left("gone", async ({ telemetry }, signal) => {
      const answer = new FakeCall(telemetry, { operationId: "ai.streamText" });
      const title = new FakeCall(telemetry, { functionId: "title" });
      calls.push(title);
      await answer.start();
      await answer.model({ stream: streamUntil(signal) });
      await title.start();
    });
    await calls[0]?.finish([text("a title")]);
    const titleRun = heard.ofType("started")[1]?.run_id;
    expect(heard.ofType("failed")).toHaveLength(1);
    expect(heard.ofType("complete")).toMatchObject([
      { run_id: titleRun, usage: { input_tokens: 10, output_tokens: 5 } },
    ]);
  });

  it("does not hide an outage that comes later", async () => {
    const calls: FakeCall[] = [];
    const heard = await left("gone", async ({ telemetry }) => {
      const call = new FakeCall(telemetry);
      calls.push(call);
      await call.start();
    });
    await calls[0]?.model(outage);
    calls[0]?.fails(outage);
    expect(ends(heard)).toEqual(["model_dispatch", "model_dispatch"]);
  });
});

describe("a stream that breaks off, which no callback reports", () => {
  /** A model's stream that fails after its first part. */
  const breaking = (error: unknown) =>
    new ReadableStream({
      start: (controller) => controller.enqueue(text("part")),
      pull: (controller) => controller.error(error),
    });

  async function broken(error: unknown) {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { operationId: "ai.streamText" });
    await call.start();
    const result = await call.model({ stream: breaking(error) });
    const read = await new Response(Object(result).stream).text().catch((thrown) => thrown);
    expect(read).toBeInstanceOf(Error);
    await later();
    return { heard, call };
  }

  it.each([
    ["an outage", outage, "model_dispatch"],
    ["a stop", new DOMException("client gone", "AbortError"), "cancelled"],
    ["a time limit", new DOMException("too late", "TimeoutError"), "deadline_exceeded"],
  ])("by %s ends the run and its model call", async (_, error, kind) => {
    const { heard } = await broken(error);
    expect(ends(heard)).toEqual([kind, kind]);
  });

  it("ends once, also if the SDK reports it later", async () => {
    const { call, heard } = await broken(outage);
    call.fails(outage);
    call.end([text("part")]);
    expect(ends(heard)).toEqual(["model_dispatch", "model_dispatch"]);
    expect(heard.ofType("complete")).toEqual([]);
  });

  it("is an outage of the model, also if the SDK shows no attempt of the call", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { operationId: "ai.generateObject" });
    await call.start();
    heard.telemetry.onObjectStepStart({ callId: call.callId, modelId: "small-1" });
    call.fails(outage);
    expect(ends(heard)).toEqual(["model_dispatch", "model_dispatch"]);
    expect(heard.ofType("failed")[0]?.envelope.origin).toBe("model");
  });
});

describe("a call that ends with what its tool threw", () => {
  const late = new DOMException("too late", "TimeoutError");

  /** A tool throws the reason of a stop, and the SDK ends the call with it. */
  async function stopped(reason: unknown, follows: (call: FakeCall) => Promise<void>) {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    const add = asks("add", "c1");
    await call.start();
    await call.tool(add, () => {
      throw reason;
    });
    call.step([add]);
    await follows(call);
    call.fails(reason);
    return heard;
  }

  it.each([...STOPS, ["a time limit", late] as const])("with %s was stopped", async (_, reason) => {
    const kind = reason === late ? "deadline_exceeded" : "cancelled";
    const heard = await stopped(reason, async () => {});
    expect(ends(heard)).toEqual([kind, kind]);
    expect(heard.types()).toEqual(["started", "tool_start", "tool_error", "failed"]);
  });

  it("was not stopped if the model was asked again after the tool", async () => {
    const asked = async (call: FakeCall) => {
      await call.model({});
      call.answers([]);
    };
    const heard = await stopped(outage, asked);
    expect(ends(heard).at(-1)).toBe("tool_error_terminal");
    expect(heard.types().slice(1, 4)).toEqual(["tool_start", "tool_error", "model_start"]);
    expect(heard.ofType("tool_error")[0]?.envelope).not.toHaveProperty("cancelled");
  });
});

describe("an abort of the AI SDK 6 that an integration shows", () => {
  const { tracer: integration } = listen6();
  const names = ["onStepStart", "onToolCallStart"] as const;

  it("has its callbacks", () => {
    for (const name of names) expect(integration).toHaveProperty(name);
  });

  it.each(STOPS)("with %s cancels run and model call", async (_, reason) => {
    const heard = listen6();
    const controller = new AbortController();
    const work = new FakeCall6(heard.tracer).generate(async (call) => {
      heard.telemetry.tracer.onStepStart({ abortSignal: controller.signal });
      controller.abort(reason);
      await call.model(controller.signal.reason);
    });
    await work.catch(() => {});
    expect(ends(heard)).toEqual(["cancelled", "cancelled"]);
  });

  it("has the kind of its reason in a stream that ends while a tool runs", async () => {
    const heard = listen6();
    const controller = new AbortController();
    const { signal } = controller;
    const show = () => heard.telemetry.tracer.onStepStart({ abortSignal: signal });
    const source = new ReadableStream({
      start(stream) {
        stream.enqueue(asks("wait", "c1"));
        stream.enqueue(finishPart("tool-calls"));
        stream.close();
      },
    });
    const { result, root } = await new FakeCall6(heard.tracer).stream(source, show);
    for await (const _ of result.stream);
    controller.abort(new DOMException("too late", "TimeoutError"));
    root.end();
    expect(ends(heard)).toEqual(["deadline_exceeded"]);
  });

  it("cancels a tool call", async () => {
    const heard = listen6();
    const controller = new AbortController();
    const add = asks("add", "c1");
    const work = new FakeCall6(heard.tracer).generate(async (call) => {
      await call.tool(add, () => {
        heard.telemetry.tracer.onToolCallStart({ abortSignal: controller.signal });
        controller.abort("gone");
        throw controller.signal.reason;
      });
      throw controller.signal.reason;
    });
    await work.catch(() => {});
    expect(ends(heard)).toEqual(["cancelled", "cancelled"]);
  });

  it("is no excuse for another failure", async () => {
    const heard = listen6();
    const controller = new AbortController();
    const work = new FakeCall6(heard.tracer).generate(async (call) => {
      heard.telemetry.tracer.onStepStart({ abortSignal: controller.signal });
      controller.abort("gone");
      await call.model(outage);
    });
    await work.catch(() => {});
    expect(ends(heard)).toEqual(["model_dispatch", "model_dispatch"]);
  });

  it("belongs to the call that it was shown in", async () => {
    const heard = listen6();
    const controller = new AbortController();
    heard.telemetry.tracer.onStepStart({ abortSignal: controller.signal });
    controller.abort(outage);
    const work = new FakeCall6(heard.tracer).generate((call) => call.model(outage));
    await work.catch(() => {});
    expect(ends(heard)).toEqual(["model_dispatch", "model_dispatch"]);
  });
});
