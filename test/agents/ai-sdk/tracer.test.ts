import type { Span } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { activeRun } from "../../../src/agents/runtime/active-run.ts";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { asks, later, type Part, streamUntil, text, wantsApproval } from "./fake-sdk.ts";
import { FakeCall6, finishPart, inSpan, listen6 } from "./fake-sdk-6.ts";

setUnclassifiedWarning(() => {});

const user = (content: string) => ({ role: "user", parts: [{ type: "text", content }] });

describe("a call of the AI SDK 6", () => {
  it("is a run with its model calls and tools, each in its place", async () => {
    const heard = listen6();
    const add = asks("add", "c1", { a: 1 });
    let seen: ReturnType<typeof activeRun>;
    await new FakeCall6(heard.tracer).generate(async (call) => {
      await call.model([add]);
      await call.tool(add, () => {
        seen = activeRun();
        return 3;
      });
      await call.model([text("three")]);
    });
    expect(heard.types()).toEqual([
      "started",
      "model_start",
      "model_complete",
      "tool_start",
      "tool_complete",
      "model_start",
      "model_complete",
      "complete",
    ]);
    const [started] = heard.ofType("started");
    expect(started).toMatchObject({ agent: "support", tenant_id: "acme", parent_run_id: null });
    expect(started?.sentIn.details?.input).toEqual([user("question-mark")]);
    const place = { runId: started?.run_id, tenantId: "acme", toolUseId: "c1", tool: "add" };
    expect(seen).toMatchObject(place);
    expect(heard.ofType("tool_start")[0]).toMatchObject({
      tool: "add",
      tool_use_id: "c1",
      input: { a: 1 },
      sentIn: { details: { tool_description: "adds" } },
    });
    expect(heard.ofType("tool_complete")[0]).toMatchObject({ output: 3 });
    expect(heard.ofType("model_start")[0]).toMatchObject({
      model: "small-1",
      provider: "acme",
      parameters: { temperature: 0.2, seed: 7, tool_choice: "auto" },
      input: [user("question-mark")],
      system_instructions: [{ role: "system", content: "system-mark" }],
      tools: [{ name: "add", description: "adds" }],
    });
    expect(heard.ofType("model_complete")[0]).toMatchObject({
      response_model: "small-1-2026",
      response_id: "resp-1",
      finish_reasons: ["tool-calls"],
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_input_tokens: 2,
        reasoning_output_tokens: 1,
      },
    });
    expect(heard.ofType("complete")[0]).toMatchObject({
      usage: { requests: 2, input_tokens: 20, output_tokens: 10, tool_calls: 1 },
    });
    expect(heard.ofType("complete")[0]?.sentIn.details?.output).toEqual([
      { role: "assistant", parts: [{ type: "text", content: "three" }], finish_reason: "stop" },
    ]);
    expect(heard.sent.map(({ envelope }) => envelope.sequence)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("in the code of a tool is a child run of that tool call, with its tenant", async () => {
    const heard = listen6({ tenant: ({ runtimeContext }) => String(runtimeContext.tenant) });
    const ask = asks("ask", "c1");
    const run = (tenant: string) =>
      new FakeCall6(heard.tracer, { metadata: { tenant } }).generate(async (call) => {
        await call.model([ask]);
        await call.tool(ask, async () => {
          const expert = new FakeCall6(heard.tracer, { functionId: "expert" });
          await expert.generate(async (inner) => inner.model([text("yes")]));
        });
        await call.model([text("yes")]);
      });
    await Promise.all([run("north"), run("south")]);
    for (const tenant of ["north", "south"]) {
      const own = heard.ofType("started").filter(({ tenant_id }) => tenant_id === tenant);
      expect(own).toHaveLength(2);
      const [first, second] = own;
      expect(second).toMatchObject({ agent: "expert", parent_run_id: first?.run_id });
      expect(second?.sentIn).toMatchObject({
        parent_tool_use_id: "c1",
        root_run_id: first?.run_id,
      });
      const ends = heard.ofType("complete").filter(({ tenant_id }) => tenant_id === tenant);
      expect(ends.map(({ usage }) => usage?.input_tokens)).toEqual([undefined, 30]);
    }
  });

  it("gives its metadata to the options", async () => {
    const heard = listen6({
      tenant: ({ runtimeContext }) => String(runtimeContext.tenant),
      thread: ({ runtimeContext }) => String(runtimeContext.thread),
      context: ({ functionId, operationId, runtimeContext }) => ({
        user: String(runtimeContext.user),
        tags: [String(functionId), operationId],
      }),
    });
    const metadata = { tenant: "north", thread: "t1", user: "u1" };
    await new FakeCall6(heard.tracer, { metadata }).generate((call) => call.model([text("hi")]));
    expect(heard.ofType("started")[0]).toMatchObject({
      tenant_id: "north",
      sentIn: {
        thread_id: "t1",
        details: { user_id: "u1", tags: ["support", "ai.generateText"] },
      },
    });
  });

  it.each([
    ["inputs", { recordInputs: false }, /question-mark|system-mark/, /answer-mark/],
    ["outputs", { recordOutputs: false }, /answer-mark|input-mark|result-mark/, /question-mark/],
  ])("hides its %s where its settings do", async (_, settings, hidden, shown) => {
    const heard = listen6();
    const look = asks("look", "c1", { q: "input-mark" });
    const call = new FakeCall6(heard.tracer, settings);
    await call.generate(async () => {
      await call.model([look]);
      await call.tool(look, () => "result-mark");
      await call.model([text("answer-mark")]);
    });
    expect(JSON.stringify(heard.sent)).not.toMatch(hidden);
    expect(JSON.stringify(heard.sent)).toMatch(shown);
  });

  it("shows no texts of errors where its settings hide what comes out", async () => {
    const heard = listen6();
    const call = new FakeCall6(heard.tracer, { recordOutputs: false });
    const boom = asks("boom", "c1");
    const failing = call.generate(async () => {
      await call.tool(boom, () => {
        throw new RangeError("secret-mark");
      });
      throw new Error("secret-mark");
    });
    await expect(failing).rejects.toThrow("secret-mark");
    expect(JSON.stringify(heard.sent)).not.toContain("secret-mark");
    expect(heard.ofType("tool_error")[0]).toMatchObject({
      error: "AI SDK operation failed",
      kind: "internal",
      sentIn: { details: { model_text: "unknown" } },
    });
  });

  it("is forgotten above the limit, and refused without a tenant, with all inside it", async () => {
    const heard = listen6({
      maxCalls: 1,
      tenant: ({ runtimeContext }) => String(runtimeContext.tenant ?? ""),
    });
    const metadata = { tenant: "acme" };
    const first = new FakeCall6(heard.tracer, { metadata });
    await first.generate(async () => {
      await first.model([text("hi")]);
      const other = { metadata: { tenant: "acme" }, functionId: "second" };
      await new FakeCall6(heard.tracer, other).generate((call) => call.model([text("hi")]));
      await first.model([text("late")]);
    });
    await new FakeCall6(heard.tracer).generate((call) => call.model([text("hi")]));
    expect(heard.telemetry.counts).toMatchObject({ forgotten: 1, refused: 1, faults: 0 });
    expect(heard.types()).toEqual([
      "started",
      "model_start",
      "model_complete",
      "started",
      "model_start",
      "model_complete",
      "complete",
    ]);
  });
});

describe("a failure in the AI SDK 6", () => {
  const refused = Object.assign(new Error("slow down"), { statusCode: 429 });

  it("of the model has its origin, and its attempts are one call", async () => {
    const heard = listen6();
    const gaveUp = Object.assign(new Error("gave up"), {
      name: "AI_RetryError",
      lastError: refused,
    });
    const failing = new FakeCall6(heard.tracer).generate(async (call) => {
      await expect(call.model(refused)).rejects.toBe(refused);
      await expect(call.model(refused)).rejects.toBe(refused);
      throw gaveUp;
    });
    await expect(failing).rejects.toBe(gaveUp);
    expect(heard.types()).toEqual(["started", "model_start", "model_error", "failed"]);
    expect(heard.ofType("model_error")[0]).toMatchObject({ error: "slow down", retries: 1 });
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: "model_dispatch" },
      envelope: { origin: "model", provider_status: 429 },
    });
  });

  it("in a retried call leaves no mark but the count", async () => {
    const heard = listen6();
    await new FakeCall6(heard.tracer).generate(async (call) => {
      await call.model(refused).catch(() => {});
      await call.model([text("hi")]);
    });
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
    expect(heard.ofType("model_complete")[0]).toMatchObject({ retries: 1 });
  });

  it("of a tool is told to the model in the words of version 6, and the run continues", async () => {
    const heard = listen6();
    const boom = asks("boom", "c1");
    await new FakeCall6(heard.tracer).generate(async (call) => {
      await call.model([boom]);
      await call.tool(boom, () => {
        throw new RangeError("out of order");
      });
      await call.model([text("sorry")]);
    });
    expect(heard.ofType("tool_error")[0]).toMatchObject({
      error: "out of order",
      error_for_llm: "out of order",
      kind: "internal",
      envelope: { origin: "tool" },
    });
    expect(heard.types().at(-1)).toBe("complete");
  });

  it("of own code is the run's", async () => {
    const heard = listen6();
    const thrown = Object.assign(new Error("no db"), { code: "ECONNREFUSED" });
    const failing = new FakeCall6(heard.tracer).generate(async (call) => {
      await call.model([text("hi")]);
      throw thrown;
    });
    await expect(failing).rejects.toBe(thrown);
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: "internal" },
      envelope: { origin: "run" },
    });
  });

  it.each([
    ["cancelled", "AbortError"],
    ["deadline_exceeded", "TimeoutError"],
  ])("by an abort is %s, and open calls are cut", async (kind, name) => {
    const heard = listen6();
    const reason = new DOMException("stop", name);
    const wait = asks("wait", "c1");
    const failing = new FakeCall6(heard.tracer).generate(async (call) => {
      await call.model([wait]);
      void call.tool(wait, () => new Promise(() => {}));
      await Promise.resolve().then(() => {});
      throw reason;
    });
    await expect(failing).rejects.toBe(reason);
    expect(heard.ofType("tool_error")[0]).toMatchObject({ envelope: { cancelled: true } });
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: kind },
      envelope: { origin: "run" },
    });
  });

  it("of a call that the SDK does not make is told before the model is asked again", async () => {
    const heard = listen6();
    const wrong = asks("add", "c1", { a: "input-mark" });
    const told = {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "c1", output: { type: "error-text", value: "no" } },
      ],
    };
    await new FakeCall6(heard.tracer).generate(async (call) => {
      await call.model([wrong]);
      await call.model([text("sorry")], [told]);
    });
    expect(heard.types().slice(2, 6)).toEqual([
      "model_complete",
      "tool_start",
      "tool_error",
      "model_start",
    ]);
    expect(heard.ofType("tool_start")[0]).toMatchObject({ input: { a: "input-mark" } });
    expect(heard.ofType("tool_error")[0]).toMatchObject({
      kind: "validation",
      error_for_llm: "no",
    });
  });
});

