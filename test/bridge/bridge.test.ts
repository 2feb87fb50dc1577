import { describe, expect, it } from "vitest";
import { Bridge } from "../../src/bridge/bridge.ts";
import {
  type AuditEntry,
  MemorySessionLog,
  type RowAnchor,
  type SessionLog,
  type ThreadKey,
} from "../../src/entries/audit.ts";
import { parseExact } from "../../src/entries/events.ts";
import { resultText } from "../../src/events/door.ts";
import type { AgentEvent } from "../../src/index.ts";
import { readLines } from "../support/golden.ts";
import { collectSpans, fingerprint, toTrees } from "../support/spans.ts";
import { toolRows } from "../support/tool-rows.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const TENANT = "acme";

const started: AgentEvent = { type: "started", run_id: RUN, tenant_id: TENANT, agent: "react" };
const call = { run_id: RUN, tenant_id: TENANT, tool_use_id: "call_1", tool: "fetch" };
const toolStart: AgentEvent = { type: "tool_start", ...call, input: { q: "SENTINEL-INPUT" } };
const toolComplete: AgentEvent = {
  type: "tool_complete",
  ...call,
  duration_ms: 3,
  output: "SENTINEL-OUTPUT",
};
const complete: AgentEvent = { type: "complete", run_id: RUN, tenant_id: TENANT, state: null };
const failed: AgentEvent = {
  type: "failed",
  run_id: RUN,
  tenant_id: TENANT,
  error: "provider returned 503: vendor down",
  envelope: { wire_code: "upstream_unavailable", wire_class: "server", provider_status: 503 },
  kind: { type: "model_dispatch" },
};

/** A log that can be told to fail, or to leave its callers waiting. */
class TroubledLog implements SessionLog {
  readonly inner = new MemorySessionLog();
  mode: "works" | "fails" | "hangs" = "works";
  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    if (this.mode === "fails") return Promise.reject(new Error("disk full"));
    if (this.mode === "hangs") return new Promise(() => {});
    return this.inner.append(key, entries);
  }
  loadSince(key: ThreadKey, cursor: number) {
    return this.inner.loadSince(key, cursor);
  }
  archiveBefore(key: ThreadKey, watermark: number) {
    return this.inner.archiveBefore(key, watermark);
  }
}

function bridged(log: SessionLog, more: object = {}) {
  const collected = collectSpans();
  const errors: string[] = [];
  const bridge = new Bridge({
    tracerProvider: collected.provider,
    audit: log,
    onError: (error, where) => errors.push(`${where}: ${String(error)}`),
    ...more,
  });
  return { ...collected, bridge, errors };
}

interface Recorded {
  id: string;
  events: { at: string; event: AgentEvent; graph_event: unknown }[];
}

