import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { activeRun, withCurrentRun } from "../../../src/agents/runtime/active-run.ts";
import { type MastraRun, MastraTelemetry } from "../../../src/entries/mastra.ts";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import {
  agentRun,
  answered,
  asked,
  FakeSpan,
  listen,
  REQUEST,
  readAll,
  streamOf,
  tool,
} from "./fake-mastra.ts";

setUnclassifiedWarning(() => {});

const user = (content: string) => ({ role: "user", parts: [{ type: "text", content }] });
const FINISH = {
  type: "finish",
  payload: {
    output: { usage: { inputTokens: 7, outputTokens: 3 } },
    stepResult: { reason: "stop" },
  },
};

describe("a run of an agent", () => {
  it("is a run with its model calls and tools", async () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { generation, inference, step } = asked(run);
    const add = tool(step, "add", "c1", { input: { a: 1 } });
    const seen = await add.inside(async () => activeRun());
    add.end({ output: 3, attributes: { success: true } });
    inference.end(answered("tool-calls"));
    step.end();
    generation.end(answered());
    run.end({ output: { text: "answer-mark" } });
    expect(heard.types()).toEqual([
      "started",
      "model_start",
      "tool_start",
      "tool_complete",
      "model_complete",
      "complete",
    ]);
    const [started] = heard.ofType("started");
    expect(started).toMatchObject({ agent: "support", tenant_id: "acme", parent_run_id: null });
    expect(started?.sentIn.details?.input).toEqual([user("question-mark")]);
    // Mastra's trace is that of the run.
    expect(started?.run_id.replaceAll("-", "")).toBe(run.traceId);
    expect(run.id).toBe(run.traceId.slice(16));
    expect(seen).toMatchObject({ runId: started?.run_id, toolUseId: "c1", tool: "add" });
    expect(heard.ofType("tool_start")[0]).toMatchObject({
      tool: "add",
      tool_use_id: "c1",
      input: { a: 1 },
      sentIn: { details: { tool_description: "add it" } },
    });
    expect(heard.ofType("model_start")[0]).toMatchObject({
      model: "small-1",
      provider: "acme",
      input: [user("question-mark")],
    });
    expect(heard.ofType("model_complete")[0]).toMatchObject({
      response_model: "small-1-2026",
      finish_reasons: ["tool-calls"],
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_input_tokens: 2,
        reasoning_output_tokens: 1,
      },
    });
    expect(heard.ofType("complete")[0]).toMatchObject({
      usage: { requests: 1, input_tokens: 10, output_tokens: 5, tool_calls: 1 },
    });
    expect(heard.counts()).toEqual({});
  });

  it("keeps the trace that the application gives, and is not its run", () => {
    const heard = listen();
    const traceId = "01a2168de7cf7586b10b5e14e7786e98";
    agentRun(heard.telemetry, { traceId }).end({ output: { text: "x" } });
    expect(heard.ofType("started")[0]?.run_id.replaceAll("-", "")).not.toBe(traceId);
  });

  it("is a child of a run of this package around it", () => {
    const heard = listen({ tenant: "other" });
    const outer = {
      sink: heard.sink,
      tenantId: "acme",
      runId: "outer-1",
      rootRunId: "root-1",
      threadId: "t1",
      toolUseId: "c9",
    };
    const run = withCurrentRun(outer, () => agentRun(heard.telemetry));
    expect(run.traceId).toBe("f".repeat(32));
    expect(heard.ofType("started")[0]).toMatchObject({
      tenant_id: "acme",
      parent_run_id: "outer-1",
      sentIn: { root_run_id: "root-1", thread_id: "t1", parent_tool_use_id: "c9" },
    });
  });

  it("says whose it is, by what the application's functions return", () => {
    const heard = listen({
      tenant: ({ requestContext }) => String(requestContext.tenant),
      thread: ({ threadId }) => `thread of ${threadId}`,
      context: ({ resourceId, tags }) => ({ user: resourceId, tags }),
    });
    agentRun(heard.telemetry, {
      metadata: { runId: "mastra-1", threadId: "t1", resourceId: "u1" },
      requestContext: { tenant: "north" },
      tags: ["a", 7],
    });
    expect(heard.ofType("started")[0]).toMatchObject({
      tenant_id: "north",
      sentIn: { thread_id: "thread of t1", details: { user_id: "u1", tags: ["a"] } },
    });
  });
});

