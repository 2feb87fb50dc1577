import { afterEach, describe, expect, it } from "vitest";
import type { AuditEntry, RowAnchor, ThreadKey } from "../../src/audit/audit-row.ts";
import { AuditSink, type AuditSinkOptions } from "../../src/audit/audit-sink.ts";
import type { EventRefs } from "../../src/audit/event-ids.ts";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import { ndjsonSettings } from "../../src/audit/ndjson/ndjson-options.ts";
import { postgresSettings } from "../../src/audit/postgres/postgres-options.ts";
import type { SessionLog } from "../../src/audit/session-log.ts";
import { AGENT_EVENT_TYPES, type AgentEvent, type Instant } from "../../src/entries/events.ts";
import { isObject, resultText } from "../../src/events/door.ts";
import { toolRows } from "../support/tool-rows.ts";
import { goldenLines } from "./support/golden.ts";

const at = "2026-04-29T12:00:00Z";

function started(run_id: string, parent_run_id?: string): AgentEvent {
  const event = { type: "started", run_id, tenant_id: "acme", agent: "a" } as const;
  return parent_run_id === undefined ? event : { ...event, parent_run_id };
}

function toolStart(run_id: string, tool = "t", tenant_id = "acme"): AgentEvent {
  return { type: "tool_start", run_id, tenant_id, tool_use_id: "tu", tool, input: {} };
}

interface Written extends AuditEntry {
  readonly key: ThreadKey;
}

/** A log that keeps what it was given, and may be told to fail. */
class SpyLog implements SessionLog {
  readonly written: Written[] = [];
  failure: Error | undefined;
  readonly #inner = new MemorySessionLog();

  async append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    if (this.failure !== undefined) throw this.failure;
    for (const entry of entries) this.written.push({ key, ...entry });
    return this.#inner.append(key, entries);
  }

  loadSince(key: ThreadKey, cursor: number) {
    return this.#inner.loadSince(key, cursor);
  }

  archiveBefore(key: ThreadKey, watermark: number) {
    return this.#inner.archiveBefore(key, watermark);
  }
}

function setUp(options: Partial<AuditSinkOptions> = {}) {
  const log = new SpyLog();
  return { log, sink: new AuditSink({ log, ...options }) };
}

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
process.on("unhandledRejection", onUnhandled);

afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

