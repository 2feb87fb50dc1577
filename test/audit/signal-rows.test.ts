import { describe, expect, it } from "vitest";
import { AuditSink, type AuditSinkOptions } from "../../src/audit/audit-sink.ts";
import { signalRows } from "../../src/audit/event-rows.ts";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import { newestQuestion } from "../../src/audit/newest-question.ts";
import {
  decodeGraphEvent,
  encodeGraphEvent,
  isGraphEvent,
  isOwnGraphEvent,
} from "../../src/audit/wire/graph-event-codec.ts";
import type { RunEnd, Signal } from "../../src/events/door.ts";
import { resultText } from "../../src/events/door.ts";
import { Bridge, type ErrorEnvelope, type FailureKind } from "../../src/index.ts";
import { GraphMapping } from "../../src/replay/door.ts";
import { replayed } from "../replay/dialects/graph/replayed.ts";
import { PAYMENT, RUN, TENANT } from "../support/payment-run.ts";
import type { Sent } from "../support/recorded-and-replayed.ts";
import { flat, RunEvents, second } from "../support/run-events.ts";
import { collectSpans, fingerprint } from "../support/spans.ts";

const timestamp = "2026-04-29T12:00:00Z";
const scope = { run_id: RUN, tenant_id: TENANT };
const thread = { tenant_id: TENANT, thread_id: "th" };

const closes = (end: RunEnd, supposed?: boolean): Signal => ({
  signal: "run_closes",
  tenantId: TENANT,
  runId: RUN,
  at: [0, 0],
  end,
  supposed,
});

const failed = (kind: FailureKind, envelope?: Partial<ErrorEnvelope>): Signal =>
  closes({
    outcome: "failed",
    kind,
    message: "OPERATOR-TEXT",
    envelope: { wire_code: "a_code", wire_class: "server", ...envelope },
  });

const rowsOf = (signal: Signal) =>
  signalRows(signal, { segment: 1 }, { event_id: "e" }, timestamp).map(({ event }) => {
    const { timestamp: _, ...rest } = event;
    return rest;
  });

it("a start that comes after its run's end has its row, once", async () => {
  const log = new MemorySessionLog();
  const { provider } = collectSpans();
  const bridge = new Bridge({ mode: "replay", audit: log, tracerProvider: provider });
  const run = new RunEvents("018f3c7a-0000-7000-8000-0000000000ab");
  const at = (time: number) => ({ timestamp: second(time), thread_id: "th" });
  await bridge.send(run.toolStart("c1"), at(2));
  await bridge.send(run.toolComplete("c1"), at(3));
  await bridge.send(run.complete(), at(4));
  await bridge.send(run.started(), at(1));
  await bridge.send(run.started(), at(1));
  await bridge.shutdown();
  const rows = await log.loadSince({ tenant_id: run.tenant_id, thread_id: "th" }, 0);
  expect(rows.map(({ event }) => event.kind)).toEqual([
    "tool_call",
    "tool_result",
    "entelix.run_ended",
    "entelix.run_started",
  ]);
  expect(bridge.diagnostics().ignored).toMatchObject({ after_end: 1, duplicate: 1 });
});

it("counts of a run that goes on under its id are those since it went on, whoever knows of before", async () => {
  const run = new RunEvents("018f3c7a-0000-7000-8000-0000000000ab");
  const at = (time: number) => ({ timestamp: second(time), thread_id: "th" });
  const first: Sent[] = [
    [run.started(), at(0)],
    [run.toolStart("c1"), at(1)],
    [run.toolError("c1"), at(2)],
    [run.denied("c2", "pay", "no"), at(3)],
    [run.interrupted(), at(4)],
  ];
  const resumed: Sent[] = [
    [run.started(), at(5)],
    [run.approved("c3", "pay"), at(6)],
    [run.toolStart("c3", "pay"), at(7)],
    [run.toolComplete("c3", "pay"), at(8)],
    [run.complete(), at(9)],
  ];
  const counts = { tool_calls: 1, tool_errors: 0, approved_calls: 1, denied_calls: 0 };
  for (const sent of [[...first, ...resumed], resumed]) {
    const log = new MemorySessionLog();
    const { provider } = collectSpans();
    const bridge = new Bridge({ mode: "replay", audit: log, tracerProvider: provider });
    for (const [event, envelope] of sent) await bridge.send(event, envelope);
    await bridge.shutdown();
    const rows = await log.loadSince({ tenant_id: run.tenant_id, thread_id: "th" }, 0);
    expect(rows.at(-1)?.event).toMatchObject({ kind: "entelix.run_ended", ...counts });
  }
});