describe("model calls", () => {
  it("end with their stream, though tools of the answer keep their spans open", async () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { inference, step } = asked(run);
    const parts = [
      { type: "response-metadata", payload: { id: "resp-1", modelId: "small-1-2026" } },
      { type: "text-delta", payload: { text: "one" } },
      FINISH,
    ];
    await readAll(step.insideSync(() => streamOf(...parts)));
    const add = tool(step, "add", "c1");
    add.end({ output: 3, attributes: { success: true } });
    inference.end(answered());
    const [complete] = heard.ofType("model_complete");
    const [start] = heard.ofType("tool_start");
    expect(complete).toMatchObject({ response_id: "resp-1", first_output_ms: expect.any(Number) });
    expect(nanosOf(complete?.sentIn.timestamp)).toBeLessThan(nanosOf(start?.sentIn.timestamp));
  });

  it("have their usage when the run pauses before their span has it", async () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { generation, inference, step } = asked(run);
    await readAll(step.insideSync(() => streamOf(FINISH)));
    generation.end({ attributes: { finishReason: "suspended" } });
    inference.end();
    expect(heard.ofType("model_complete")[0]).toMatchObject({
      usage: { input_tokens: 7, output_tokens: 3 },
      finish_reasons: ["stop"],
    });
  });

  it("fail with what the provider's client threw, not with the copy on a span", async () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { inference, step } = asked(run);
    const error = Object.assign(new Error("slow down"), { statusCode: 429 });
    await readAll(step.insideSync(() => streamOf({ type: "error", payload: { error } })));
    inference.end({ attributes: { finishReason: "error" } });
    run.end({ errorInfo: { message: "slow down", name: "Error" } });
    expect(heard.ofType("model_error")[0]?.envelope).toMatchObject({ wire_code: "rate_limited" });
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: "model_dispatch" },
      envelope: { wire_code: "rate_limited", origin: "model" },
    });
  });

  it("have their usage when they fail, from the stream or from their span", async () => {
    const heard = listen({ price: ({ usage }) => `0.${usage.input_tokens}` });
    for (const attributes of [{}, { usage: { inputTokens: 8, outputTokens: 2 } }]) {
      const run = agentRun(heard.telemetry);
      const { inference, step } = asked(run);
      const error = { type: "error", payload: { error: new Error("overloaded") } };
      await readAll(step.insideSync(() => streamOf(error, FINISH)));
      inference.end({ attributes: { finishReason: "error", ...attributes } });
      run.end({ errorInfo: { message: "overloaded", name: "Error" } });
    }
    expect(heard.ofType("model_error")).toMatchObject([
      { usage: { input_tokens: 7, output_tokens: 3 }, cost_usd: "0.7" },
      { usage: { input_tokens: 8, output_tokens: 2 }, cost_usd: "0.8" },
    ]);
  });

  it("fail with the error of their run, where no stream was seen", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { inference } = asked(run);
    inference.end({ attributes: { finishReason: "error" } });
    expect(heard.types()).toEqual(["started", "model_start"]);
    run.end({ errorInfo: { message: "overloaded", name: "AI_APICallError" } });
    expect(heard.types().slice(2)).toEqual(["model_error", "failed"]);
    expect(heard.ofType("model_error")[0]?.error).toContain("overloaded");
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: "model_dispatch" },
      envelope: { origin: "model" },
    });
  });

  it("are no requests where Mastra shows an earlier answer again", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const step = run.child("model_generation", { attributes: REQUEST }).child("model_step");
    step.child("model_inference", { attributes: { model: "small-1" } }).end(answered());
    step.end(answered());
    expect(heard.types()).toEqual(["started"]);
  });

  it("are turns, or the whole loop, where spans of requests are not exported", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const turns = run.child("model_generation", { attributes: REQUEST });
    turns.child("model_step").end(answered());
    turns.end(answered());
    const loop = run.child("model_generation", { attributes: REQUEST });
    loop.end(answered());
    expect(heard.types().slice(1)).toEqual([
      "model_start",
      "model_complete",
      "model_start",
      "model_complete",
    ]);
    expect(heard.ofType("model_complete")[1]).toMatchObject({
      model: "small-1",
      usage: { input_tokens: 10 },
    });
  });

  it("show the messages that Mastra shows, where they are not those of the turns before", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { generation, inference, step } = asked(run);
    inference.end(answered("tool-calls"));
    step.end();
    const second = generation.child("model_step");
    const request = second.child("model_inference", { attributes: REQUEST });
    const marks = [
      { role: "assistant", content: "[tool: nope]" },
      { role: "tool", content: "[tool-result: refund][tool-result: nope]" },
      { role: "assistant", content: "I look. [tool: refund]" },
    ];
    second.update({ input: [{ role: "user", content: "cut short" }, ...marks] });
    request.end(answered());
    expect(heard.ofType("model_complete")[1]?.input).toEqual([
      user("cut short"),
      { role: "assistant", parts: [{ type: "text", content: "I look." }] },
    ]);
  });

  it("are complete where Mastra rejects the object that the model gave", async () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { inference, step } = asked(run);
    await readAll(step.insideSync(() => streamOf(FINISH)));
    inference.end({ attributes: { finishReason: "error" } });
    const id = "STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED";
    run.end({ errorInfo: { id, message: "city: secret-mark", domain: "AGENT" } });
    expect(heard.types().slice(2)).toEqual(["model_complete", "failed"]);
    expect(heard.ofType("failed")[0]).toMatchObject({
      error: "the structured output has not the expected form",
      kind: { type: "internal" },
      envelope: { wire_code: "invalid_request", origin: "run" },
    });
    expect(JSON.stringify(heard.sent)).not.toContain("secret-mark");
  });

  it("are complete where Mastra rejects an answer with the finish reason error", async () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { inference, step } = asked(run);
    await readAll(step.insideSync(() => streamOf(FINISH)));
    inference.end({ attributes: { finishReason: "error" } });
    const message =
      'Agent stream finished with finishReason "error" but no error payload was provided';
    run.end({ errorInfo: { id: "AGENT_STREAM_ERROR", message, domain: "AGENT" } });
    expect(heard.types().slice(2)).toEqual(["model_complete", "failed"]);
    expect(heard.ofType("failed")[0]).toMatchObject({
      error: message,
      kind: { type: "model_dispatch" },
      envelope: { origin: "model" },
    });
  });

  it("count a second model that answers in the first one's place as a retry", async () => {
    const heard = listen();
    const { inference, step } = asked(agentRun(heard.telemetry));
    const error = new Error("overloaded");
    await readAll(step.insideSync(() => streamOf({ type: "error", payload: { error } })));
    await readAll(step.insideSync(() => streamOf(FINISH)));
    inference.end(answered());
    expect(heard.ofType("model_complete")[0]?.retries).toBe(1);
  });

  it("name the provider of the fallback that answered, also for its price", async () => {
    const asks: unknown[] = [];
    const heard = listen({ price: ({ provider }) => void asks.push(provider) });
    const run = agentRun(heard.telemetry);
    const { generation, inference, step } = asked(run);
    const error = new Error("overloaded");
    await readAll(step.insideSync(() => streamOf({ type: "error", payload: { error } })));
    generation.update({ attributes: { model: "claude-x", provider: "anthropic.messages" } });
    await readAll(step.insideSync(() => streamOf(FINISH)));
    inference.end(answered());
    expect(heard.ofType("model_start")[0]).toMatchObject({ provider: "acme", model: "small-1" });
    expect(heard.ofType("model_complete")[0]).toMatchObject({ provider: "anthropic" });
    expect(asks).toEqual(["anthropic"]);
  });

  it("have the price that the application gives", () => {
    const heard = listen({ price: () => "0.5" });
    const run = agentRun(heard.telemetry);
    asked(run).inference.end(answered());
    run.end({ output: { text: "x" } });
    expect(heard.ofType("model_complete")[0]?.cost_usd).toBe("0.5");
    expect(heard.ofType("complete")[0]?.usage?.cost_usd).toBe("0.5");
  });
});

