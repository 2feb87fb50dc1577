import { describe, expect, it } from "vitest";
import { activeRun, withCurrentRun } from "../../../src/agents/runtime/active-run.ts";
import { AiSdkTelemetry } from "../../../src/entries/ai-sdk.ts";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import {
  asks,
  FakeCall,
  later,
  listen,
  type Part,
  streamUntil,
  text,
  wantsApproval,
} from "./fake-sdk.ts";

setUnclassifiedWarning(() => {});

const user = (content: string) => ({ role: "user", parts: [{ type: "text", content }] });

describe("a call of the AI SDK", () => {
  it("is a run with its model calls and tools, each in its place", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { tools: { add: { description: "adds" } } });
    const add = asks("add", "c1", { a: 1 });
    await call.start();
    await call.model({ response: { modelId: "small-1-2026" } });
    call.answers([add]);
    let seen: ReturnType<typeof activeRun>;
    await call.tool(add, () => {
      seen = activeRun();
      return 3;
    });
    call.step([add]);
    await call.finish([text("three")]);
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
    // By the name, a wrapped MCP client knows that its call is reported already.
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
      parameters: { temperature: 0.2 },
      input: [user("question-mark")],
      system_instructions: "system-mark",
    });
    expect(heard.ofType("model_complete")[0]).toMatchObject({
      response_model: "small-1-2026",
      response_id: "resp-1",
      finish_reasons: ["tool-calls"],
      usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 2 },
    });
    expect(heard.ofType("complete")[0]).toMatchObject({
      usage: { requests: 2, input_tokens: 20, output_tokens: 10, tool_calls: 1 },
    });
    expect(heard.ofType("complete")[0]?.sentIn.details?.output).toEqual([
      { role: "assistant", parts: [{ type: "text", content: "three" }], finish_reason: "stop" },
    ]);
    expect(new Set(heard.sent.map(({ envelope }) => envelope.event_id)).size).toBe(8);
    expect(heard.sent.map(({ envelope }) => envelope.sequence)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("names the provider that a gateway asked, also for its price", async () => {
    const priced: unknown[] = [];
    const heard = listen({ price: ({ provider }) => void priced.push(provider) });
    const call = new FakeCall(heard.telemetry);
    await call.start();
    const providerMetadata = { gateway: { routing: { finalProvider: "bedrock" } } };
    await call.model({ response: { modelId: "claude-x" }, providerMetadata });
    call.answers([text("hi")]);
    expect(heard.ofType("model_start")[0]?.provider).toBe("acme");
    const [complete] = heard.ofType("model_complete");
    expect(complete).toMatchObject({ provider: "aws.bedrock", response_model: "claude-x" });
    expect(priced).toEqual(["aws.bedrock"]);
  });

  it("is a child of the run around it, in the tool call that it is made in", async () => {
    const heard = listen();
    const outer = new FakeCall(heard.telemetry);
    const ask = asks("ask", "c1");
    await outer.start();
    await outer.tool(ask, async () => {
      const inner = new FakeCall(heard.telemetry, { functionId: "expert" });
      await inner.start();
      await inner.finish([text("yes")]);
    });
    await outer.finish([text("yes")]);
    const [first, second] = heard.ofType("started");
    expect(second).toMatchObject({ agent: "expert", parent_run_id: first?.run_id });
    expect(second?.sentIn).toMatchObject({
      parent_tool_use_id: "c1",
      root_run_id: first?.run_id,
    });
    // The run at the top has the tokens of all; no other run repeats them.
    const usages = heard.ofType("complete").map(({ usage }) => usage?.input_tokens);
    expect(usages).toEqual([undefined, 20]);
  });

  it("belongs to the tenant of the run around it, with its thread and subject", async () => {
    const heard = listen({ tenant: () => "other", thread: () => undefined });
    const run = {
      tenantId: "acme",
      runId: "r1",
      rootRunId: "r0",
      threadId: "t1",
      subject: { details: { user_id: "u1" } },
      sink: heard.sink,
    };
    await withCurrentRun(run, async () => {
      const call = new FakeCall(heard.telemetry);
      await call.start();
      await call.finish([text("hi")]);
    });
    for (const { event, envelope } of heard.sent) {
      expect(event.tenant_id).toBe("acme");
      expect(envelope).toMatchObject({
        root_run_id: "r0",
        thread_id: "t1",
        details: { user_id: "u1" },
      });
    }
    expect(heard.ofType("started")[0]).toMatchObject({ parent_run_id: "r1" });
  });

  it("is forgotten above the limit, and a second registration changes nothing", async () => {
    const heard = listen({ maxCalls: 1 });
    const [first, second] = [new FakeCall(heard.telemetry), new FakeCall(heard.telemetry)];
    await first.start();
    await second.start();
    await second.start();
    await first.finish([text("late")]);
    await second.finish([text("hi")]);
    expect(heard.telemetry.counts).toMatchObject({ forgotten: 1, duplicates: 1 });
    expect(heard.types()).toEqual([
      "started",
      "started",
      "model_start",
      "model_complete",
      "complete",
    ]);
  });

  it("that is no run is counted", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { operationId: "ai.rerank" });
    await call.start();
    call.end([]);
    expect(heard.sent).toEqual([]);
    expect(heard.telemetry.counts.otherOperations).toBe(1);
  });
});