it("the row of a failed call says that the text of the model is not known", async () => {
  const log = new MemorySessionLog();
  const sink = new AuditSink({ log });
  const run = new RunEvents("018f3c7a-0000-7000-8000-0000000000ab");
  const failed = run.toolError("c1", { error_for_llm: resultText("") });
  await sink.send(failed, { thread_id: "th", details: { model_text: "unknown" } });
  await sink.send(failed, { thread_id: "th" });
  const rows = await log.loadSince({ tenant_id: run.tenant_id, thread_id: "th" }, 0);
  expect(rows[0]?.event).toMatchObject({ kind: "tool_result", content: "", model_text: "unknown" });
  expect(rows[1]?.event).not.toHaveProperty("model_text");
});

it("the row of an end has the question where the start's did not", async () => {
  const log = new MemorySessionLog();
  const sink = new AuditSink({ log });
  const run = new RunEvents("018f3c7a-0000-7000-8000-0000000000ab");
  const asked = { role: "user", parts: [{ type: "text", content: "pay 900" }] };
  await sink.send(run.started(), { thread_id: "th" });
  await sink.send(run.complete(), { thread_id: "th", details: { input: [asked] } });
  const rows = await log.loadSince({ tenant_id: run.tenant_id, thread_id: "th" }, 0);
  expect(rows.map(({ event }) => event)).toMatchObject([
    { kind: "entelix.run_started" },
    { kind: "entelix.run_ended", outcome: "complete", input: asked },
  ]);
  expect(rows[0]?.event).not.toHaveProperty("input");
});