describe("AuditSink.send", () => {
  it("writes one row for each tool event, and rows for starts, ends and decisions", async () => {
    const { log, sink } = setUp();
    const tool = { run_id: "r1", tenant_id: "acme", tool_use_id: "tu", tool: "t" } as const;
    const envelope = { wire_code: "upstream_unavailable", wire_class: "server" } as const;
    const events: AgentEvent[] = [
      started("r1"),
      { type: "tool_call_approved", ...tool },
      { type: "tool_start", ...tool, input: { n: 1 } },
      { type: "tool_complete", ...tool, duration_ms: 5, output: "out" },
      {
        type: "tool_error",
        ...tool,
        duration_ms: 5,
        error: "provider returned 503: secret host",
        error_for_llm: resultText("upstream model error"),
        envelope,
        kind: "transient",
      },
      { type: "tool_call_denied", ...tool, reason: "no" },
      {
        type: "interrupted",
        run_id: "r1",
        tenant_id: "acme",
        kind: { type: "custom" },
        payload: 1,
      },
      { type: "failed", run_id: "r1", tenant_id: "acme", error: "secret", envelope },
      { type: "complete", run_id: "r1", tenant_id: "acme", state: {} },
    ];
    expect(events.map(({ type }) => type).sort()).toEqual([...AGENT_EVENT_TYPES].sort());
    const returned = events.map((event) =>
      sink.send(event, { timestamp: at, event_id: event.type }),
    );
    expect(returned.map((each) => each instanceof Promise)).toEqual(events.map(() => true));
    await Promise.all(returned);
    const rows = await log.loadSince({ tenant_id: "acme", thread_id: "r1" }, 0);
    expect(rows.map(({ event, event_id }) => [event.kind, event_id])).toEqual([
      ["entelix.run_started", "started/start"],
      ["entelix.tool_call_decided", "tool_call_approved/decision"],
      ["tool_call", "tool_start"],
      ["tool_result", "tool_complete"],
      ["tool_result", "tool_error"],
      ["entelix.tool_call_decided", "tool_call_denied/decision"],
      ["interrupt", expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ["entelix.run_ended", "interrupted/end"],
      ["error", expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ["entelix.run_ended", "failed/end"],
      ["entelix.run_ended", "complete/end"],
    ]);
    expect(toolRows(rows).map(({ event }) => event)).toEqual([
      { kind: "tool_call", id: "tu", name: "t", input: { n: 1 }, timestamp: at },
      {
        kind: "tool_result",
        tool_use_id: "tu",
        name: "t",
        content: "out",
        is_error: false,
        timestamp: at,
      },
      {
        kind: "tool_result",
        tool_use_id: "tu",
        name: "t",
        content: "upstream model error",
        is_error: true,
        timestamp: at,
      },
    ]);
    expect(new Set(rows.map(({ run_id }) => run_id))).toEqual(new Set(["r1"]));
    // Operator text is nowhere in the log.
    expect(JSON.stringify(rows)).not.toMatch(/secret|503/);
  });

  it("reads the clock once for an event without a time, and not for one with", async () => {
    let reads = 0;
    const clock = (): Instant => {
      reads += 1;
      return [1_777_464_000, 123_456_789];
    };
    const { log, sink } = setUp({ clock });
    await sink.send(toolStart("r1"));
    expect(reads).toBe(1);
    await sink.send(toolStart("r1"), { timestamp: [0, 5_000_000] });
    await sink.send(toolStart("r1"), { timestamp: "2026-04-29T21:00:00.1234567+09:00" });
    expect(reads).toBe(1);
    expect(log.written.map(({ event }) => event.timestamp)).toEqual([
      "2026-04-29T12:00:00.123456789Z",
      "1970-01-01T00:00:00.005Z",
      "2026-04-29T12:00:00.123456700Z",
    ]);
    const before = Date.now();
    const plain = setUp();
    await plain.sink.send(toolStart("r1"));
    const written = Date.parse(String(plain.log.written[0]?.event.timestamp));
    expect(written).toBeGreaterThanOrEqual(before);
    expect(written).toBeLessThanOrEqual(Date.now());
  });

  it("writes a redelivered event once", async () => {
    const { log, sink } = setUp();
    for (let n = 0; n < 3; n += 1) {
      await sink.send(toolStart("r1"), { event_id: "e1", timestamp: at });
    }
    expect(await log.loadSince({ tenant_id: "acme", thread_id: "r1" }, 0)).toHaveLength(1);
  });

  it("rejects when the row cannot be written, tells of it, and never unhandled", async () => {
    const errors: unknown[] = [];
    const { log, sink } = setUp({
      onError: (error) => {
        errors.push(error);
        throw new Error("a bad listener");
      },
    });
    log.failure = Object.assign(new Error("disk full"), { code: "ENOSPC" });
    await expect(sink.send(toolStart("r1"))).rejects.toBe(log.failure);
    // Nobody waits for this one.
    void sink.send(toolStart("r1"));
    void sink.send(started("r1"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(errors).toEqual([log.failure, log.failure, log.failure]);
    log.failure = undefined;
    await sink.send(toolStart("r1"));
    expect(log.written).toHaveLength(1);
  });

  it.each(["AuditSink", "NdjsonSessionLog", "PostgresSessionLog"])(
    "of %s takes an async listener, whose rejection ends no process",
    async (whose) => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on("unhandledRejection", note);
      try {
        const errors: unknown[] = [];
        const onError = async (error: unknown) => {
          errors.push(error);
          throw new Error("a bad listener");
        };
        const broken = new Error("disk full");
        if (whose === "AuditSink") {
          const { log, sink } = setUp({ onError });
          log.failure = Object.assign(broken, { code: "ENOSPC" });
          void sink.send(toolStart("r1"));
        } else if (whose === "NdjsonSessionLog") {
          ndjsonSettings({ onError }).onError(broken);
        } else {
          postgresSettings({ connection: "postgres://db.example/agents", onError }).onError(broken);
        }
        await new Promise((resolve) => setImmediate(resolve));
        expect(errors).toEqual([broken]);
        expect(unhandled).toEqual([]);
      } finally {
        process.off("unhandledRejection", note);
      }
    },
  );

  it("ignores an event whose time throws when it is read, and tells of it", async () => {
    const trap = new Error("trap");
    const unreadable = new Proxy<readonly [number, number]>([1_777_464_000, 0], {
      get: () => {
        throw trap;
      },
    });
    const errors: unknown[] = [];
    const { log, sink } = setUp({ onError: (error) => errors.push(error) });
    expect(sink.send(toolStart("r1"), { timestamp: unreadable })).toBe(undefined);
    expect(errors).toEqual([trap]);
    await sink.send(toolStart("r1"));
    expect(log.written).toHaveLength(1);
  });

  it("names what is wrong with an event's envelope", async () => {
    const { sink } = setUp();
    await expect(sink.send(toolStart("r1"), { timestamp: "noon" })).rejects.toThrow(
      'timestamp: expected an RFC 3339 time, got "noon"',
    );
    await expect(sink.send(toolStart(""))).rejects.toThrow("run_id: expected a string that is not");
    await expect(sink.send(toolStart("r1", "t", ""))).rejects.toThrow("tenant_id: expected");
    expect(() => new AuditSink({ log: new MemorySessionLog(), threads: 0 })).toThrow(
      "threads: expected",
    );
  });
});

describe("the thread of a run", () => {
  async function threadsOf(...sent: readonly Parameters<AuditSink["send"]>[]): Promise<string[]> {
    const { log, sink } = setUp();
    for (const [event, envelope] of sent) await sink.send(event, envelope);
    return toolRows(log.written).map(({ key }) => key.thread_id);
  }

  it("is the one named with any of its events, from then on", async () => {
    expect(await threadsOf([started("r"), { thread_id: "T" }], [toolStart("r")])).toEqual(["T"]);
    expect(
      await threadsOf([toolStart("r")], [toolStart("r"), { thread_id: "T" }], [toolStart("r")]),
    ).toEqual(["r", "T", "T"]);
  });

  it("is else its parent's, through any number of generations", async () => {
    expect(
      await threadsOf(
        [started("root"), { thread_id: "T" }],
        [started("child", "root")],
        [started("leaf", "child")],
        [toolStart("leaf")],
        [started("other", "root"), { thread_id: "own" }],
        [toolStart("other")],
      ),
    ).toEqual(["T", "own"]);
    expect(
      await threadsOf([started("root")], [started("child", "root")], [toolStart("child")]),
    ).toEqual(["root"]);
    // A child seen before its `started` finds its parent with it.
    expect(
      await threadsOf(
        [started("root"), { thread_id: "T" }],
        [started("c", "root")],
        [toolStart("c")],
      ),
    ).toEqual(["T"]);
  });

  it("is else the root run's id, else the run's own", async () => {
    expect(
      await threadsOf([started("c", "unseen"), { root_run_id: "top" }], [toolStart("c")]),
    ).toEqual(["top"]);
    expect(await threadsOf([started("c", "unseen")], [toolStart("c")])).toEqual(["c"]);
    expect(await threadsOf([toolStart("alone")])).toEqual(["alone"]);
  });

  it("never crosses tenants", async () => {
    const { log, sink } = setUp();
    void sink.send(started("root"), { thread_id: "T" });
    void sink.send({ ...started("child", "root"), tenant_id: "evil" });
    await sink.send(toolStart("child", "t", "evil"));
    await sink.send(toolStart("root", "t", "evil"));
    expect(toolRows(log.written).map(({ key }) => key)).toEqual([
      { tenant_id: "evil", thread_id: "child" },
      { tenant_id: "evil", thread_id: "root" },
    ]);
  });

  it("is forgotten for the runs used longest ago, not for those in use", async () => {
    const { log, sink } = setUp({ threads: 10 });
    void sink.send(started("busy"), { thread_id: "T" });
    void sink.send(started("idle"), { thread_id: "U" });
    for (let n = 0; n < 100; n += 1) {
      void sink.send(started(`r${n}`));
      if (n % 5 === 0) void sink.send(started("busy"));
    }
    await sink.send(toolStart("busy"));
    await sink.send(toolStart("idle"));
    expect(toolRows(log.written).map(({ key }) => key.thread_id)).toEqual(["T", "idle"]);
  });
});

describe("AuditSink.prepare and append", () => {
  it("give the row's anchor to the waiter, and carry the ids of the span", async () => {
    const { log, sink } = setUp();
    const outcomes: unknown[] = [];
    const waiter = {
      stored: ({ ordinal }: RowAnchor) => outcomes.push(ordinal),
      failed: (error: unknown) => outcomes.push(error),
    };
    const record = async (event: AgentEvent, time: Instant, refs: EventRefs = {}) => {
      const rows = sink.prepare(event, time, refs);
      if (rows === undefined) throw new Error("expected rows");
      await sink.append(rows, waiter);
      return outcomes.at(-1);
    };
    expect(await record(started("r1"), [0, 0], { thread_id: "T" })).toBe(1);
    const refs = { event_id: "e", trace_id: "a".repeat(32), span_id: "b".repeat(16) };
    expect(await record(toolStart("r1"), [1, 500_000_000], refs)).toBe(2);
    expect(toolRows(log.written)).toEqual([
      {
        key: { tenant_id: "acme", thread_id: "T" },
        run_id: "r1",
        ...refs,
        is_new: false,
        event: {
          kind: "tool_call",
          id: "tu",
          name: "t",
          input: {},
          timestamp: "1970-01-01T00:00:01.500Z",
        },
      },
    ]);
    log.failure = new Error("no");
    expect(await record(toolStart("r1"), [0, 0])).toBe(log.failure);
  });
});

describe("the runtime's audit calls", () => {
  const scope = { tenant_id: "acme", run_id: "r1", timestamp: at, event_id: "", span_id: "s" };

  it("write upstream's rows", async () => {
    const { log, sink } = setUp();
    void sink.send(started("r1"), { thread_id: "T" });
    const places = [
      await sink.recordSubAgentInvoked(scope, "research_team", "sub-1"),
      await sink.recordAgentHandoff(scope, null, "research"),
      await sink.recordInterrupted(
        scope,
        { type: "approval_pending", tool_use_id: "tu-1" },
        undefined,
      ),
      await sink.recordResumed({ ...scope, resumed_from_run_id: "r0" }, "cp-1"),
      await sink.recordMemoryRecall(scope, "semantic", "acme/u1", 0),
      await sink.recordUsageLimitExceeded(scope, {
        axis: "cost_usd",
        limit: "0.50",
        observed: "0.5125",
      }),
      await sink.recordContextCompacted(scope, 1000, 200n),
      await sink.recordToolErrorTerminal(scope, "auth", "bigquery"),
    ];
    expect(places.map(({ ordinal }) => ordinal)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    const [, ...rows] = await log.loadSince({ tenant_id: "acme", thread_id: "T" }, 0);
    expect(rows[4]).toMatchObject({ run_id: "r1", event_id: null, span_id: "s" });
    // What a segment has once is known by an id that its event would have too.
    expect(rows.map(({ event_id }) => event_id !== null)).toEqual([
      false,
      false,
      true,
      true,
      false,
      true,
      false,
      true,
    ]);
    const golden = new Map(
      goldenLines("entelix_graph_events.jsonl").map(({ id, value }) => [id, value.graph_event]),
    );
    const names = [
      "sub_agent_invoked",
      "agent_handoff_first",
      "interrupt_approval",
      "resumed",
      "memory_recall",
      "usage_limit_exceeded_cost_usd",
      "context_compacted",
      "tool_error_terminal_auth",
    ];
    expect(rows.map(({ event }) => event)).toEqual(names.map((name) => golden.get(name)));
  });

  it("go to the thread of the scope, and teach it", async () => {
    const { log, sink } = setUp();
    await sink.recordResumed({ ...scope, thread_id: "T" }, "");
    await sink.send(toolStart("r1"));
    await sink.recordResumed({ tenant_id: "acme", run_id: "other" }, "");
    expect(log.written.map(({ key }) => key.thread_id)).toEqual(["T", "T", "other"]);
  });

  it("name the argument that does not fit, and write nothing", async () => {
    const { log, sink } = setUp();
    const wrong: readonly [Promise<RowAnchor>, string][] = [
      [sink.recordMemoryRecall(scope, "t", "n", -1), "hits: expected a whole number"],
      [sink.recordContextCompacted(scope, Number.NaN, 0), "dropped_chars: expected a whole number"],
      [sink.recordToolErrorTerminal(scope, Object("odd"), "t"), "error_kind: expected one of"],
      [sink.recordInterrupted(scope, Object({ type: "x" }), 1), "interruption_kind.type: expected"],
      [Reflect.apply(sink.recordInterrupted, sink, [scope]), "interruption_kind: expected"],
      [sink.recordResumed({ ...scope, timestamp: "noon" }, ""), "timestamp: expected an RFC 3339"],
    ];
    for (const [call, message] of wrong) await expect(call).rejects.toThrow(message);
    expect(log.written).toEqual([]);
  });
});

describe("the golden lifecycles", () => {
  it("leave the rows that upstream's projection of each event is, in order", async () => {
    let rows = 0;
    for (const line of goldenLines("entelix_lifecycles.jsonl")) {
      const { log, sink } = setUp();
      const expected: unknown[] = [];
      const events = Array.isArray(line.value.events) ? line.value.events : [];
      for (const [index, each] of events.entries()) {
        if (!isObject(each) || !isAgentEvent(each.event) || typeof each.at !== "string") {
          throw new Error(`${line.id}: event ${index}`);
        }
        await sink.send(each.event, { timestamp: each.at, thread_id: "one" });
        if (each.graph_event !== null) expected.push(each.graph_event);
      }
      expect(
        toolRows(log.written).map(({ event }) => event),
        line.id,
      ).toEqual(expected);
      rows += expected.length;
    }
    expect(rows).toBeGreaterThan(10);
  });
});

function isAgentEvent(value: unknown): value is AgentEvent {
  return isObject(value) && AGENT_EVENT_TYPES.some((type) => type === value.type);
}