describe("a failure in the AI SDK", () => {
  it("of a tool is told to the model in the SDK's words, and the run continues", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.tool(asks("boom", "c1"), () => {
      throw new RangeError("out of order");
    });
    await call.finish([text("sorry")]);
    expect(heard.ofType("tool_error")[0]).toMatchObject({
      error: "out of order",
      error_for_llm: "RangeError: out of order",
      kind: "internal",
      envelope: { origin: "tool" },
    });
    expect(heard.types().at(-1)).toBe("complete");
  });

  it("of the model has its origin, and the last attempt's error", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    const refused = Object.assign(new Error("slow down"), { statusCode: 429 });
    await call.start();
    await call.model(refused, refused, refused);
    call.fails(Object.assign(new Error("gave up"), { name: "AI_RetryError", lastError: refused }));
    expect(heard.ofType("model_error")[0]).toMatchObject({
      error: "slow down",
      kind: { type: "model_dispatch" },
      retries: 2,
    });
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: "model_dispatch" },
      envelope: { origin: "model", provider_status: 429 },
    });
  });

  it("at a later step of a stream, which ends with what it has, fails the run", async () => {
    const { ofType, telemetry } = listen();
    const call = new FakeCall(telemetry, { operationId: "ai.streamText" });
    const asked = [asks("look", "c1")];
    await call.start();
    await call.model({});
    call.answers(asked);
    call.step(asked);
    await call.model(new Error("no model today"));
    call.end(asked, { finishReason: "tool-calls" });
    expect(ofType("complete")).toEqual([]);
    expect(ofType("failed")).toMatchObject([
      { error: "no model today", kind: { type: "model_dispatch" }, envelope: { origin: "model" } },
    ]);
  });

  it("in a retried call leaves no mark but the count", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.model(new Error("away"), {});
    call.answers([text("hi")]);
    call.end([text("hi")]);
    expect(heard.ofType("model_complete")[0]).toMatchObject({ retries: 1 });
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
  });

  it("of own code is the run's", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.model({});
    call.answers([text("hi")]);
    call.fails(Object.assign(new Error("no db"), { code: "ECONNREFUSED" }));
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: "internal" },
      envelope: { origin: "run" },
    });
  });

  it.each([
    ["cancelled", undefined],
    ["cancelled", new DOMException("stop", "AbortError")],
    ["deadline_exceeded", new DOMException("late", "TimeoutError")],
  ])("by an abort is %s, and open calls are cut", async (kind, reason) => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    heard.telemetry.onToolExecutionStart({
      callId: call.callId,
      toolCall: { toolCallId: "c1", toolName: "wait", input: {} },
    });
    call.aborts(reason);
    call.aborts(reason);
    expect(heard.ofType("tool_error")[0]).toMatchObject({ envelope: { cancelled: true } });
    expect(heard.ofType("failed").map((event) => event.kind?.type)).toEqual([kind]);
  });

  it("shows no text where the call's settings hide it, but its kind", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { recordInputs: true, recordOutputs: false });
    await call.start();
    await call.model(Object.assign(new Error("secret-mark"), { statusCode: 401 }));
    call.fails(new Error("AI SDK operation failed"));
    expect(JSON.stringify(heard.sent)).not.toContain("secret-mark");
    expect(heard.ofType("failed")[0]).toMatchObject({
      error: "AI SDK operation failed",
      envelope: { origin: "model", provider_status: 401 },
    });
  });

  it("whose text quotes content has a text of ours", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    const error = new Error('Type validation failed: Value: {"card":"4711"}.');
    await call.start();
    call.fails(Object.assign(error, { name: "AI_TypeValidationError" }));
    expect(JSON.stringify(heard.sent)).not.toContain("4711");
    expect(heard.ofType("failed")[0]?.error).toBe(
      "AI_TypeValidationError: a value has not the expected form",
    );
  });

  it("of a stream in the middle is the model's", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry, { operationId: "ai.streamText" });
    const away = Object.assign(new Error("overloaded"), { statusCode: 529 });
    await call.start();
    const result = await call.model({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: "response-metadata", modelId: "small-1-2026" });
          controller.enqueue({ type: "error", error: away });
          controller.close();
        },
      }),
    });
    const parts = await readAll(result);
    call.answers([], { finishReason: "error" });
    call.step([]);
    call.end([], { finishReason: "error" });
    expect(parts).toHaveLength(2);
    expect(heard.ofType("failed")[0]).toMatchObject({
      error: "overloaded",
      kind: { type: "model_dispatch" },
      envelope: { origin: "model" },
    });
    expect(heard.types()).toEqual(["started", "model_start", "model_error", "failed"]);
  });

  it("is none where an answer has the finish reason error and no error", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    const partial = text("partly");
    await call.start();
    await call.model({});
    call.answers([partial], { finishReason: "error" });
    call.step([partial]);
    call.end([partial], { finishReason: "error" });
    expect(heard.ofType("model_complete")[0]).toMatchObject({ finish_reasons: ["error"] });
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
  });
});