describe("the rows of a run's end", () => {
  const breach = { axis: "requests", limit: 2, observed: 2 } as const;
  const ended = { kind: "entelix.run_ended", outcome: "failed" };
  it.each<[string, Signal, object[]]>([
    ["complete", closes({ outcome: "complete" }), [{ ...ended, outcome: "complete" }]],
    ["refused", closes({ outcome: "refused" }), [{ ...ended, outcome: "refused" }]],
    ["abandoned", closes({ outcome: "abandoned", reason: "age" }), []],
    ["supposed", closes({ outcome: "complete" }, true), []],
    [
      "interrupted",
      closes({ outcome: "interrupted", kind: { type: "custom" }, content: { q: 1 } }),
      [
        { kind: "interrupt", interruption_kind: { type: "custom" }, payload: { q: 1 } },
        { ...ended, outcome: "interrupted" },
      ],
    ],
    [
      "interrupted, by a kind that upstream does not have",
      closes({ outcome: "interrupted", kind: Object({ type: "odd" }) }),
      [
        { kind: "interrupt", payload: null },
        { ...ended, outcome: "interrupted" },
      ],
    ],
    [
      "cancelled",
      failed({ type: "cancelled" }, { origin: "run" }),
      [
        { kind: "cancelled", reason: "a_code" },
        { ...ended, failure_kind: "cancelled", origin: "run" },
      ],
    ],
    [
      "over budget",
      failed({ type: "usage_limit_exceeded" }, { breach }),
      [
        { kind: "usage_limit_exceeded", breach },
        { ...ended, failure_kind: "usage_limit_exceeded" },
      ],
    ],
    [
      "over a budget that nobody named",
      failed({ type: "usage_limit_exceeded" }),
      [
        { kind: "error", class: "usage_limit_exceeded", message: "a_code" },
        { ...ended, failure_kind: "usage_limit_exceeded" },
      ],
    ],
    [
      "a tool's error",
      failed({ type: "tool_error_terminal", kind: "auth", tool_name: "db" }),
      [
        { kind: "tool_error_terminal", error_kind: "auth", tool_name: "db" },
        { ...ended, failure_kind: "tool_error_terminal", tool_name: "db" },
      ],
    ],
    [
      "a failure of a newer agent",
      failed({ type: "internal" }, { wire_code: "a_newer_code" }),
      [
        { kind: "error", class: "internal", message: "a_newer_code" },
        { ...ended, failure_kind: "internal" },
      ],
    ],
    [
      "words that are somebody's text",
      failed(Object.assign({ type: "internal" } as const, { type: "card 4242 declined" }), {
        wire_code: "alice_4711",
        ...Object({ origin: "alice" }),
      }),
      [
        { kind: "error", class: "unclassified", message: "unclassified" },
        { ...ended, failure_kind: "unclassified" },
      ],
    ],
    [
      "any other failure",
      failed({ type: "model_dispatch" }),
      [
        { kind: "error", class: "model_dispatch", message: "a_code" },
        { ...ended, failure_kind: "model_dispatch" },
      ],
    ],
  ])("%s", (_, signal, expected) => {
    expect(rowsOf(signal)).toEqual(expected);
    for (const { event } of signalRows(signal, { segment: 1 }, {}, timestamp)) {
      expect(decodeGraphEvent(event).issues).toBeUndefined();
      expect(isGraphEvent(event)).toBe(!event.kind.startsWith("entelix."));
      expect(isOwnGraphEvent(event)).toBe(event.kind.startsWith("entelix."));
    }
  });

  it("has an id that the breach does not change, and another in each segment", () => {
    const idsOf = (signal: Signal, segment = 1) =>
      signalRows(signal, { segment }, { event_id: "e" }, timestamp).map(({ event_id }) => event_id);
    const known = idsOf(failed({ type: "usage_limit_exceeded" }, { breach }));
    expect(known).toEqual([
      expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-/),
      "e/end",
    ]);
    expect(idsOf(failed({ type: "usage_limit_exceeded" }))).toEqual(known);
    expect(idsOf(failed({ type: "usage_limit_exceeded" }), 2)[0]).not.toBe(known[0]);
  });
});

describe("our own kinds on the wire", () => {
  it("have a fixed order, and leave out what nobody said", () => {
    const row = {
      timestamp,
      wait_ms: 1.5,
      by: "user",
      decision: "denied",
      name: "pay",
      tool_use_id: "t",
      kind: "entelix.tool_call_decided",
    } as const;
    expect(encodeGraphEvent(row)).toBe(
      '{"kind":"entelix.tool_call_decided","tool_use_id":"t","name":"pay","decision":"denied","by":"user","wait_ms":1.5,"timestamp":"2026-04-29T12:00:00Z"}',
    );
    expect(decodeGraphEvent({ ...row, decision: "maybe" }).issues).toEqual([
      { field: "decision", expected: "one of approved, denied, edited, answered" },
    ]);
  });
});

describe("the question of a run in its row", () => {
  const message = (text: string, role = "user") => ({
    role,
    parts: [{ type: "text", content: text }],
  });

  it("is the newest message of the user", () => {
    const messages = [
      message("old"),
      message("no", "assistant"),
      message("new"),
      message("a", "tool"),
    ];
    expect(newestQuestion(messages)).toEqual({ value: message("new"), cut: false });
    expect(newestQuestion([message("x", "assistant")])).toBeUndefined();
    expect(newestQuestion(undefined)).toBeUndefined();
    expect(newestQuestion("plain")).toEqual({ value: "plain", cut: false });
  });

  it("is cut to 64 KiB, each text inside, and no character in the middle", () => {
    const question = newestQuestion([message("\u{1F600}".repeat(200_000))]);
    const text = JSON.stringify(question?.value);
    expect(question?.cut).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
    expect(question?.value).toMatchObject({ role: "user", parts: [{ type: "text" }] });
    expect(text).not.toMatch(/\\ud8|\\udc/);
    const many = { role: "user", parts: Array.from({ length: 100_000 }, () => ({ type: "text" })) };
    const parts = newestQuestion([many]);
    expect(parts?.cut).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(parts?.value))).toBeLessThanOrEqual(65_536);
    expect(parts?.value).toMatchObject({ role: "user", parts: expect.any(Array) });
  });
});