describe("tool calls", () => {
  it("fail with what their code threw, and the text that the model gets", async () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const boom = tool(asked(run).step, "boom", "c1");
    const error = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    await expect(boom.inside(() => Promise.reject(error))).rejects.toBe(error);
    boom.end({ errorInfo: { message: "refused" }, attributes: { success: false } });
    run.end({ output: { text: "" } });
    expect(heard.ofType("tool_error")[0]).toMatchObject({
      kind: "transient",
      error_for_llm: "refused",
      envelope: { wire_code: "transport_failure", origin: "tool" },
    });
  });

  it("of MCP servers are tool calls, and failures by their result", () => {
    const heard = listen();
    const step = asked(agentRun(heard.telemetry)).step;
    const call = step.child("mcp_tool_call", {
      entityName: "docs_search",
      attributes: { toolCallId: "c1", mcpServer: "docs" },
    });
    const output = { isError: true, content: [{ type: "text", text: "no row" }] };
    call.end({ output, attributes: { success: true } });
    expect(heard.ofType("tool_error")[0]).toMatchObject({
      tool: "docs_search",
      kind: "internal",
      error_for_llm: "no row",
      envelope: { wire_code: "tool_result_error" },
    });
  });

  it("are validation errors where Mastra refused the input", () => {
    const heard = listen();
    const step = asked(agentRun(heard.telemetry)).step;
    const output = { error: true, message: "a: expected number, got secret-mark" };
    tool(step, "add", "c1").end({ output, attributes: { success: false } });
    // A wrong result is a success to Mastra's span.
    const wrong = { ...output, validationErrors: {} };
    tool(step, "add", "c2").end({ output: wrong, attributes: { success: true } });
    const [error, second] = heard.ofType("tool_error");
    expect(second?.kind).toBe("validation");
    expect(error).toMatchObject({ kind: "validation", error_for_llm: output.message });
    expect(error?.error).not.toContain("secret-mark");
  });

  it("end with their run: cut off, or paused", () => {
    const heard = listen();
    const cut = agentRun(heard.telemetry, { metadata: { runId: "mastra-2" } });
    tool(asked(cut).step, "wait", "c1");
    cut.end({ output: { status: "aborted", reason: "abort" } });
    const paused = agentRun(heard.telemetry);
    tool(asked(paused).step, "ask", "c2");
    paused.end({
      output: {
        status: "suspended",
        reason: "tool-call-suspended",
        toolName: "ask",
        toolCallId: "c2",
      },
    });
    const ends = heard.ofType("tool_error");
    expect(ends.map(({ envelope }) => envelope.wire_code)).toEqual(["cancelled", "interrupted"]);
    expect(ends.map(({ error }) => error)).toEqual([
      expect.stringMatching(/: the run ended while the call was open$/),
      // As in every adapter, and in upstream's agents.
      "dispatch interrupted for human review",
    ]);
    expect(heard.ofType("interrupted")[0]).toMatchObject({
      kind: { type: "custom" },
      payload: [{ tool_use_id: "c2", tool: "ask" }],
    });
  });

  it("find their run where the span above is not exported", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { traceId } = run;
    new FakeSpan(heard.telemetry, "tool_call", undefined, {
      traceId,
      parentSpanId: "feedfeedfeedfeed",
      entityName: "late",
      attributes: { toolCallId: "c1" },
    });
    expect(heard.ofType("tool_start")[0]).toMatchObject({ tool: "late", tool_use_id: "c1" });
  });
});