async function readAll(result: object | undefined): Promise<unknown[]> {
  const parts: unknown[] = [];
  const stream = result !== undefined && "stream" in result ? result.stream : undefined;
  if (stream instanceof ReadableStream) for await (const part of stream) parts.push(part);
  return parts;
}

describe("an approval in the AI SDK", () => {
  const pay = asks("pay", "c1", { sum: 17 });
  const again = asks("pay", "c2", { sum: 18 });
  const requests: readonly Part[] = [
    pay,
    again,
    wantsApproval("a1", pay),
    wantsApproval("a2", again),
  ];

  const answered = (...answers: readonly object[]) => [
    { role: "user", content: "pay" },
    {
      role: "assistant",
      content: [
        pay,
        again,
        { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
        { type: "tool-approval-request", approvalId: "a2", toolCallId: "c2" },
      ],
    },
    { role: "tool", content: answers },
  ];

  it("pauses the run; the next call resumes it, with each decision", async () => {
    const heard = listen({ decidedBy: ({ tool }, { who }) => `${String(who)} for ${tool}` });
    const first = new FakeCall(heard.telemetry);
    await first.start();
    await first.finish(requests);
    const next = new FakeCall(heard.telemetry, { runtimeContext: { who: "ann" } });
    await next.start({
      messages: answered(
        { type: "tool-approval-response", approvalId: "a1", approved: true, reason: "small" },
        { type: "tool-approval-response", approvalId: "a2", approved: false, reason: "twice" },
      ),
    });
    await next.tool(pay, () => "paid");
    await next.finish([text("done")]);
    expect(heard.types().slice(3)).toEqual([
      "interrupted",
      "started",
      "tool_call_approved",
      "tool_call_denied",
      "tool_start",
      "tool_complete",
      "model_start",
      "model_complete",
      "complete",
    ]);
    const [interrupted] = heard.ofType("interrupted");
    expect(interrupted).toMatchObject({
      kind: { type: "approval_pending", tool_use_id: "c1" },
      payload: [
        { tool_use_id: "c1", tool: "pay" },
        { tool_use_id: "c2", tool: "pay" },
      ],
    });
    expect(heard.ofType("started")[1]?.sentIn.resumed_from_run_id).toBe(interrupted?.run_id);
    expect(heard.ofType("tool_call_approved")[0]?.sentIn.details?.decision).toEqual({
      by: "user",
      person: "ann for pay",
      reason: "small",
      wait_ms: expect.any(Number),
    });
    expect(heard.ofType("tool_call_denied")[0]).toMatchObject({
      tool_use_id: "c2",
      reason: "twice",
    });
  });

  it("by a rule is a policy's, and pauses nothing", async () => {
    const heard = listen({ decidedBy: () => "nobody" });
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.model({});
    call.answers([pay]);
    call.step([
      pay,
      { ...wantsApproval("a1", pay), isAutomatic: true },
      {
        type: "tool-approval-response",
        approvalId: "a1",
        toolCall: pay,
        approved: false,
        reason: "cap",
      },
    ]);
    call.end([pay]);
    expect(heard.ofType("tool_call_denied")[0]).toMatchObject({
      reason: "cap",
      sentIn: { details: { decision: { by: "policy" } } },
    });
    expect(heard.ofType("tool_call_denied")[0]?.sentIn.details?.decision).not.toHaveProperty(
      "person",
    );
    expect(heard.types().at(-1)).toBe("complete");
  });

  it("is linked within a tenant alone, by whatever store there is", async () => {
    const store = new Map<string, { runId: string; tenantId: string; at: number }>();
    const paused = listen({ pausedRuns: store });
    const first = new FakeCall(paused.telemetry);
    await first.start();
    await first.finish(requests);
    expect([...store.keys()]).toEqual(["a1", "a2"]);
    const pausedRuns = { get: async (id: string) => store.get(id), set: async () => {} };
    const response = { type: "tool-approval-response", approvalId: "a1", approved: true };
    const links: unknown[] = [];
    for (const tenant of ["acme", "other"]) {
      const heard = listen({ pausedRuns, tenant });
      const next = new FakeCall(heard.telemetry);
      await next.start({ messages: answered(response) });
      await next.finish([text("done")]);
      links.push(heard.ofType("started")[0]?.sentIn.resumed_from_run_id);
    }
    expect(links).toEqual([paused.ofType("started")[0]?.run_id, undefined]);
  });

  it("goes on without a link where the store fails", async () => {
    const lost = new Error("no store");
    const fail = () => Promise.reject(lost);
    const heard = listen({ pausedRuns: { get: fail, set: fail } });
    const first = new FakeCall(heard.telemetry);
    await first.start();
    await first.finish(requests);
    const next = new FakeCall(heard.telemetry);
    const response = { type: "tool-approval-response", approvalId: "a1", approved: true };
    await next.start({ messages: answered(response) });
    await next.finish([text("done")]);
    expect(heard.errors).toEqual([lost, lost, lost]);
    expect(heard.types()).toContain("tool_call_approved");
    expect(heard.telemetry.counts.faults).toBe(0);
  });
});

describe("an answer that ends with other", () => {
  it("has the provider's word, which the SDK shows at the end of the step", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.model({});
    call.answers([text("no")], { finishReason: "other" });
    expect(heard.types()).toEqual(["started", "model_start"]);
    call.step([text("no")], { finishReason: "other", rawFinishReason: "refusal" });
    call.end([text("no")], { finishReason: "other", rawFinishReason: "refusal" });
    expect(heard.ofType("model_complete")[0]).toMatchObject({
      finish_reasons: ["refusal"],
      usage: { input_tokens: 10, output_tokens: 5 },
      output: [{ role: "assistant", finish_reason: "content_filter" }],
    });
    expect(heard.ofType("complete")[0]).toMatchObject({ usage: { input_tokens: 10 } });
  });

  it("is an answer also if the call ends without an end of the step", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.model({});
    call.answers([text("no")], { finishReason: "other" });
    call.aborts();
    expect(heard.ofType("model_complete")[0]).toMatchObject({ finish_reasons: ["other"] });
    expect(heard.types().slice(2)).toEqual(["model_complete", "failed"]);
  });
});