const KINDS = [
  "entelix.run_started",
  "interrupt",
  "entelix.run_ended",
  "entelix.run_started",
  "resumed",
  "entelix.tool_call_decided",
  "tool_call",
  "tool_result",
  "error",
  "entelix.run_ended",
];

async function bridged(log: MemorySessionLog, more: object = {}) {
  const { provider, spans } = collectSpans();
  const bridge = new Bridge({ mode: "replay", tracerProvider: provider, audit: log, ...more });
  for (const [event, envelope] of PAYMENT) await bridge.send(event, envelope);
  await bridge.shutdown();
  return { rows: await log.loadSince(thread, 0), spans: spans() };
}

async function sunk(options: Partial<AuditSinkOptions> = {}) {
  const log = new MemorySessionLog();
  const sink = new AuditSink({ log, ...options });
  for (const [event, envelope] of PAYMENT) await sink.send(event, envelope);
  return log.loadSince(thread, 0);
}

describe("the rows of a run that waited for a person", () => {
  it("say who asked, what was decided, what was done and how it ended", async () => {
    const { rows, spans } = await bridged(new MemorySessionLog());
    expect(rows.map(({ event }) => event.kind)).toEqual(KINDS);
    const [start, , pause, resumption, , decision] = rows.map(({ event }) => event);
    expect(start).toMatchObject({
      agent: "clerk",
      user_id: "u-7",
      session_id: "s1",
      input: { role: "user", parts: [{ type: "text", content: "pay 900" }] },
    });
    expect(pause).toMatchObject({ outcome: "interrupted", tool_calls: 0 });
    expect(resumption).toMatchObject({ resumed_from_run_id: RUN });
    expect(decision).toEqual({
      kind: "entelix.tool_call_decided",
      tool_use_id: "t1",
      name: "pay",
      decision: "edited",
      by: "user",
      person: "ann",
      reason: "too much",
      wait_ms: 4_200,
      proposed_input: { sum: 900 },
      timestamp: "2026-04-29T12:00:03Z",
    });
    expect(rows.at(-1)?.event).toEqual({
      kind: "entelix.run_ended",
      outcome: "failed",
      failure_kind: "model_dispatch",
      origin: "model",
      tool_calls: 1,
      tool_errors: 0,
      approved_calls: 1,
      denied_calls: 0,
      timestamp: "2026-04-29T12:00:06Z",
    });
    expect(JSON.stringify(rows)).not.toContain("OPERATOR-TEXT");
    // The span of each run names the run's last row.
    for (const span of spans.filter(({ name }) => name.startsWith("invoke_agent"))) {
      const last = rows.findLast(({ run_id }) => run_id === span.attributes["entelix.run_id"]);
      expect(span.attributes["entelix.audit.ordinal"]).toBe(last?.ordinal);
      expect(span.attributes["entelix.audit.hash"]).toBe(last?.hash);
    }
  });

  it("are the same whoever writes them, but for what only the bridge counts", async () => {
    const { rows } = await bridged(new MemorySessionLog());
    const alone = await sunk();
    expect(alone.map(({ event_id }) => event_id)).toEqual(rows.map(({ event_id }) => event_id));
    const counts = /"(tool_calls|tool_errors|approved_calls|denied_calls)":\d+,/g;
    expect(alone.map(({ event_text }) => event_text)).toEqual(
      rows.map(({ event_text }) => event_text.replace(counts, "")),
    );
  });

  it("are not written a second time, and the spans are the same then", async () => {
    const log = new MemorySessionLog();
    const first = await bridged(log);
    const again = await bridged(log);
    expect(again.rows).toEqual(first.rows);
    expect(again.spans.map(fingerprint)).toEqual(first.spans.map(fingerprint));
  });

  it("are those of upstream's kinds alone where that is asked for", async () => {
    const upstream = KINDS.filter((kind) => !kind.startsWith("entelix."));
    const { rows } = await bridged(new MemorySessionLog(), { rows: "upstream" });
    expect(rows.map(({ event }) => event.kind)).toEqual(upstream);
    const alone = await sunk({ rows: "upstream" });
    expect(alone.map(({ event }) => event.kind)).toEqual(upstream);
    const wrong: unknown = "some";
    expect(() => Reflect.construct(Bridge, [{ rows: wrong }])).toThrow("rows: expected");
    expect(() => Reflect.construct(AuditSink, [{ log: rows, rows: wrong }])).toThrow();
  });

  it("read back as a trace with the same outcomes, and no row of an unknown kind", async () => {
    const { rows, spans } = await bridged(new MemorySessionLog());
    const lines = rows.map(
      ({ event: _, event_text, ...row }) =>
        `${JSON.stringify(row).slice(0, -1)},"event":${event_text}}`,
    );
    const ofLog = flat((await replayed(lines)).trees);
    const outcome = (attributes: Readonly<Record<string, unknown>>) => [
      attributes["entelix.run_id"],
      attributes["gen_ai.agent.name"],
      attributes["entelix.run.outcome"],
      attributes["entelix.failure.kind"],
      attributes["entelix.failure.origin"],
      attributes["entelix.run.resumed_from"],
      attributes["entelix.run.approved_calls"],
    ];
    const isRun = (name: string) => name.startsWith("invoke_agent");
    expect(ofLog.filter(({ span }) => isRun(span)).map((node) => outcome(node.attributes))).toEqual(
      spans.filter(({ name }) => isRun(name)).map((span) => outcome(span.attributes)),
    );
    expect(JSON.stringify(ofLog)).not.toContain("entelix.graph.unknown");
  });

  it("are copied, and not made again, by who replays them", async () => {
    expect(new GraphMapping("acme").readsRows).toBe(true);
  });
});