describe("pauses", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const suspended = (toolCallId: string) => ({
    output: { status: "suspended", reason: "tool-call-approval", toolName: "pay", toolCallId },
  });
  const resumed = (traceId: string, input: object, more: object = {}) => ({
    traceId,
    input,
    metadata: { runId: "mastra-1", resumed: true, resumedFromSpanId: "0123456789abcdef" },
    ...more,
  });

  it("link each resumed run to the one before, with the decision, the person and the wait", () => {
    const heard = listen({ decidedBy: (_, { user }) => String(user) });
    const first = agentRun(heard.telemetry);
    first.end(suspended("c1"));
    expect(heard.ofType("interrupted")[0]?.kind).toEqual({
      type: "approval_pending",
      tool_use_id: "c1",
    });
    vi.advanceTimersByTime(5_000);
    const call = { toolName: "pay", toolCallId: "c1" };
    const second = agentRun(
      heard.telemetry,
      resumed(first.traceId, { approved: true, ...call }, { requestContext: { user: "u2" } }),
    );
    second.end(suspended("c2"));
    const answer = { approved: false, reason: "twice", toolName: "pay", toolCallId: "c2" };
    agentRun(heard.telemetry, resumed(first.traceId, answer)).end({ output: { text: "done" } });
    const [one, two, three] = heard.ofType("started");
    expect(two?.sentIn.resumed_from_run_id).toBe(one?.run_id);
    expect(three?.sentIn.resumed_from_run_id).toBe(two?.run_id);
    expect(new Set([one?.run_id, two?.run_id, three?.run_id]).size).toBe(3);
    expect(heard.ofType("tool_call_approved")[0]).toMatchObject({
      tool: "pay",
      tool_use_id: "c1",
      sentIn: { details: { decision: { by: "user", person: "u2", wait_ms: 5_000 } } },
    });
    expect(heard.ofType("tool_call_denied")[0]).toMatchObject({
      tool_use_id: "c2",
      reason: "twice",
    });
  });

  it("are known in another process by the ID of the trace", () => {
    const before = listen();
    const first = agentRun(before.telemetry);
    const after = listen();
    agentRun(after.telemetry, resumed(first.traceId, { approved: true }));
    expect(after.ofType("started")[0]?.sentIn.resumed_from_run_id).toBe(
      before.ofType("started")[0]?.run_id,
    );
    // An ID that Mastra chose is no evidence.
    agentRun(after.telemetry, resumed("a".repeat(32), { approved: true }));
    expect(after.ofType("started")[1]?.sentIn.resumed_from_run_id).toBeUndefined();
  });

  it("do not lead to another tenant", () => {
    const heard = listen({ tenant: ({ requestContext }) => String(requestContext.tenant) });
    const traceId = "b".repeat(32);
    agentRun(heard.telemetry, { traceId, requestContext: { tenant: "north" } }).end(
      suspended("c1"),
    );
    const more = { requestContext: { tenant: "south" } };
    agentRun(heard.telemetry, resumed(traceId, { approved: true }, more));
    expect(heard.ofType("started")[1]?.sentIn.resumed_from_run_id).toBeUndefined();
  });

  const byContext = {
    tenant: ({ requestContext }: MastraRun) => String(requestContext.tenant ?? ""),
    context: ({ requestContext: { user, session }, tags }: MastraRun) => ({
      user: user === undefined ? undefined : String(user),
      session: session === undefined ? undefined : String(session),
      tags,
    }),
    thread: ({ requestContext: { thread } }: MastraRun) =>
      thread === undefined ? undefined : String(thread),
  };
  const requestContext = { tenant: "north", user: "u1", session: "s1", thread: "t1" };

  it("keep tenant, subject and thread of the paused run, which the hooks are not told again", () => {
    const heard = listen(byContext);
    const first = agentRun(heard.telemetry, { requestContext, tags: ["vip"] });
    first.end(suspended("c1"));
    const answer = { approved: true, toolName: "pay", toolCallId: "c1" };
    agentRun(heard.telemetry, resumed(first.traceId, answer)).end({ output: { text: "done" } });
    const [one, two] = heard.ofType("started");
    expect(two).toMatchObject({
      tenant_id: "north",
      sentIn: {
        resumed_from_run_id: one?.run_id,
        thread_id: "t1",
        session_id: "s1",
        details: { user_id: "u1", tags: ["vip"] },
      },
    });
    expect(heard.ofType("tool_call_approved")).toMatchObject([{ tenant_id: "north" }]);
    expect(heard.telemetry.counts.refused).toBe(0);
    expect(heard.errors).toEqual([]);
  });

  it("have what the hooks give, where they give it", () => {
    const heard = listen(byContext);
    const first = agentRun(heard.telemetry, { requestContext });
    first.end(suspended("c1"));
    const more = { requestContext: { ...requestContext, user: "u2" } };
    agentRun(heard.telemetry, resumed(first.traceId, { approved: true }, more));
    expect(heard.ofType("started")[1]?.sentIn).toMatchObject({ details: { user_id: "u2" } });
  });

  it("are refused if two tenants have a paused run of that ID, and nothing says which", () => {
    const heard = listen(byContext);
    const first = agentRun(heard.telemetry, { requestContext });
    first.end(suspended("c1"));
    const other = { ...requestContext, tenant: "south" };
    agentRun(heard.telemetry, { requestContext: other }).end(suspended("c1"));
    agentRun(heard.telemetry, resumed(first.traceId, { approved: true }));
    expect(heard.ofType("started")).toHaveLength(2);
    expect(heard.telemetry.counts.refused).toBe(1);
  });

  it("do not lead to another tenant by the ID of the trace either", () => {
    const heard = listen(byContext);
    const first = agentRun(heard.telemetry, { requestContext });
    first.end(suspended("c1"));
    const more = { requestContext: { tenant: "south" } };
    agentRun(heard.telemetry, resumed(first.traceId, { approved: true }, more));
    expect(heard.ofType("started")[1]?.tenant_id).toBe("south");
    expect(heard.ofType("started")[1]?.sentIn.resumed_from_run_id).toBeUndefined();
  });

  it("of a tool's own code have no decision: its code reads the answer", () => {
    const heard = listen();
    const first = agentRun(heard.telemetry);
    const call = { toolName: "ask", toolCallId: "c1" };
    first.end({ output: { status: "suspended", reason: "tool-call-suspended", ...call } });
    agentRun(heard.telemetry, resumed(first.traceId, { approved: false, ...call }));
    expect(heard.types()).toEqual(["started", "interrupted", "started"]);
  });
});

