import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";

import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import type { AgentEvent } from "../../../src/events/agent-event.ts";
import { renderForLlm } from "../../../src/events/errors/classify.ts";
import type { EventEnvelope } from "../../../src/events/event-envelope.ts";
import type { JsonValue } from "../../../src/events/exact-json.ts";
import { parseExact } from "../../../src/events/exact-json.ts";
import { RecorderSink } from "../../../src/events/sinks/recorder-sink.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { readLines } from "../../support/golden.ts";

const folder = mkdtempSync(join(tmpdir(), "recorder-"));
afterAll(() => rmSync(folder, { recursive: true }));

const TOOL = { run_id: "r1", tenant_id: "acme", tool_use_id: "t", tool: "search" } as const;
const TOOL_START: AgentEvent = { type: "tool_start", ...TOOL, input: { q: 1 } };
const MODEL = { run_id: "r1", tenant_id: "acme", model_call_id: "m" } as const;
const STARTED: AgentEvent = { type: "started", run_id: "r1", tenant_id: "acme", agent: "a" };
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Keeps what is written. */
class Tape extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

function decoded(line: string) {
  const value = parseExact(line);
  const result = isJsonObject(value) ? entelixDialect.decode(value) : undefined;
  if (result?.outcome !== "event") throw new Error(`${line}: ${JSON.stringify(result)}`);
  return result;
}

function lineOf(
  event: AgentEvent,
  envelope?: EventEnvelope,
  options: Partial<ConstructorParameters<typeof RecorderSink>[0]> = {},
) {
  const tape = new Tape();
  const sink = new RecorderSink({ ...options, path: undefined, stream: tape });
  expect(sink.send(event, envelope)).toBeUndefined();
  expect(tape.text.endsWith("\n")).toBe(true);
  return { ...decoded(tape.text), text: tape.text, sink };
}

/** Every JSON value that is read as it was written. */
const content = fc
  .jsonValue({ maxDepth: 3 })
  .map((value): JsonValue => parseExact(JSON.stringify(value)));
const name = fc.string({ unit: "binary", minLength: 1 });
const errors = {
  error: fc.string(),
  envelope: fc.constant({ wire_code: "cancelled", wire_class: "client" } as const),
};
const run = { run_id: fc.string(), tenant_id: name };
const tool = { ...run, tool_use_id: fc.string(), tool: fc.string() };
const model = { ...run, model_call_id: name };
const whole = fc.oneof(fc.nat(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }));

const anyEvent: fc.Arbitrary<AgentEvent> = fc.oneof(
  fc.record({
    type: fc.constant("started" as const),
    ...run,
    parent_run_id: fc.option(name),
    agent: fc.string(),
  }),
  fc.record({
    type: fc.constant("tool_start" as const),
    ...tool,
    tool_version: fc.option(name),
    input: content,
  }),
  fc.record({
    type: fc.constant("tool_complete" as const),
    ...tool,
    duration_ms: whole,
    output: content,
  }),
  fc.record({
    type: fc.constant("tool_error" as const),
    ...tool,
    ...errors,
    error_for_llm: fc.constant(renderForLlm(undefined)),
    kind: fc.constantFrom("transient" as const, "quota" as const),
    duration_ms: whole,
  }),
  fc.record({ type: fc.constant("tool_call_asked" as const), ...tool }),
  fc.record({ type: fc.constant("tool_call_approved" as const), ...tool }),
  fc.record({ type: fc.constant("tool_call_denied" as const), ...tool, reason: fc.string() }),
  fc.record({
    type: fc.constant("complete" as const),
    ...run,
    state: content,
    usage: fc.option(
      fc.record({
        requests: fc.nat(),
        input_tokens: whole,
        output_tokens: whole,
        tool_calls: fc.nat(),
        cost_usd: fc.constantFrom("0", "0.30", "12.000"),
      }),
    ),
  }),
  fc.record({
    type: fc.constant("failed" as const),
    ...run,
    ...errors,
    kind: fc.constant({ type: "cancelled" } as const),
  }),
  fc.record(
    {
      type: fc.constant("model_start" as const),
      ...model,
      model: fc.option(fc.string()),
      provider: fc.option(fc.string()),
      input: content,
    },
    { requiredKeys: ["type", "run_id", "tenant_id", "model_call_id"] },
  ),
  fc.record(
    {
      type: fc.constant("model_complete" as const),
      ...model,
      duration_ms: whole,
      first_output_ms: fc.option(whole),
      usage: fc.option(fc.record({ input_tokens: whole, output_tokens: fc.option(whole) })),
      response_model: fc.option(fc.string()),
      response_id: fc.option(fc.string()),
      finish_reasons: fc.option(fc.array(fc.string())),
      output: content,
    },
    { requiredKeys: ["type", "run_id", "tenant_id", "model_call_id", "duration_ms"] },
  ),
  fc.record({
    type: fc.constant("model_error" as const),
    ...model,
    ...errors,
    kind: fc.constant({ type: "model_dispatch" } as const),
    duration_ms: whole,
  }),
  fc.record({
    type: fc.constant("interrupted" as const),
    ...run,
    kind: fc.record({ type: fc.constant("approval_pending" as const), tool_use_id: fc.string() }),
    payload: content,
  }),
);