describe("a call of the runtime and the event", () => {
  it("ask for one row, of which the log keeps the first", async () => {
    for (const make of [
      (log: MemorySessionLog) => {
        const bridge = new Bridge({ audit: log, tracerProvider: collectSpans().provider });
        return { sink: bridge, calls: bridge.audit };
      },
      (log: MemorySessionLog) => {
        const sink = new AuditSink({ log });
        return { sink, calls: sink };
      },
    ]) {
      const log = new MemorySessionLog();
      const { calls, sink } = make(log);
      const started = { type: "started", ...scope, agent: "a" } as const;
      const kind = { type: "approval_pending", tool_use_id: "t1" } as const;
      await sink.send(started, { timestamp, thread_id: "th" });
      await calls?.recordInterrupted(scope, kind, "first");
      await calls?.recordInterrupted(scope, { ...kind, tool_use_id: "t2" }, "another call");
      const paused = { type: "interrupted", ...scope, kind, payload: "second" } as const;
      await sink.send(paused, { timestamp });
      // The next segment: recorded before the run starts again, and its pause is another one.
      await calls?.recordResumed(scope, "cp-1");
      await sink.send(started, { timestamp: "2026-04-29T13:00:00Z" });
      await sink.send(paused, { timestamp: "2026-04-29T13:00:01Z" });
      const rows = await log.loadSince(thread, 0);
      expect(
        rows.map(({ event }) => [
          event.kind,
          Reflect.get(event, "payload") ?? Reflect.get(event, "from_checkpoint"),
        ]),
      ).toEqual([
        ["entelix.run_started", undefined],
        ["interrupt", "first"],
        ["interrupt", "another call"],
        ["entelix.run_ended", undefined],
        ["resumed", "cp-1"],
        ["entelix.run_started", undefined],
        ["interrupt", "second"],
        ["entelix.run_ended", undefined],
      ]);
      expect(rows[5]?.event).toMatchObject({ segment: 2 });
    }
  });
});