describe("workflows", () => {
  const workflow = (telemetry: MastraTelemetry, data: object = {}) =>
    new FakeSpan(telemetry, "workflow_run", undefined, { entityId: "flow", input: {}, ...data });

  it("are runs with steps, and runs in steps are their children", async () => {
    const heard = listen();
    const run = workflow(heard.telemetry);
    // Control flow has no event: what is in it belongs to the run.
    const step = run.child("workflow_parallel").child("workflow_step", { entityId: "one" });
    const inner = await step.inside(async () => step.child("agent_run", { entityName: "expert" }));
    inner.end({ output: { text: "x" } });
    step.end({ attributes: { status: "success" } });
    run.end({ attributes: { status: "success" }, output: { v: 4 } });
    expect(heard.types()).toEqual([
      "started",
      "step_start",
      "started",
      "complete",
      "step_complete",
      "complete",
    ]);
    const [outer, child] = heard.ofType("started");
    const [start] = heard.ofType("step_start");
    expect(outer?.agent).toBe("flow");
    expect(outer?.sentIn.details?.operation).toBe("invoke_workflow");
    expect(child?.sentIn.details?.operation).toBeUndefined();
    expect(start?.step).toBe("one");
    expect(child).toMatchObject({
      parent_run_id: outer?.run_id,
      sentIn: { details: { step_id: start?.step_id }, root_run_id: outer?.run_id },
    });
    const [, complete] = heard.ofType("complete");
    expect(complete?.sentIn.details?.output).toEqual([
      {
        role: "assistant",
        parts: [{ type: "text", content: '{"v":4}' }],
        finish_reason: "stop",
      },
    ]);
  });

  it("fail with what a step threw, and say where it came from", async () => {
    const heard = listen();
    const run = workflow(heard.telemetry);
    const step = run.child("workflow_step", { entityId: "one" });
    const error = Object.assign(new Error("gone"), { statusCode: 503 });
    await expect(step.inside(() => Promise.reject(error))).rejects.toBe(error);
    const errorInfo = {
      message: "gone",
      id: "WORKFLOW_STEP_INVOKE_FAILED",
      domain: "MASTRA_WORKFLOW",
    };
    step.end({ errorInfo, attributes: { status: "failed" } });
    run.end({ errorInfo: { message: "gone" }, attributes: { status: "failed" } });
    expect(heard.ofType("step_error")[0]?.envelope).toMatchObject({ provider_status: 503 });
    expect(heard.ofType("failed")[0]).toMatchObject({
      kind: { type: "internal" },
      envelope: { provider_status: 503, origin: "run" },
    });
  });

  it.each([
    ["canceled", "cancelled", "failed"],
    ["suspended", "interrupted", "interrupted"],
  ])("that are %s end their open steps as %s", (status, code, end) => {
    const heard = listen();
    const run = workflow(heard.telemetry);
    run.child("workflow_step", { entityId: "one" }).end({ attributes: { status } });
    run.child("workflow_step", { entityId: "two" });
    run.end({ attributes: { status } });
    const codes = heard.ofType("step_error").map(({ envelope }) => envelope.wire_code);
    expect(codes).toEqual([code, code]);
    expect(heard.types().at(-1)).toBe(end);
  });
});