describe("an approval in the AI SDK 6", () => {
  const pay = asks("pay", "c1", { sum: "input-mark" });
  const waits = wantsApproval("a1", pay);
  const answered = (approved: boolean) => [
    { role: "user", content: "pay" },
    {
      role: "assistant",
      content: [pay, { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }],
    },
    {
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId: "a1", approved, reason: "small" }],
    },
  ];

  async function pause(heard: ReturnType<typeof listen6>, settings = {}) {
    await new FakeCall6(heard.tracer, settings).generate(async (call) => {
      await call.model([pay]);
      call.steps[0] = { content: [pay, waits] };
    });
  }

  it("pauses the run; the next call resumes it, with each decision", async () => {
    const decidedBy = (_: unknown, { user: person }: Record<string, unknown>) => String(person);
    const heard = listen6({ decidedBy });
    await pause(heard);
    expect(heard.ofType("interrupted")[0]).toMatchObject({
      kind: { type: "approval_pending", tool_use_id: "c1" },
      payload: [{ tool_use_id: "c1", tool: "pay" }],
    });
    const settings = { messages: answered(true), metadata: { user: "u2" } };
    await new FakeCall6(heard.tracer, settings).generate(async (call) => {
      await call.tool(pay, () => "paid");
      await call.model([text("done")]);
    });
    const [first, second] = heard.ofType("started");
    expect(second?.sentIn).toMatchObject({ resumed_from_run_id: first?.run_id });
    expect(heard.ofType("tool_call_approved")[0]).toMatchObject({
      tool_use_id: "c1",
      sentIn: {
        details: {
          decision: { by: "user", person: "u2", reason: "small", wait_ms: expect.any(Number) },
        },
      },
    });
    expect(heard.types().slice(-6)).toEqual([
      "tool_call_approved",
      "tool_start",
      "tool_complete",
      "model_start",
      "model_complete",
      "complete",
    ]);
  });

  it("is read for a sink without content, and its input is hidden as settings say", async () => {
    const quiet = listen6({}, "none");
    await new FakeCall6(quiet.tracer, { messages: answered(false) }).generate((call) =>
      call.model([text("no")]),
    );
    expect(quiet.ofType("tool_call_denied")).toHaveLength(1);
    const heard = listen6();
    await pause(heard, { recordOutputs: false });
    expect(heard.ofType("interrupted")).toHaveLength(1);
    expect(JSON.stringify(heard.sent)).not.toContain("input-mark");
  });

  it("is not known where inputs are hidden", async () => {
    const heard = listen6();
    const settings = { messages: answered(true), recordInputs: false };
    await new FakeCall6(heard.tracer, settings).generate((call) => call.model([text("done")]));
    expect(heard.ofType("tool_call_approved")).toEqual([]);
    expect(heard.types().at(-1)).toBe("complete");
  });

  it("in a stream is told by an integration", async () => {
    const heard = listen6();
    const parts = [{ ...pay, input: "{}" }, finishPart("tool-calls")];
    const { ended, finished, result } = await new FakeCall6(heard.tracer).stream(streamOf(parts));
    await readAll(result.stream);
    const { onStepFinish } = heard.telemetry.tracer;
    onStepFinish({ request: {}, content: [text("another's")] });
    onStepFinish({ request: result.request, content: [pay, waits] });
    onStepFinish(undefined);
    ended([pay]);
    finished([pay]);
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "interrupted"]);
    expect(heard.telemetry.counts.faults).toBe(0);
  });
});