describe("a tool call that the SDK does not make", () => {
  it("is a failed call, with what the model is told", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    const wrong = asks("add", "c1", { a: "one" });
    const error = "Invalid input for tool add";
    await call.start();
    await call.model({});
    call.answers([wrong]);
    call.step([
      wrong,
      { type: "tool-error", toolCallId: "c1", toolName: "add", input: wrong.input, error },
    ]);
    expect(heard.ofType("tool_start")[0]).toMatchObject({ tool: "add", input: { a: "one" } });
    expect(heard.ofType("tool_error")[0]).toMatchObject({
      error: "add was not called: its input does not fit",
      envelope: { wire_code: "tool_input_invalid", wire_class: "client" },
      error_for_llm: error,
      kind: "validation",
    });
  });
});

describe("a response to a client", () => {
  const response = (heard: ReturnType<typeof listen>, signals: AbortSignal[] = []) =>
    heard.telemetry.respond(async (signal) => {
      signals.push(signal);
      const call = new FakeCall(heard.telemetry, { operationId: "ai.streamText" });
      await call.start();
      await call.model({ stream: streamUntil(signal) });
      const chunks = ["one", "two"];
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const chunk = chunks.shift();
          if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk));
          else {
            call.answers([text("one two")]);
            call.end([text("one two")]);
            controller.close();
          }
        },
      });
      return new Response(body, { status: 201, headers: { "x-kind": "ui" } });
    });

  it("is the same response", async () => {
    const heard = listen();
    const made = await response(heard);
    expect([made.status, made.headers.get("x-kind"), await made.text()]).toEqual([
      201,
      "ui",
      "onetwo",
    ]);
    expect(heard.types().at(-1)).toBe("complete");
  });

  it("that the client leaves cancels the run and what it waits for", async () => {
    const heard = listen();
    const signals: AbortSignal[] = [];
    const reader = (await response(heard, signals)).body?.getReader();
    await reader?.read();
    await reader?.cancel("gone");
    await later();
    expect(signals[0]?.aborted).toBe(true);
    expect(heard.ofType("model_error").map(({ kind }) => kind?.type)).toEqual(["cancelled"]);
    expect(heard.ofType("failed").map(({ kind }) => kind?.type)).toEqual(["cancelled"]);
  });
});