describe("runs that fail", () => {
  it("name the processor that stopped them, not its reason", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const tripwireAbort = { processorId: "guard", reason: "it says secret-mark" };
    run.end({ attributes: { tripwireAbort }, output: {} });
    const [failed] = heard.ofType("failed");
    expect(failed).toMatchObject({
      error: "the processor guard stopped the run",
      kind: { type: "internal" },
      envelope: { wire_code: "invalid_request", origin: "run" },
    });
  });

  it.each([
    ["LLM", "model"],
    ["TOOL", "tool"],
    ["AGENT", "run"],
  ])("with an error of Mastra's domain %s have the origin %s", (domain, origin) => {
    const heard = listen();
    const errorInfo = { message: "broken", name: "Error", id: "X", domain, category: "USER" };
    agentRun(heard.telemetry).end({ errorInfo });
    expect(heard.ofType("failed")[0]?.envelope.origin).toBe(origin);
  });

  it("are deadlines where the signal was a timeout", async () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { inference, step } = asked(run);
    const error = new DOMException("too late", "TimeoutError");
    await readAll(step.insideSync(() => streamOf({ type: "error", payload: { error } })));
    inference.end();
    run.end({ output: { status: "aborted", reason: "abort" } });
    expect(heard.ofType("failed")[0]?.kind).toEqual({ type: "deadline_exceeded" });
  });
});