describe("a stream of the AI SDK 6", () => {
  it("ends with its spans, and its model call with the last part", async () => {
    const heard = listen6();
    const add = asks("add", "c1");
    const parts = [
      { type: "response-metadata", modelId: "small-1-2026" },
      { ...add, input: "{}" },
      finishPart("tool-calls"),
    ];
    const call = new FakeCall6(heard.tracer);
    const begun = performance.now();
    const { ended, finished, result } = await call.stream(streamOf(parts));
    await readAll(result.stream);
    const read = performance.now();
    // Longer than all that came before, so that a duration with it in it is too long, however slow the machine is.
    while (performance.now() - read < read - begun + 5);
    ended([add]);
    finished([add]);
    const [answer] = heard.ofType("model_complete");
    expect(answer).toMatchObject({
      first_output_ms: 12,
      response_model: "small-1-2026",
      finish_reasons: ["tool-calls"],
      usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 2 },
    });
    expect(answer?.duration_ms).toBeLessThanOrEqual(Math.round(read - begun));
    expect(heard.ofType("complete")[0]).toMatchObject({ usage: { input_tokens: 10 } });
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
  });

  it("fails with what it said in between", async () => {
    const heard = listen6();
    const error = Object.assign(new Error("overloaded"), { statusCode: 529 });
    const source = streamOf([{ type: "error", error }, finishPart("error")]);
    const { ended, finished, result } = await new FakeCall6(heard.tracer).stream(source);
    await readAll(result.stream);
    ended([], "error");
    finished([], "error");
    expect(heard.ofType("model_error")[0]).toMatchObject({ error: "overloaded" });
    expect(heard.ofType("failed")[0]).toMatchObject({
      envelope: { origin: "model", provider_status: 529 },
    });
  });

  it.each([
    ["model_dispatch", Object.assign(new Error("gone"), { statusCode: 503 })],
    ["cancelled", new DOMException("stop", "AbortError")],
    ["deadline_exceeded", new DOMException("late", "TimeoutError")],
  ])("that breaks is %s, though the SDK ends no span", async (kind, thrown) => {
    const heard = listen6();
    const source = new ReadableStream({ start: (controller) => controller.error(thrown) });
    void (await new FakeCall6(heard.tracer).stream(source));
    await later();
    expect(heard.types()).toEqual(["started", "model_start", "model_error", "failed"]);
    expect(heard.ofType("failed")[0]).toMatchObject({ kind: { type: kind } });
  });

  it("that does not begin fails once", async () => {
    const heard = listen6();
    const thrown = Object.assign(new Error("no"), { statusCode: 401 });
    const beginning = inSpan(
      heard.tracer,
      "ai.streamText",
      {},
      () => inSpan(heard.tracer, "ai.streamText.doStream", {}, () => Promise.reject(thrown)),
      true,
    );
    await expect(beginning).rejects.toBe(thrown);
    expect(heard.types()).toEqual(["started", "model_start", "model_error", "failed"]);
  });

  it("that was aborted while a tool ran keeps its answer", async () => {
    const heard = listen6();
    const wait = asks("wait", "c1");
    const call = new FakeCall6(heard.tracer);
    const { result, root } = await call.stream(
      streamOf([{ ...wait, input: "{}" }, finishPart("tool-calls")]),
    );
    await readAll(result.stream);
    root.end();
    root.end();
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "failed"]);
    expect(heard.ofType("failed")[0]).toMatchObject({ kind: { type: "cancelled" } });
  });

  it("without an answer is the model's failure", async () => {
    const heard = listen6();
    const { doStreamSpan, result, root } = await new FakeCall6(heard.tracer).stream(streamOf([]));
    await readAll(result.stream);
    doStreamSpan.end();
    root.end();
    expect(heard.ofType("model_error")[0]).toMatchObject({
      error: "the model's stream ended without an answer",
    });
    expect(heard.ofType("failed")[0]).toMatchObject({ envelope: { origin: "model" } });
  });

  it("whose reader leaves is cancelled, also through a response", async () => {
    const heard = listen6();
    const forever = () => new ReadableStream({ pull: () => new Promise(() => {}) });
    const { result } = await new FakeCall6(heard.tracer).stream(forever());
    await result.stream.cancel("left");
    await later();
    const response = await heard.telemetry.respond(async (signal) => {
      void (await new FakeCall6(heard.tracer).stream(streamUntil(signal)));
      return new Response(new ReadableStream());
    });
    await response.body?.cancel();
    await later();
    expect(heard.ofType("failed").map(({ kind }) => kind?.type)).toEqual([
      "cancelled",
      "cancelled",
    ]);
  });
});

