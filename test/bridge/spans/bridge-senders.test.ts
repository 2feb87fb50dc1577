import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { MemorySessionLog, type SessionLog } from "../../../src/entries/audit.ts";
import { RunEvents } from "../../support/run-events.ts";
import { collectSpans } from "../../support/spans.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const next = new RunEvents("018f3c7a-0000-7000-8000-000000000003");

/** A log whose disk is full. */
const full: SessionLog = {
  append: () => Promise.reject(new Error("disk full")),
  loadSince: () => Promise.resolve([]),
  archiveBefore: () => Promise.resolve(0),
};

/** A log that leaves its callers waiting. */
const hanging: SessionLog = { ...full, append: () => new Promise(() => {}) };

function bridged(audit: SessionLog, more: object = {}) {
  const collected = collectSpans();
  const reports: string[] = [];
  const bridge = new Bridge({
    tracerProvider: collected.provider,
    audit,
    onError: (error, where) => void reports.push(`${where}: ${String(error)}`),
    ...more,
  });
  return { ...collected, bridge, reports };
}

describe("a sender that does not wait", () => {
  it("does not die of a failing log: it is told of by onError, and in the trace", async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown) => void rejections.push(reason);
    process.on("unhandledRejection", note);
    const { bridge, reports, spans } = bridged(full);
    void bridge.send(run.started());
    void bridge.send(run.toolStart("call_1"));
    void bridge.send(run.complete());
    await bridge.forceFlush();
    void bridge.send(next.started());
    await bridge.shutdown();
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(rejections).toEqual([]);
    const row = "audit append: Error: disk full";
    // Start, call, end, and the start of the next run.
    expect(reports).toEqual([row, row, row, "audit probe: Error: disk full"]);
    expect(spans().map(({ attributes }) => attributes["entelix.audit.failed"])).toContain(true);
  });
});

describe("a sender that waits for a row when the time for a shutdown is over", () => {
  it("is told at complete that it was not stored, as onError is", async () => {
    const { bridge, reports, spans } = bridged(hanging, { shutdownTimeoutMs: 20 });
    void bridge.send(run.started());
    void bridge.send(run.toolStart("call_1"));
    const completed = expect(bridge.send(run.complete())).rejects.toThrow(
      "audit rows were not stored within 20 ms",
    );
    void bridge.send(next.started());
    void bridge.send(next.toolStart("call_1"));
    const failed = expect(bridge.send(next.failed())).resolves.toBeUndefined();
    await bridge.shutdown();
    await Promise.all([completed, failed]);
    expect(reports).toEqual(["audit at shutdown: Error: audit rows were not stored within 20 ms"]);
    const runs = spans().filter(({ name }) => name.startsWith("invoke_agent"));
    expect(runs.map(({ attributes }) => attributes["entelix.audit.failed"])).toEqual([true, true]);
  });

  it("is not told so, nor is onError, where all was stored", async () => {
    const { bridge, reports } = bridged(new MemorySessionLog(), { shutdownTimeoutMs: 20 });
    void bridge.send(run.started());
    void bridge.send(run.toolStart("call_1"));
    const completed = expect(bridge.send(run.complete())).resolves.toBeUndefined();
    await bridge.shutdown();
    await completed;
    expect(reports).toEqual([]);
  });
});

describe("a tool that is called after the shutdown", () => {
  it("has no row, which is counted and told", async () => {
    const log = new MemorySessionLog();
    const { bridge, reports } = bridged(log);
    await bridge.send(run.started());
    await bridge.shutdown();
    await bridge.send(run.toolStart("call_1"));
    await bridge.send(run.toolComplete("call_1"));
    await bridge.send(run.complete());
    Reflect.apply(bridge.send, bridge, [null]);
    expect(reports).toEqual([
      "audit append: Error: no audit row of a tool_start after the shutdown",
      "audit append: Error: no audit row of a tool_complete after the shutdown",
      "audit append: Error: no audit row of a complete after the shutdown",
    ]);
    expect(bridge.diagnostics()).toMatchObject({
      auditFailures: 3,
      ignored: { after_shutdown: 4 },
    });
    const thread = { tenant_id: run.tenant_id, thread_id: run.run_id };
    const rows = await log.loadSince(thread, 0);
    expect(rows.map(({ event }) => event.kind)).toEqual(["entelix.run_started"]);
  });
});

describe("a run that starts after the shutdown", () => {
  it("is refused, for it would leave no row", async () => {
    const { bridge, reports } = bridged(new MemorySessionLog());
    await bridge.shutdown();
    const refusal = "no run may start after the shutdown: it would have no audit rows";
    await expect(bridge.send(run.started())).rejects.toThrow(refusal);
    expect(reports).toEqual([`audit append: Error: ${refusal}`]);
    expect(bridge.diagnostics()).toMatchObject({
      auditFailures: 1,
      ignored: { after_shutdown: 1 },
    });
  });

  it("is taken where there is no audit log: telemetry never fails an agent", async () => {
    const bridge = new Bridge();
    await bridge.shutdown();
    expect(bridge.send(run.started())).toBeUndefined();
  });
});

describe("a flush", () => {
  it("rejects when rows are not stored in time, and their run's span is not sent", async () => {
    const { bridge, spans } = bridged(hanging, { shutdownTimeoutMs: 20 });
    void bridge.send(run.started());
    await bridge.forceFlush();
    void bridge.send(run.toolStart("call_1"));
    void bridge.send(run.complete());
    await expect(bridge.forceFlush()).rejects.toThrow("audit rows were not stored within 20 ms");
    expect(spans().map(({ name }) => name)).toEqual(["execute_tool fetch"]);
    await bridge.shutdown();
  });
});

describe("the time for a shutdown", () => {
  it.each([Number.POSITIVE_INFINITY, Number.NaN, -1, 2 ** 31])(
    "is refused where a timer would take it for 1 ms: %d",
    (shutdownTimeoutMs) => {
      expect(() => bridged(full, { shutdownTimeoutMs })).toThrow(
        new RangeError(
          `shutdownTimeoutMs: expected milliseconds from 0 to 2147483647, got ${shutdownTimeoutMs}`,
        ),
      );
    },
  );

  it.each([0, 0.5, 2 ** 31 - 1])("may be %d", async (shutdownTimeoutMs) => {
    const { bridge } = bridged(new MemorySessionLog(), { shutdownTimeoutMs });
    await bridge.shutdown();
  });
});

describe("a sender in plain JavaScript", () => {
  it("may give null for an envelope that there is not", async () => {
    const log = new MemorySessionLog();
    const { bridge, reports } = bridged(log);
    for (const event of [run.started(), run.toolStart("call_1"), run.complete()]) {
      await Reflect.apply(bridge.send, bridge, [event, null]);
    }
    expect(reports).toEqual([]);
    const thread = { tenant_id: run.tenant_id, thread_id: run.run_id };
    expect(await log.loadSince(thread, 0)).toHaveLength(3);
  });
});