describe("what Mastra must not notice", () => {
  it.each([undefined, null, 7, "span", {}, { type: "span_started" }, { exportedSpan: {} }])(
    "reads nothing out of %j",
    async (event) => {
      const heard = listen();
      heard.telemetry.onTracingEvent(event);
      await heard.telemetry.exportTracingEvent(event);
      expect(heard.telemetry.createSpan(event)).toBeUndefined();
      expect(heard.types()).toEqual([]);
      expect(heard.errors).toEqual([]);
    },
  );

  it("counts what throws in its own code, and continues", () => {
    const heard = listen();
    const hostile = new Proxy({}, { get: () => Reflect.get(null as unknown as object, "x") });
    heard.telemetry.onTracingEvent({ type: "span_started", exportedSpan: hostile });
    expect(heard.counts()).toEqual({ faults: 1 });
    expect(heard.errors).toHaveLength(1);
  });

  it("calls code of unknown spans as it is", async () => {
    const { telemetry } = listen();
    expect(await telemetry.executeInContext("none", async () => 1)).toBe(1);
    expect(telemetry.executeInContextSync("none", () => 2)).toBe(2);
  });

  it("leaves a stream alone that is read already", () => {
    const step = asked(agentRun(listen().telemetry)).step;
    const given = streamOf(1);
    given.getReader();
    expect(step.insideSync(() => given)).toBe(given);
  });

  it("gives a model's stream part by part, with its transport", async () => {
    const heard = listen();
    const step = asked(agentRun(heard.telemetry)).step;
    const given = streamOf(1, 2, 3);
    const key = Symbol.for("@mastra/core.modelStreamTransport");
    Object.defineProperty(given, key, { value: "socket" });
    const stream = step.insideSync(() => given);
    expect(Reflect.get(stream, key)).toBe("socket");
    const parts: unknown[] = [];
    for await (const part of stream) parts.push(part);
    expect(parts).toEqual([1, 2, 3]);
  });
});