describe("an object of the AI SDK 6", () => {
  const json = { "ai.response.object": '{"city":"Oslo"}' };
  const answer = { role: "assistant", finish_reason: "stop" };
  const said = [{ ...answer, parts: [{ type: "text", content: '{"city":"Oslo"}' }] }];

  it.each([true, false])(
    "is the answer of its model and of its run, if shown: %s",
    async (shows) => {
      const heard = listen6();
      await inSpan(heard.tracer, "ai.generateObject", {}, async (root) => {
        await inSpan(heard.tracer, "ai.generateObject.doGenerate", {}, async (span) => {
          span.setAttributes({ "ai.response.finishReason": "stop", ...(shows ? json : {}) });
          span.setAttributes({ "ai.usage.promptTokens": 7, "ai.usage.completionTokens": 3 });
          return { content: [text('{"city":"Oslo"}')] };
        });
        root.setAttributes({ "ai.response.finishReason": "stop", ...(shows ? json : {}) });
        return { object: { city: "Oslo" } };
      });
      const [answered] = heard.ofType("model_complete");
      expect(answered).toMatchObject({ usage: { input_tokens: 7, output_tokens: 3 } });
      expect(answered?.output).toEqual(shows ? said : undefined);
      const [ended] = heard.ofType("complete");
      expect(JSON.stringify(ended?.sentIn.details?.output)?.includes("Oslo")).toBe(
        shows ? true : undefined,
      );
      expect(JSON.stringify(heard.sent).includes("Oslo")).toBe(shows);
    },
  );

  it("that is streamed ends with its spans", async () => {
    const heard = listen6();
    const stream = streamOf([finishPart()]);
    const object = (span: Span) => span.setAttributes(json).end();
    await inSpan(
      heard.tracer,
      "ai.streamObject",
      {},
      async (root) => {
        const { span, result } = await inSpan(
          heard.tracer,
          "ai.streamObject.doStream",
          {},
          async (inner) => ({ span: inner, result: { stream } }),
          false,
        );
        await readAll(result.stream);
        span.setAttributes({ "ai.response.finishReason": "stop", "ai.stream.msToFirstChunk": 3 });
        object(span);
        object(root);
      },
      false,
    );
    expect(heard.ofType("model_complete")[0]).toMatchObject({ first_output_ms: 3, output: said });
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
  });
});

