import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import {
  type AuditEntry,
  MemorySessionLog,
  type RowAnchor,
  type ThreadKey,
} from "../../../src/entries/audit.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { collectSpans } from "../../support/spans.ts";
import { toolRows } from "../../support/tool-rows.ts";

const RUN = "018f3c7a-0000-7000-8000-0000000000ab";
const PARENT = "018f3c7a-0000-7000-8000-0000000000cd";

interface Sent {
  readonly key: ThreadKey;
  readonly entry: AuditEntry;
}

/** Keeps what was sent; each append stays on its way until it is let go. */
class WatchedLog extends MemorySessionLog {
  readonly sent: Sent[] = [];
  /** Appends that wait, where they do. */
  waiting: (() => void)[] | undefined = undefined;
  /** How many appends are to fail. */
  failing = 0;

  override async append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    for (const entry of entries) this.sent.push({ key, entry });
    const { waiting } = this;
    if (waiting !== undefined) await new Promise<void>((go) => waiting.push(go));
    if (this.failing-- > 0) throw new Error("disk full");
    return super.append(key, entries);
  }
}

function bench() {
  const collected = collectSpans();
  const log = new WatchedLog();
  const errors: string[] = [];
  const bridge = new Bridge({
    mode: "replay",
    tracerProvider: collected.provider,
    audit: log,
    onError: (error, where) => errors.push(`${where}: ${String(error)}`),
  });
  let second = 0;
  /** Sends an event whose id is `id`, a second after the one before. */
  const send = (id: string, event: AgentEvent) => {
    second += 1;
    return bridge.send(event, { event_id: id, timestamp: [1_777_464_000 + second, 0] });
  };
  return { ...collected, log, errors, bridge, send };
}

const start = (run_id: string, more: object = {}): AgentEvent => ({
  type: "started",
  run_id,
  tenant_id: "acme",
  agent: "react",
  ...more,
});
const call = (run_id: string, tenant_id = "acme") =>
  ({ run_id, tenant_id, tool_use_id: "call_1", tool: "fetch" }) as const;
const toolStart = (run_id: string, tenant_id?: string): AgentEvent => ({
  type: "tool_start",
  ...call(run_id, tenant_id),
  input: {},
});
const toolComplete = (run_id: string): AgentEvent => ({
  type: "tool_complete",
  ...call(run_id),
  duration_ms: 1,
  output: "ok",
});
const complete = (run_id: string): AgentEvent => ({
  type: "complete",
  run_id,
  tenant_id: "acme",
  state: null,
});

describe("the audit row of an event that comes again", () => {
  it("is not made for an event that was refused", async () => {
    const { bridge, errors, log, send } = bench();
    for (let times = 0; times < 2; times++) void send("e3", toolStart(""));
    await bridge.shutdown();
    expect(log.sent).toEqual([]);
    expect(errors).toEqual([]);
    const { auditFailures, ignored } = bridge.diagnostics();
    expect([auditFailures, ignored.empty_run_id, ignored.duplicate]).toEqual([0, 1, 1]);
  });

  it("stands in one thread, though the run has come to another one since", async () => {
    const { bridge, log, send } = bench();
    void send("p1", start(PARENT));
    void send("e1", toolStart(RUN));
    void send("e2", start(RUN, { parent_run_id: PARENT }));
    void send("e1", toolStart(RUN));
    await bridge.shutdown();
    expect(log.sent.map(({ key, entry }) => [key.thread_id, entry.event_id])).toEqual([
      [PARENT, "p1/start"],
      [RUN, "e1"],
      [PARENT, "e2/start"],
    ]);
  });

  it("is made when the log had failed", async () => {
    const { bridge, log, send } = bench();
    void send("e1", start(RUN));
    log.failing = 1;
    await send("e2", toolStart(RUN));
    await send("e2", toolStart(RUN));
    const rows = await log.loadSince({ tenant_id: "acme", thread_id: RUN }, 0);
    expect(rows.map((row) => row.event_id)).toEqual(["e1/start", "e2"]);
    await bridge.shutdown();
  });

  it("is made for each of its rows, once, when the log had failed at the end of the run", async () => {
    const { bridge, log, send } = bench();
    void send("e1", start(RUN));
    const failed: AgentEvent = {
      type: "failed",
      run_id: RUN,
      tenant_id: "acme",
      error: "OPERATOR-TEXT",
      envelope: { wire_code: "cancelled", wire_class: "client" },
      kind: { type: "cancelled" },
    };
    log.failing = 1;
    await send("e2", failed);
    for (let times = 0; times < 2; times++) await send("e2", failed);
    const rows = await log.loadSince({ tenant_id: "acme", thread_id: RUN }, 0);
    expect(rows.map(({ event }) => event.kind)).toEqual([
      "entelix.run_started",
      "cancelled",
      "entelix.run_ended",
    ]);
    expect(JSON.stringify(rows)).not.toContain("OPERATOR-TEXT");
    await bridge.shutdown();
  });

  it("is waited for while it is on its way, and made when that fails", async () => {
    const { bridge, log, send } = bench();
    void send("e1", start(RUN));
    for (const broken of [false, true]) {
      const id = broken ? "e3" : "e2";
      const waiting: (() => void)[] = [];
      log.waiting = waiting;
      const event = broken ? toolComplete(RUN) : toolStart(RUN);
      const first = send(id, event);
      let stored = false;
      const again = Promise.resolve(send(id, event)).then(() => {
        stored = true;
      });
      await new Promise((soon) => setTimeout(soon, 5));
      expect(stored).toBe(false);
      log.failing = broken ? 1 : 0;
      for (const go of waiting) go();
      log.waiting = undefined;
      await first;
      await again;
      const rows = await log.loadSince({ tenant_id: "acme", thread_id: RUN }, 0);
      expect(rows.at(-1)?.event_id).toBe(id);
    }
    await bridge.shutdown();
  });
});

describe("the audit rows of a run", () => {
  it("name the call that an end after the run's own end is about", async () => {
    const { bridge, log, send, spans } = bench();
    void send("e1", start(RUN));
    void send("e2", toolStart(RUN));
    void send("e3", complete(RUN));
    void send("e4", toolComplete(RUN));
    await bridge.shutdown();
    const tool = spans().find((span) => span.name === "execute_tool fetch");
    expect(tool?.attributes["entelix.tool.outcome"]).toBe("unfinished");
    const ofTools = toolRows(log.sent.map(({ entry }) => entry));
    expect(ofTools.map(({ span_id }) => span_id)).toEqual([
      tool?.spanContext().spanId,
      tool?.spanContext().spanId,
    ]);
  });
});