describe("Bridge with an audit log", () => {
  const recordings: Recorded[] = [
    "golden/entelix_lifecycles.jsonl",
    "golden/entelix_lifecycles_older_0_5.jsonl",
  ].flatMap((file) => readLines(file).map((line) => parseExact(line) as unknown as Recorded));

  it.each(recordings)(
    "$id: rows are the recorded projections, anchored on the span",
    async (recording) => {
      const log = new MemorySessionLog();
      const { bridge, spans, ended } = bridged(log, { mode: "replay" });
      const threads = new Map<string, unknown[]>();
      for (const { at, event, graph_event } of recording.events) {
        const thread = `${event.tenant_id} thread`;
        await bridge.send(event, { timestamp: at, thread_id: thread });
        if (graph_event === null) continue;
        threads.set(event.tenant_id, [...(threads.get(event.tenant_id) ?? []), graph_event]);
      }
      await bridge.shutdown();
      for (const [tenant_id, expected] of threads) {
        const rows = await log.loadSince({ tenant_id, thread_id: `${tenant_id} thread` }, 0);
        const ofTools = toolRows(rows);
        expect(ofTools.map((row) => row.event)).toEqual(expected);
        for (const row of ofTools) {
          const span = spans().find((one) => one.spanContext().spanId === row.span_id);
          expect(span?.spanContext().traceId).toBe(row.trace_id);
          expect(span?.attributes["entelix.run_id"]).toBe(row.run_id);
          expect(span?.attributes["gen_ai.operation.name"]).toBe("execute_tool");
        }
        for (const run of spans().filter((one) => one.name.startsWith("invoke_agent"))) {
          if (run.attributes["entelix.tenant_id"] !== tenant_id) continue;
          const last = rows.findLast((row) => row.run_id === run.attributes["entelix.run_id"]);
          expect(run.attributes["entelix.audit.ordinal"]).toBe(last?.ordinal);
          expect(run.attributes["entelix.audit.hash"]).toBe(last?.hash);
          expect(run.attributes["entelix.audit.failed"]).toBeUndefined();
        }
      }
      expect([...ended.values()].every((count) => count === 1)).toBe(true);
    },
  );

  it("resolves a tool event once its row is stored", async () => {
    const log = new MemorySessionLog();
    const { bridge } = bridged(log);
    expect(bridge.send(started)).toBeUndefined();
    await bridge.send(toolStart);
    const rows = await log.loadSince({ tenant_id: TENANT, thread_id: RUN }, 0);
    expect(rows.map((row) => row.event.kind)).toEqual(["entelix.run_started", "tool_call"]);
    await bridge.shutdown();
  });

  it("ends the run's span with the event's own time, after its rows", async () => {
    const log = new MemorySessionLog();
    const { bridge, spans } = bridged(log);
    await bridge.send(started, { timestamp: "2026-04-29T12:00:00Z" });
    const row = bridge.send(toolStart, { timestamp: "2026-04-29T12:00:01Z" });
    const end = bridge.send(complete, { timestamp: "2026-04-29T12:00:02Z" });
    expect(spans().some((span) => span.name === "invoke_agent react")).toBe(false);
    await Promise.all([row, end]);
    const [tree] = toTrees(spans());
    expect(tree?.end).toBe("2026-04-29T12:00:02Z");
    expect(tree?.attributes["entelix.audit.ordinal"]).toBe(3);
  });

  it("a failing store: the agent's complete gets the error, and the trace shows it", async () => {
    const log = new TroubledLog();
    const { bridge, spans, ended, errors } = bridged(log);
    await bridge.send(started);
    log.mode = "fails";
    await expect(Promise.resolve(bridge.send(toolStart))).resolves.toBeUndefined();
    await expect(Promise.resolve(bridge.send(complete))).rejects.toThrow("disk full");
    const run = spans().find((span) => span.name === "invoke_agent react");
    expect(run?.attributes["entelix.run.outcome"]).toBe("complete");
    expect(run?.attributes["entelix.audit.failed"]).toBe(true);
    expect([...ended.values()]).toEqual([1, 1]);
    // The call, and the end.
    expect(bridge.diagnostics().auditFailures).toBe(2);
    expect(errors).toEqual(["audit append: Error: disk full", "audit append: Error: disk full"]);
  });

  it("a failing store: a run's failure still shows, and its sender is not told", async () => {
    const log = new TroubledLog();
    const { bridge, spans } = bridged(log);
    await bridge.send(started);
    log.mode = "fails";
    await bridge.send(toolStart);
    await bridge.send(failed);
    const run = spans().find((span) => span.name === "invoke_agent react");
    expect(run?.attributes["entelix.failure.kind"]).toBe("model_dispatch");
    expect(run?.attributes["entelix.audit.failed"]).toBe(true);
    expect(run?.status.code).toBe(2);
  });

  it("a log known to fail rejects started; the run is a zero-length abandoned span", async () => {
    const log = new TroubledLog();
    const { bridge, spans } = bridged(log);
    await bridge.send(started);
    log.mode = "fails";
    await bridge.send(toolStart);
    await bridge.send(failed);
    const next = "018f3c7a-0000-7000-8000-000000000003";
    const again = { ...started, run_id: next };
    await expect(
      Promise.resolve(bridge.send(again, { timestamp: "2026-04-29T12:00:00Z" })),
    ).rejects.toThrow("disk full");
    const run = spans().find((span) => span.attributes["entelix.run_id"] === next);
    expect(run?.attributes["entelix.run.outcome"]).toBe("abandoned");
    expect(run?.attributes["entelix.run.abandoned_reason"]).toBe("audit_failed");
    expect(run?.startTime).toEqual(run?.endTime);
    expect(run?.status.code).toBe(0);
    log.mode = "works";
    const third = "018f3c7a-0000-7000-8000-000000000004";
    await bridge.send({ ...started, run_id: third });
    expect(bridge.send({ ...started, run_id: `${third.slice(0, -1)}5` })).toBeUndefined();
  });

  it("a hanging store can't keep spans from ending", async () => {
    const log = new TroubledLog();
    const { bridge, spans, started: begun, ended } = bridged(log, { shutdownTimeoutMs: 50 });
    await bridge.send(started);
    log.mode = "hangs";
    void bridge.send(toolStart);
    void bridge.send(complete);
    await bridge.shutdown();
    expect(ended).toEqual(begun);
    const run = spans().find((span) => span.name === "invoke_agent react");
    expect(run?.attributes["entelix.audit.failed"]).toBe(true);
  });

  it("operator text never reaches a row, and content never a span", async () => {
    const log = new MemorySessionLog();
    const { bridge, spans } = bridged(log);
    await bridge.send(started);
    await bridge.send(toolStart);
    await bridge.send({
      type: "tool_error",
      ...call,
      error: "OPERATOR-TEXT",
      error_for_llm: resultText("MODEL-TEXT"),
      envelope: { wire_code: "transport_failure", wire_class: "server" },
      kind: "transient",
      duration_ms: 3,
    });
    await bridge.send({ ...failed, error: "OPERATOR-TEXT" });
    const rows = await log.loadSince({ tenant_id: TENANT, thread_id: RUN }, 0);
    const audited = rows.map((row) => row.event_text).join();
    expect(audited).toContain("MODEL-TEXT");
    expect(audited).toContain("SENTINEL-INPUT");
    expect(audited).not.toContain("OPERATOR-TEXT");
    const traced = spans().map(fingerprint).join();
    expect(traced).toContain("OPERATOR-TEXT");
    expect(traced).not.toContain("MODEL-TEXT");
    expect(traced).not.toContain("SENTINEL");
  });

  it("the same events sent again into the same log make the identical spans and no row", async () => {
    const log = new MemorySessionLog();
    const stream = [started, toolStart, toolComplete, complete].map((event, n) => ({
      event,
      envelope: { event_id: `e-${n}`, timestamp: `2026-04-29T12:00:0${n}Z`, thread_id: "th" },
    }));
    const prints: string[][] = [];
    for (let pass = 0; pass < 2; pass++) {
      const { bridge, spans } = bridged(log, { mode: "replay" });
      for (const { event, envelope } of stream) await bridge.send(event, envelope);
      await bridge.shutdown();
      prints.push(spans().map(fingerprint).sort());
    }
    expect(prints[1]).toEqual(prints[0]);
    expect(await log.loadSince({ tenant_id: TENANT, thread_id: "th" }, 0)).toHaveLength(4);
  });

  it("the runtime's own audit calls carry the span's ids and move the anchor", async () => {
    const log = new MemorySessionLog();
    const { bridge, spans } = bridged(log);
    const scope = { tenant_id: TENANT, run_id: RUN };
    await bridge.send(started);
    await bridge.audit?.recordInterrupted(scope, { type: "custom" }, { q: "ok?" });
    const interrupted: AgentEvent = {
      type: "interrupted",
      ...scope,
      kind: { type: "custom" },
      payload: null,
    };
    await bridge.send(interrupted);
    const resumed = { tenant_id: TENANT, run_id: "018f3c7a-0000-7000-8000-000000000003" };
    await bridge.send({ ...started, run_id: resumed.run_id });
    await bridge.audit?.recordResumed({ ...resumed, resumed_from_run_id: RUN }, "cp-1");
    await bridge.send({ ...complete, run_id: resumed.run_id });
    const rows = await log.loadSince({ tenant_id: TENANT, thread_id: RUN }, 0);
    // The call came first: the event asks for the same row.
    expect(rows.map(({ event }) => [event.kind, Reflect.get(event, "payload")])).toEqual([
      ["entelix.run_started", undefined],
      ["interrupt", { q: "ok?" }],
      ["entelix.run_ended", undefined],
    ]);
    const runs = spans();
    expect(rows[1]?.span_id).toBe(runs[0]?.spanContext().spanId);
    expect(runs[0]?.attributes["entelix.audit.hash"]).toBe(rows.at(-1)?.hash);
    expect(runs[1]?.attributes["entelix.run.resumed_from"]).toBe(RUN);
    expect(runs[1]?.links.map((link) => link.context.spanId)).toEqual([
      runs[0]?.spanContext().spanId,
    ]);
  });

  it("ends the span of a run although an audit call's scope threw when it was read", async () => {
    const { bridge, spans } = bridged(new MemorySessionLog());
    await bridge.send(started);
    const scope = {
      tenant_id: TENANT,
      run_id: RUN,
      get trace_id(): string {
        throw new TypeError("no such trace");
      },
    };
    await expect(bridge.audit?.recordAgentHandoff(scope, null, "expert")).rejects.toThrow(
      "no such trace",
    );
    await bridge.send(complete);
    expect(spans().map(({ name }) => name)).toEqual(["invoke_agent react"]);
  });
});