describe("bounds", () => {
  it("forget the oldest run, and count it", () => {
    const heard = listen({ maxRuns: 1 });
    const first = agentRun(heard.telemetry, { metadata: { runId: "a" } });
    const second = agentRun(heard.telemetry, { metadata: { runId: "b" } });
    first.end({ output: { text: "x" } });
    second.end({ output: { text: "x" } });
    expect(heard.types()).toEqual(["started", "started", "complete"]);
    expect(heard.counts()).toEqual({ forgotten: 1 });
  });

  it("forget the oldest spans of a run, and count them", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    for (let at = 0; at < 10_001; at += 1) run.child("generic");
    expect(heard.counts()).toEqual({ forgottenSpans: 2 });
    run.end({ output: { text: "x" } });
    expect(heard.types()).toEqual(["started", "complete"]);
  });

  it("take each event once, from a bridge that is an exporter as well", () => {
    const heard = listen();
    const exportedSpan = { id: "1", type: "agent_run", traceId: "2" };
    const event = { type: "span_started", exportedSpan };
    heard.telemetry.onTracingEvent(event);
    heard.telemetry.onTracingEvent(event);
    expect(heard.types()).toEqual(["started"]);
    expect(heard.counts()).toEqual({ duplicates: 1 });
  });

  it("forget a run whose end Mastra filters out", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    heard.telemetry.releaseSpan(run.id);
    run.end({ output: { text: "x" } });
    expect(heard.types()).toEqual(["started"]);
  });
});

describe("the options", () => {
  const sink = { send: () => {} };

  it.each([
    ["tenant", ""],
    ["tenant", 7],
    ["sink", {}],
    ["context", 7],
    ["price", "x"],
    ["onError", 1],
  ])("refuse %s %j", (name, value) => {
    const options = { sink, tenant: "acme", [name]: value };
    expect(() => new MastraTelemetry(options)).toThrow(TypeError);
  });

  it("refuse a limit out of range", () => {
    expect(() => new MastraTelemetry({ sink, tenant: "acme", maxRuns: 0 })).toThrow(RangeError);
  });
});

/** A time of the adapter, in ns of its day. */
function nanosOf(at: unknown): number {
  if (!Array.isArray(at)) return Number.NaN;
  const [seconds, nanos]: readonly unknown[] = at;
  return (Number(seconds) % 86_400) * 1e9 + Number(nanos);
}