describe("the tracer", () => {
  it("passes on what is no run, and counts it once", async () => {
    const heard = listen6();
    const vector = await inSpan(heard.tracer, "ai.rerank", {}, () =>
      inSpan(heard.tracer, "ai.rerank.doRerank", {}, async (span) => {
        span.setAttribute("ai.usage.tokens", 3).addEvent("seen").updateName("x");
        return [1, 2];
      }),
    );
    expect(vector).toEqual([1, 2]);
    expect(heard.sent).toEqual([]);
    expect(heard.telemetry.counts.otherOperations).toBe(1);
  });

  it("returns and throws what the code does, at once if it does", () => {
    const { tracer } = listen6();
    const thrown = new Error("own");
    const fail = () => {
      throw thrown;
    };
    for (const name of ["ai.generateText", "ai.generateText.doGenerate", "ai.toolCall", "other"]) {
      expect(tracer.startActiveSpan(name, () => 3)).toBe(3);
      expect(tracer.startActiveSpan(name, {}, () => 4)).toBe(4);
      expect(() => tracer.startActiveSpan(name, fail)).toThrow(thrown);
    }
  });

  it("starts spans that do nothing", () => {
    const { sent, tracer } = listen6();
    const span = tracer.startSpan("ai.generateText", { attributes: { "ai.prompt": "{}" } });
    const link = { context: span.spanContext() };
    span.setAttributes({ a: 1 }).setStatus({ code: 2 }).addLink(link).addLinks([link]);
    span.recordException(new Error("no"));
    span.end();
    expect(span.spanContext()).toEqual({
      traceId: "0".repeat(32),
      spanId: "0".repeat(16),
      traceFlags: 0,
    });
    expect(sent).toEqual([]);
  });

  it.each([undefined, null, 7, "x", [], {}, { steps: 1 }, { result: { stream: 1 }, content: 1 }])(
    "takes a result of any form without an error: %j",
    async (value) => {
      const heard = listen6();
      const any = (name: string, within: () => Promise<unknown>) =>
        inSpan(heard.tracer, name, { "ai.toolCall.id": "c1", "ai.prompt": "no JSON" }, async () => {
          await within();
          return value;
        });
      const nothing = async () => value;
      for (const kind of ["generateText", "streamText", "generateObject", "streamObject"]) {
        const model = kind.startsWith("stream") ? "doStream" : "doGenerate";
        await any(`ai.${kind}`, async () => {
          await any(`ai.${kind}.${model}`, nothing);
          await any("ai.toolCall", nothing);
        });
      }
      expect(heard.ofType("started")).toHaveLength(4);
      expect(heard.telemetry.counts.faults).toBe(0);
      expect(heard.errors).toEqual([]);
    },
  );
});

function streamOf(parts: readonly (Part | object)[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

async function readAll(stream: ReadableStream<unknown>): Promise<void> {
  for await (const _ of stream);
}
