import { describe, expect, it } from "vitest";
import { AuditSink } from "../../src/audit/audit-sink.ts";
import { toGraphEvent } from "../../src/audit/event-rows.ts";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import type { AgentEvent } from "../../src/index.ts";

const timestamp = "2026-04-29T12:00:00Z";
const tool = { type: "tool_start", tool_use_id: "tu", tool: "t", input: {} };

describe("an event of a program without types", () => {
  it("never makes send throw: the promise names what is missing", async () => {
    const errors: string[] = [];
    const log = new MemorySessionLog();
    const sink = new AuditSink({ log, onError: (error) => errors.push(String(error)) });
    for (const tenant_id of [undefined, null, 7]) {
      const event: AgentEvent = Object({ ...tool, tenant_id, run_id: "r1" });
      await expect(sink.send(event)).rejects.toThrow("tenant_id: expected a string");
      const begun = sink.send(Object({ type: "started", tenant_id, run_id: "r1" }));
      await expect(begun).rejects.toThrow("tenant_id: expected a string");
      const resumed = sink.recordResumed(Object({ tenant_id, run_id: "r1" }), "");
      await expect(resumed).rejects.toThrow("tenant_id: expected a string");
    }
    for (const run_id of [undefined, null]) {
      const event: AgentEvent = Object({ ...tool, tenant_id: "acme", run_id });
      await expect(sink.send(event)).rejects.toThrow("run_id: expected a string that is not");
      await sink.send(event, { thread_id: "t1" });
    }
    expect(errors).toHaveLength(11);
    const rows = await log.loadSince({ tenant_id: "acme", thread_id: "t1" }, 0);
    expect(rows.map(({ run_id }) => run_id)).toEqual([null, null]);
  });

  it("leaves a row that upstream can read where the model was given no text", () => {
    const event: AgentEvent = Object({ ...tool, type: "tool_error", error: "operators' text" });
    expect(toGraphEvent(event, timestamp)).toEqual({
      kind: "tool_result",
      tool_use_id: "tu",
      name: "t",
      content: null,
      is_error: true,
      timestamp,
    });
  });
});