const anyEnvelope: fc.Arbitrary<EventEnvelope> = fc.record({
  event_id: name,
  sequence: whole,
  timestamp: fc
    .tuple(fc.integer({ min: 0, max: 9e9 }), fc.nat({ max: 999_999_999 }))
    .map(([seconds, nanos]): [number, number] => [seconds, nanos]),
  thread_id: name,
  session_id: name,
  root_run_id: name,
  resumed_from_run_id: name,
  parent_tool_use_id: fc.oneof(name, fc.constant(null)),
  traceparent: fc.constant("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
  tracestate: fc.string(),
});

describe("RecorderSink", () => {
  it("records what decodes to the same events and envelopes", () => {
    fc.assert(
      fc.property(anyEvent, anyEnvelope, (event, { tracestate, ...envelope }) => {
        const line = lineOf(event, tracestate ? { ...envelope, tracestate } : envelope);
        expect(line.event).toMatchObject(event);
        expect(line.envelope).toEqual(tracestate ? { ...envelope, tracestate } : envelope);
        expect(line.unknownValues).toEqual([]);
        expect(line.sink.diagnostics().badEnvelopeFields).toBe(0);
      }),
    );
  });

  it("records every golden event as it is", () => {
    for (const text of readLines("golden/entelix_events.jsonl")) {
      const golden = parseExact(text);
      if (!isJsonObject(golden)) throw new Error(text);
      const { event, envelope } = decoded(text);
      const line = lineOf(event, envelope);
      expect(line.event).toMatchObject(event);
      expect(line.envelope).toMatchObject(envelope);
    }
  });

  it("gives each event an id, a number and the time of its entry, the ids first in the line", async () => {
    const tape = new Tape();
    let second = 100;
    const sink = new RecorderSink({ stream: tape, clock: () => [second++, 123_456_789] });
    await sink.send(STARTED);
    await sink.send(TOOL_START, { sequence: 70 });
    await sink.send(TOOL_START, { timestamp: "2026-04-29T21:00:00.120+09:00" });
    const lines = tape.text.trimEnd().split("\n");
    const envelopes = lines.map((line) => decoded(line).envelope);
    expect(envelopes.map(({ sequence }) => sequence)).toEqual([0, 70, 1]);
    expect(envelopes.map(({ timestamp }) => timestamp)).toEqual([
      [100, 123_456_789],
      [101, 123_456_789],
      [1_777_464_000, 120_000_000],
    ]);
    for (const { event_id } of envelopes) expect(event_id).toMatch(UUID_V7);
    expect(new Set(envelopes.map(({ event_id }) => event_id)).size).toBe(3);
    expect(lines[0]).toMatch(
      /^\{"event_id":"[^"]+","sequence":0,"timestamp":"1970-01-01T00:01:40\.123456789Z","type":"started",/,
    );
  });

  it.each([undefined, "0001-01-01T00:00:00Z"])("reads the system's clock for %s", (timestamp) => {
    const before = Math.floor(Date.now() / 1000) - 1;
    const envelope = timestamp === undefined ? undefined : { timestamp };
    const [seconds] = lineOf(STARTED, envelope).envelope.timestamp;
    expect(seconds).toBeGreaterThanOrEqual(before);
    expect(seconds).toBeLessThanOrEqual(before + 60);
  });

  it("asks its source at the start of a run, and keeps what the envelope says", () => {
    const asked: string[] = [];
    const source = {
      provenanceOf(tenantId: string, runId: string): EventEnvelope {
        asked.push(`${tenantId}/${runId}`);
        return { thread_id: "th-source", root_run_id: "root", parent_tool_use_id: "call" };
      },
    };
    const { envelope } = lineOf(STARTED, { thread_id: "th-given" }, { source });
    expect(envelope).toMatchObject({
      thread_id: "th-given",
      root_run_id: "root",
      parent_tool_use_id: "call",
    });
    expect(lineOf(TOOL_START, undefined, { source }).envelope.root_run_id).toBeUndefined();
    expect(asked).toEqual(["acme/r1"]);
    const broken = {
      provenanceOf() {
        throw new Error("gone");
      },
    };
    expect(lineOf(STARTED, undefined, { source: broken }).sink.diagnostics().hookFailures).toBe(1);
  });

  it("leaves out content when told to", () => {
    const events: [AgentEvent, object][] = [
      [TOOL_START, { input: null }],
      [{ type: "tool_complete", ...TOOL, duration_ms: 1, output: "secret" }, { output: null }],
      [{ type: "tool_call_denied", ...TOOL, reason: "secret" }, { reason: "" }],
      [{ type: "complete", run_id: "r", tenant_id: "t", state: "secret" }, { state: null }],
      [
        {
          type: "interrupted",
          run_id: "r",
          tenant_id: "t",
          kind: { type: "custom" },
          payload: "secret",
        },
        { payload: null },
      ],
      [{ type: "model_start", ...MODEL, input: ["secret"] }, { input: null }],
      [{ type: "model_complete", ...MODEL, duration_ms: 1, output: "secret" }, { output: null }],
    ];
    for (const [event, shown] of events) {
      const line = lineOf(event, undefined, { content: false });
      expect(line.event).toMatchObject({ ...event, ...shown });
      expect(line.text).not.toContain("secret");
    }
  });

  it("records what the redaction hook makes of content and error text, and fails closed", () => {
    const failed: AgentEvent = {
      type: "failed",
      run_id: "r1",
      tenant_id: "acme",
      error: "secret",
      envelope: { wire_code: "c", wire_class: "server" },
    };
    const seen: unknown[] = [];
    const masked = (value: unknown, field: unknown) => {
      seen.push([value, field]);
      return "***";
    };
    expect(lineOf(TOOL_START, undefined, { redact: masked }).event).toMatchObject({ input: "***" });
    expect(lineOf(failed, undefined, { redact: masked }).event).toMatchObject({ error: "***" });
    expect(seen).toEqual([
      [{ q: 1 }, { attribute: "input", tenantId: "acme", runId: "r1", tool: "search" }],
      ["secret", { attribute: "error", tenantId: "acme", runId: "r1" }],
    ]);
    const modelFailed: AgentEvent = {
      type: "model_error",
      ...MODEL,
      duration_ms: 1,
      error: "secret",
      envelope: { wire_code: "c", wire_class: "server" },
      kind: { type: "internal" },
    };
    expect(lineOf(modelFailed, undefined, { redact: masked }).event).toMatchObject({
      error: "***",
    });
    const hooks = [
      () => {
        throw new Error("no");
      },
      async () => {
        throw new Error("late");
      },
    ];
    for (const redact of hooks) {
      const line = lineOf(failed, undefined, { redact });
      expect(line.event).toMatchObject({ error: "[redaction failed]" });
      expect(line.sink.diagnostics().hookFailures).toBe(1);
    }
    expect(lineOf(failed, undefined, { redact: () => ({ n: 1n }) }).event).toMatchObject({
      error: '{"n":1}',
    });
    expect(lineOf(failed, undefined, { redact: () => undefined }).event).toMatchObject({
      error: "",
    });
  });

  it("takes all of an event of a newer agent for content, but its names", () => {
    const tape = new Tape();
    const newer = { type: "tool_progress", ...TOOL, note: "secret", step: { n: 1 } };
    const sent = (options: object) => {
      const sink = new RecorderSink({ ...options, stream: tape });
      // As a program without types may send it.
      Reflect.apply(sink.send, sink, [newer]);
      return parseExact(tape.text.trimEnd().split("\n").at(-1) ?? "");
    };
    const names = { type: "tool_progress", ...TOOL };
    expect(sent({})).toMatchObject(newer);
    expect(sent({ content: false })).toMatchObject({ ...names, note: null, step: null });
    expect(sent({ redact: () => "***" })).toMatchObject({ ...names, note: "***", step: "***" });
  });

  it("adds no content to a model event that has none", () => {
    const line = lineOf({ type: "model_start", ...MODEL }, undefined, { content: false });
    expect(line.event).not.toHaveProperty("input");
  });

  it("keeps the line when content has no JSON", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const inputs: [unknown, unknown][] = [
      [undefined, null],
      [cycle, { self: "[unserializable: it contains itself]" }],
      [() => 1, "[unserializable: function]"],
      [{ n: 9007199254740993n }, { n: 9007199254740993n }],
    ];
    for (const [input, recorded] of inputs) {
      expect(lineOf({ ...TOOL_START, input }).event).toMatchObject({
        run_id: "r1",
        input: recorded,
      });
    }
  });

  it("shortens a field that readers would refuse its line for, also what a hook returns", () => {
    const text = "x".repeat(40_000_000);
    const cut = expect.stringMatching(/… \[more than \d+ bytes cut\]$/);
    const long = lineOf({ ...TOOL_START, input: { text, id: 7 } }).event;
    expect(long).toMatchObject({ input: { id: 7, text: cut } });
    const holes: unknown[] = [];
    holes[4_294_967_294] = "end";
    const hooked = lineOf({ ...TOOL_START, input: 1 }, {}, { redact: () => holes }).event;
    expect(hooked).toMatchObject({ input: { 4294967294: "end" } });
    const raw = lineOf({ ...TOOL_START, input: new Uint8Array([1, 2]) }).event;
    expect(raw).toMatchObject({ input: { type: "Uint8Array", base64: "AQI=" } });
  });

  it("leaves out envelope fields that no reader would take, and counts them", () => {
    const envelope: EventEnvelope = {
      event_id: "",
      sequence: -1,
      timestamp: "yesterday",
      thread_id: "",
      traceparent: "junk",
      root_run_id: "root",
    };
    const line = lineOf(STARTED, envelope, { clock: () => [7, 0] });
    expect(line.envelope).toEqual({
      event_id: expect.stringMatching(UUID_V7),
      sequence: 0,
      timestamp: [7, 0],
      root_run_id: "root",
      details: { recorder: { event_id_added: true } },
    });
    expect(line.sink.diagnostics().badEnvelopeFields).toBe(5);
    const long = lineOf(STARTED, { thread_id: "x".repeat(4_097), root_run_id: "x".repeat(4_096) });
    expect(Object.keys(long.envelope)).toEqual(expect.not.arrayContaining(["thread_id"]));
    expect(long.sink.diagnostics().badEnvelopeFields).toBe(1);
    const far = lineOf(STARTED, { timestamp: [1e15, 0] }, { clock: () => [7, 0] });
    expect(far.envelope.timestamp).toEqual([7, 0]);
  });

  it("leaves out what a program without types gives for text, so that the line can be read", () => {
    const tape = new Tape();
    const sink = new RecorderSink({ stream: tape, clock: () => [7, 0] });
    const envelope = {
      event_id: 5,
      thread_id: 17,
      root_run_id: {},
      tracestate: 9,
      session_id: null,
    };
    Reflect.apply(sink.send, sink, [STARTED, envelope]);
    expect(decoded(tape.text)).toMatchObject({
      event: STARTED,
      envelope: { event_id: expect.stringMatching(UUID_V7), sequence: 0, timestamp: [7, 0] },
    });
    expect(Object.keys(decoded(tape.text).envelope).sort()).toEqual([
      "details",
      "event_id",
      "sequence",
      "timestamp",
    ]);
    expect(sink.diagnostics().badEnvelopeFields).toBe(4);
  });

  it("does not let a field of the event hide the envelope", () => {
    const odd = { ...STARTED, event_id: "fake", timestamp: "fake", sequence: "fake" };
    const line = lineOf(odd, { event_id: "true", sequence: 5, timestamp: [9, 0] });
    expect(line.envelope).toEqual({ event_id: "true", sequence: 5, timestamp: [9, 0] });
  });

  it("appends to a file that only its owner can read, and mends a torn last line", async () => {
    const path = join(folder, "events.ndjson");
    const first = new RecorderSink({ path });
    await first.send(STARTED);
    await first.shutdown();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, '{"torn":', { flag: "a" });
    await using second = new RecorderSink({ path });
    await second.send(TOOL_START);
    await second.forceFlush();
    const lines = readFileSync(path, "utf8").split("\n");
    expect(
      lines.map((line) => (line.startsWith('{"event') ? decoded(line).event.type : line)),
    ).toEqual(["started", '{"torn":', "tool_start", ""]);
    expect(second.diagnostics()).toMatchObject({ recorded: 1, refused: 0 });
  });

  it("writes a file that readEvents reads back whole and in order", async () => {
    const path = join(folder, "replayed.ndjson");
    const sink = new RecorderSink({ path });
    const sent = Array.from({ length: 2000 }, (_, n): AgentEvent => {
      return { ...TOOL_START, input: `${n} ${"é".repeat(300)}` };
    });
    for (const event of sent) await sink.send(event);
    await sink.shutdown();
    const read: AgentEvent[] = [];
    const report = await readEvents(path, {
      dialects: [entelixDialect],
      onEvent: ({ event }) => void read.push(event),
    });
    expect(report).toMatchObject({ events: 2000, rejected: 0, unknown: 0, late: 0 });
    expect(read).toMatchObject(sent);
  });

  it("flushes at shutdown, leaves a given stream open, and refuses what comes after", async () => {
    const tape = new Tape();
    const sink = new RecorderSink({ stream: tape });
    await sink.send(STARTED);
    await sink.shutdown();
    await sink.shutdown();
    expect(tape.writable).toBe(true);
    expect(tape.listenerCount("error")).toBe(0);
    expect(() => sink.send(STARTED)).toThrow("recording to the stream: it was shut down");
    await sink.forceFlush();
  });

  it("says at once when the file cannot be opened, and which limit is none", () => {
    expect(() => new RecorderSink({ path: join(folder, "no", "such", "file") })).toThrow("ENOENT");
    expect(() => new RecorderSink({ path: join(folder, "x"), maxBufferedBytes: 0 })).toThrow(
      "maxBufferedBytes: expected a whole number from 1, got 0",
    );
  });
});
