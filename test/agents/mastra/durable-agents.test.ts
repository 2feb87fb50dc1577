import { describe, expect, it } from "vitest";
import { pausedRunsDatabase } from "../../support/paused-runs-database.ts";
import { agentRun, answered, asked, listen, tool } from "./fake-mastra.ts";

// The spans of `createDurableAgent` say why an agent is suspended, but not with what it resumes.

const suspended = (reason: string) => ({
  output: { status: "suspended", reason, toolName: "pay", toolCallId: "c1" },
});
const resumed = (traceId: string) => ({
  traceId,
  input: undefined,
  metadata: { runId: "mastra-1", resumed: true },
});

describe("a durable agent", () => {
  it("waits for an approval, which its call shows when it starts", () => {
    const heard = listen({ decidedBy: ({ outcome }) => `${outcome} by eve` });
    const first = agentRun(heard.telemetry);
    first.end(suspended("approval"));
    expect(heard.ofType("interrupted")[0]?.kind).toEqual({
      type: "approval_pending",
      tool_use_id: "c1",
    });
    const second = agentRun(heard.telemetry, resumed(first.traceId));
    tool(second, "other", "c0").end({ output: "ok", attributes: { success: true } });
    tool(second, "pay", "c1").end({ output: "paid", attributes: { success: true } });
    asked(second).inference.end(answered());
    second.end({ output: { text: "done" } });
    expect(heard.types().slice(2)).toEqual([
      "started",
      "tool_start",
      "tool_complete",
      "tool_call_approved",
      "tool_start",
      "tool_complete",
      "model_start",
      "model_complete",
      "complete",
    ]);
    expect(heard.ofType("tool_call_approved")[0]).toMatchObject({
      tool: "pay",
      tool_use_id: "c1",
      sentIn: { details: { decision: { by: "user", person: "approved by eve" } } },
    });
  });

  it("was denied a call that did not start before the model is asked again, in another process", async () => {
    const { store } = pausedRunsDatabase();
    const before = listen({ pausedRuns: store });
    const first = agentRun(before.telemetry);
    first.end(suspended("approval"));
    await before.telemetry.flush();
    const after = listen({ pausedRuns: store });
    const second = agentRun(after.telemetry, resumed(first.traceId));
    asked(second).inference.end(answered());
    second.end({ output: { text: "done" } });
    await after.telemetry.flush();
    expect(after.types()).toEqual([
      "started",
      "tool_call_denied",
      "model_start",
      "model_complete",
      "complete",
    ]);
    expect(after.ofType("tool_call_denied")[0]).toMatchObject({ tool: "pay", tool_use_id: "c1" });
  });

  it("has no decision about a tool that suspended itself", () => {
    const heard = listen();
    const first = agentRun(heard.telemetry);
    first.end(suspended("suspension"));
    expect(heard.ofType("interrupted")[0]?.kind).toEqual({ type: "custom" });
    const second = agentRun(heard.telemetry, resumed(first.traceId));
    tool(second, "pay", "c1").end({ output: "paid", attributes: { success: true } });
    second.end({ output: { text: "done" } });
    expect(heard.types().slice(2)).toEqual(["started", "tool_start", "tool_complete", "complete"]);
  });

  it("that a signal stopped is cancelled", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const { generation, inference } = asked(run);
    const errorInfo = { name: "AbortError", message: "This operation was aborted" };
    inference.end({ errorInfo });
    generation.end({ attributes: { finishReason: "abort" }, output: { text: "" } });
    run.end({ output: { text: "" } });
    expect(heard.ofType("model_error")[0]?.envelope.wire_code).toBe("cancelled");
    expect(heard.ofType("failed")[0]?.kind).toEqual({ type: "cancelled" });
  });

  it("fails with the error of its model, of which only a copy is known", () => {
    const heard = listen();
    const run = agentRun(heard.telemetry);
    const errorInfo = { name: "Error", message: "busy" };
    asked(run).inference.end({ errorInfo });
    run.end({ errorInfo });
    expect(heard.ofType("model_error")[0]?.kind).toEqual({ type: "model_dispatch" });
    const [failed] = heard.ofType("failed");
    expect(failed?.kind).toEqual({ type: "model_dispatch" });
    expect(failed?.envelope.origin).toEqual("model");
  });

  it("leaves no open run behind that Mastra begins for a second resumption", () => {
    const heard = listen();
    const first = agentRun(heard.telemetry);
    first.end(suspended("approval"));
    const empty = agentRun(heard.telemetry);
    const metadata = { runId: "mastra-1", resumed: true, resumedFromSpanId: empty.id };
    const second = agentRun(heard.telemetry, { ...resumed(empty.traceId), metadata });
    second.end({ output: { text: "done" } });
    expect(heard.types()).toEqual([
      "started",
      "interrupted",
      "started",
      "interrupted",
      "started",
      "complete",
    ]);
    const [paused, , last] = heard.ofType("started");
    expect(last?.sentIn.resumed_from_run_id).toBe(paused?.run_id);
  });
});
