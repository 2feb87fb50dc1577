import { describe, expect, it } from "vitest";
import { MemorySessionLog, type SessionLog } from "../../../src/entries/audit.ts";
import { setupTracing } from "../../../src/entries/setup.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import { isolateProcess } from "./isolation.ts";
import { keepReports } from "./reports.ts";
import { openRun, sendRun, TRACE_ID } from "./sample-run.ts";

isolateProcess();

describe("createBridge", () => {
  it("puts a run in the trace of its id", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url });
    sendRun(tracing.createBridge());
    await tracing.shutdown();
    expect(server.span("invoke_agent support").traceId).toBe(TRACE_ID);
    expect(server.span("execute_tool search").parentSpanId).toBe(TRACE_ID.slice(16));
  });

  it("has the names of attributes of the setup, unless it chooses its own", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url, conventions: "openinference" });
    sendRun(tracing.createBridge());
    await tracing.shutdown();
    const { attributes } = server.span("invoke_agent support");
    expect(attributes["openinference.span.kind"]).toBe("AGENT");
    expect(attributes).not.toHaveProperty("gen_ai.operation.name");
    const second = setupTracing({ endpoint: server.url, conventions: "openinference" });
    sendRun(second.createBridge({ conventions: "genai" }));
    await second.shutdown();
    const last = server.spans.filter(({ name }) => name === "invoke_agent support").at(-1);
    expect(last?.attributes["gen_ai.operation.name"]).toBe("invoke_agent");
  });

  it("is closed by the shutdown: an open run and its call are sent, audit rows and all", async () => {
    await using server = await OtlpServer.start();
    const log = new MemorySessionLog();
    const tracing = setupTracing({ endpoint: server.url });
    const bridge = tracing.createBridge({ audit: log });
    openRun(bridge);
    const call = { tenant_id: "acme", tool_use_id: "call_1", tool: "search" };
    const run_id = "018f3c7a-0000-7000-8000-00000000002a";
    await bridge.send({ ...call, run_id, type: "tool_start", input: { q: 1 } });
    await tracing.shutdown();
    const run = server.span("invoke_agent support");
    expect(run.attributes["entelix.run.outcome"]).toBe("abandoned");
    const tool = server.span("execute_tool search").attributes;
    expect(tool["entelix.tool.outcome"]).toBe("unfinished");
    const rows = await log.loadSince({ tenant_id: "acme", thread_id: run_id }, 0);
    expect(rows.map((row) => row.trace_id)).toEqual([TRACE_ID, TRACE_ID]);
    expect(tracing.diagnostics()).toMatchObject({ ended: 2, exported: 2 });
  });

  it("sends the spans of runs whose audit log never answers", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const stuck: SessionLog = {
      append: () => new Promise(() => {}),
      loadSince: async () => [],
      archiveBefore: async () => 0,
    };
    const tracing = setupTracing({
      endpoint: server.url,
      shutdownTimeoutMs: 1_000,
      onError: reports.onError,
    });
    // Its promises never settle: nobody waits for them here.
    sendRun(tracing.createBridge({ audit: stuck }));
    await tracing.shutdown();
    const run = server.span("invoke_agent support");
    expect(run.attributes["entelix.run.outcome"]).toBe("complete");
    expect(reports.losses("shutdown")).toEqual([]);
    expect(tracing.diagnostics()).toMatchObject({ ended: 2, exported: 2, pending: 0 });
  });

  it("hands its trouble to the setup's onError, unless it has its own", async () => {
    await using server = await OtlpServer.start();
    const [theirs, own] = [keepReports(), keepReports()];
    const tracing = setupTracing({ endpoint: server.url, onError: theirs.onError });
    const attributes = () => {
      throw new Error("hook");
    };
    sendRun(tracing.createBridge({ attributes }));
    expect(theirs.all.map(({ error }) => String(error))).toEqual(["Error: hook", "Error: hook"]);
    sendRun(tracing.createBridge({ attributes, onError: own.onError }), "r2");
    expect([theirs.all.length, own.all.length]).toEqual([2, 2]);
    await tracing.shutdown();
  });
});