describe("the options", () => {
  const sink = { send() {} };

  it.each([
    [{ sink, tenant: "" }, /tenant/],
    [{ sink: {}, tenant: "acme" }, /sink/],
    [{ sink, tenant: "acme", maxCalls: 0 }, /maxCalls/],
    [{ sink, tenant: "acme", context: 1 }, /context/],
    [{ sink, tenant: "acme", pausedRuns: {} }, /pausedRuns/],
  ])("%j are refused", (options, message) => {
    expect(() => new AiSdkTelemetry(options as never)).toThrow(message);
  });

  it("take events of any form without an error", () => {
    const heard = listen();
    const { telemetry } = heard;
    for (const odd of [undefined, null, 1, "x", {}, { callId: 1 }, { callId: "none" }]) {
      void telemetry.onStart(odd);
      telemetry.onLanguageModelCallStart(odd);
      telemetry.onLanguageModelCallEnd(odd);
      telemetry.onToolExecutionStart(odd);
      telemetry.onToolExecutionEnd(odd);
      telemetry.onStepEnd(odd);
      telemetry.onEnd(odd);
      telemetry.onAbort(odd);
      telemetry.onError(odd);
    }
    expect(telemetry.counts.faults).toBe(0);
    expect(activeRun()).toBeUndefined();
  });
});
