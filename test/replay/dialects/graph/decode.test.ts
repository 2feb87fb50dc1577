import { describe, expect, it } from "vitest";
import { encodeGraphEvent } from "../../../../src/entries/audit.ts";
import { parseExact } from "../../../../src/entries/events.ts";
import {
  type Decoded,
  isJsonObject,
  type JsonObject,
} from "../../../../src/replay/dialects/dialect.ts";
import { entelixDialect } from "../../../../src/replay/dialects/entelix/entelix-dialect.ts";
import { graphDialect } from "../../../../src/replay/dialects/graph/graph-dialect.ts";
import type { GraphLine } from "../../../../src/replay/dialects/graph/graph-line.ts";
import { readLines } from "../../../support/golden.ts";

const AT = "2026-05-04T09:00:00.123456789Z";

function object(text: string): JsonObject {
  const value = parseExact(text);
  if (!isJsonObject(value)) throw new TypeError(text);
  return value;
}

function field(value: JsonObject, name: string): JsonObject {
  const inner = value[name];
  if (!isJsonObject(inner)) throw new TypeError(`${name} of ${JSON.stringify(value)}`);
  return inner;
}

const decode = (value: unknown): Decoded<GraphLine> =>
  graphDialect.decode(object(JSON.stringify(value)));

function taken(value: unknown) {
  const decoded = decode(value);
  if (decoded.outcome !== "event") throw new TypeError(JSON.stringify(decoded));
  return decoded;
}

function encoded(line: GraphLine): string {
  if (line.form === "erased") throw new TypeError("an erased event is not written again");
  return encodeGraphEvent(line.event);
}

const golden = readLines("golden/entelix_graph_events.jsonl").map(object);

describe("the GraphEvents that upstream wrote", () => {
  for (const line of golden) {
    const event = field(line, "graph_event");
    it(`${String(line.id)} decodes bare and nested, and encodes to the same value`, () => {
      const bare = graphDialect.decode(event);
      const nested = graphDialect.decode({ thread_id: "th", event });
      for (const decoded of [bare, nested]) {
        if (decoded.outcome !== "event") throw new TypeError(JSON.stringify(decoded));
        expect(decoded.unknownValues).toEqual([]);
        expect(decoded.event.event).toBe(event);
        expect(parseExact(encoded(decoded.event))).toEqual(event);
      }
    });
  }

  it("are of all 19 kinds", () => {
    expect(new Set(golden.map((line) => field(line, "graph_event").kind)).size).toBe(19);
  });
});

describe("the envelope", () => {
  const event = { kind: "cancelled", reason: "stop", timestamp: AT };

  it("of a bare event is its time alone, to the nanosecond", () => {
    const { envelope, event: line } = taken(event);
    expect(envelope).toEqual({ timestamp: [1_777_885_200, 123_456_789] });
    expect(line).toEqual({ form: "known", event });
  });

  it("of a nested event has what stands around it, and the event's own time", () => {
    const { envelope } = taken({
      event_id: "e-1",
      sequence: 3,
      timestamp: "2026-05-04T10:00:00Z",
      tenant_id: "acme",
      thread_id: "th-1",
      session_id: null,
      event,
    });
    expect(envelope).toEqual({
      event_id: "e-1",
      sequence: 3,
      timestamp: [1_777_885_200, 123_456_789],
      tenant_id: "acme",
      thread_id: "th-1",
    });
  });

  it("of a row of our log has its ordinal as sequence, and its ids beside the event", () => {
    const line = taken({
      tenant_id: "acme",
      thread_id: "th-1",
      ordinal: 7,
      prev: "0".repeat(64),
      run_id: "r1",
      event_id: null,
      trace_id: "a".repeat(32),
      span_id: "b".repeat(16),
      event,
    });
    expect(line.envelope).toEqual({
      timestamp: [1_777_885_200, 123_456_789],
      tenant_id: "acme",
      thread_id: "th-1",
      sequence: 7,
    });
    expect(line.event).toEqual({
      form: "known",
      event,
      run_id: "r1",
      trace_id: "a".repeat(32),
      span_id: "b".repeat(16),
      ordinal: 7,
    });
  });

  it("of entelix 0.5 has no kind of interruption, and is written as it came", () => {
    const old = { kind: "interrupt", payload: { ask: 1 }, timestamp: AT };
    const { event } = taken(old).event;
    expect(event).toEqual(old);
    expect(taken(old).event.form === "known" && encodeGraphEvent(old)).toBe(JSON.stringify(old));
    const wrong = decode({ ...old, interruption_kind: { type: "odd" } });
    expect(wrong.outcome).toBe("rejected");
  });

  it("tells a row without a run from a log without runs", () => {
    expect(taken({ run_id: null, event }).event.run_id).toBeNull();
    expect(taken({ event }).event.run_id).toBeUndefined();
  });

  it("does not take a checkpoint's thread for the envelope's", () => {
    const checkpoint = { kind: "checkpoint_marker", checkpoint_id: "c", thread_id: "t" };
    expect(taken({ ...checkpoint, timestamp: AT }).envelope.thread_id).toBeUndefined();
  });
});

describe("what is not known or not right", () => {
  it("keeps integers beyond 2^53 and unknown fields", () => {
    const text = `{"kind":"tool_call","id":"1","name":"n","input":{"id":9007199254740993},"newer":true,"timestamp":"${AT}"}`;
    const decoded = graphDialect.decode(object(text));
    if (decoded.outcome !== "event") throw new TypeError(decoded.outcome);
    expect(encoded(decoded.event)).toBe(text);
  });

  it("rejects a row of a time that no span can have, whatever its kind", () => {
    for (const kind of ["cancelled", "brand_new"]) {
      const event = { kind, reason: "stop", timestamp: "0001-01-01T00:00:00Z" };
      const issue = (field: string) => ({
        outcome: "rejected",
        issues: [{ field, expected: "a time from 1970 to 2262" }],
      });
      expect(decode(event)).toEqual(issue("timestamp"));
      expect(decode({ thread_id: "th-1", event })).toEqual(issue("event.timestamp"));
    }
  });

  it("passes an event of an unknown kind on as it is, and counts it", () => {
    const event = { kind: "brand_new", timestamp: AT, more: 1 };
    const line = taken({ thread_id: "th-1", event });
    expect(line.event).toEqual({ form: "unknown", event });
    expect(line.unknownValues).toEqual(["kind=brand_new"]);
  });

  it("has no place for an unknown kind without a time", () => {
    const value = { kind: "brand_new", at: 1 };
    expect(decode(value)).toEqual({ outcome: "unknown", unknown: "brand_new", value });
  });

  it("takes a row whose payload was erased", () => {
    const event = { erased: true, kind: "tool_call", timestamp: AT };
    expect(taken({ run_id: "r1", event }).event).toEqual({ form: "erased", event, run_id: "r1" });
  });

  it.each([
    [{ segment: 1, version: 1, commit: 0, prev: "0".repeat(64) }],
    [{ commit: 1, rows: 11, hash: "0".repeat(64) }],
    [{ archived: { tenant_id: "acme", thread_id: "th", watermark: 3, hash: "0".repeat(64) } }],
  ])("skips the line %j of a log, which is no row", (value) => {
    expect(decode(value)).toEqual({ outcome: "skipped" });
  });

  it.each([
    [{}, "kind"],
    [{ kind: 7, timestamp: AT }, "kind"],
    [{ kind: "cancelled", timestamp: AT }, "reason"],
    [{ kind: "cancelled", reason: "x", timestamp: "noon" }, "timestamp"],
    [{ event: { kind: "cancelled", reason: 7, timestamp: AT } }, "event.reason"],
    [{ run_id: 7, event: { kind: "cancelled", reason: "x", timestamp: AT } }, "run_id"],
    [{ trace_id: 7, event: { kind: "cancelled", reason: "x", timestamp: AT } }, "trace_id"],
    [{ span_id: [], event: { kind: "cancelled", reason: "x", timestamp: AT } }, "span_id"],
    [{ ordinal: 0, event: { kind: "cancelled", reason: "x", timestamp: AT } }, "ordinal"],
    [{ tenant_id: "", event: { kind: "cancelled", reason: "x", timestamp: AT } }, "tenant_id"],
    [{ sequence: -1, event: { kind: "cancelled", reason: "x", timestamp: AT } }, "sequence"],
  ])("rejects %j for its %s", (value, name) => {
    const decoded = decode(value);
    if (decoded.outcome !== "rejected") throw new TypeError(decoded.outcome);
    expect(decoded.issues.map((issue) => issue.field)).toEqual([name]);
  });
});

describe("looksLike", () => {
  const streams = ["turns", "endings", "sub_agents", "own_log", "upstream"];
  const ours = streams.flatMap((name) => readLines(`streams/graph_${name}.ndjson`)).map(object);

  it("knows every line of a log, and no other dialect does", () => {
    expect(ours.filter((line) => !graphDialect.looksLike(line))).toEqual([]);
    expect(ours.filter((line) => entelixDialect.looksLike(line))).toEqual([]);
  });

  it("knows no line of the other runtimes, flat or nested", () => {
    const files = ["entelix_events", "agent_sdk_events", "defect_events", "agent_sdk_newer_0_18"];
    const events = files
      .flatMap((file) => readLines(`golden/${file}.jsonl`))
      .map(object)
      .map((line) => field(line, line.event === undefined ? "envelope" : "event"));
    const lines = events.flatMap((event) => [event, { timestamp: AT, event }]);
    expect(lines.length).toBeGreaterThan(200);
    expect(lines.filter((line) => graphDialect.looksLike(line))).toEqual([]);
  });

  it("is not sure of a kind that it does not know", () => {
    expect(graphDialect.looksLike({ kind: "brand_new", timestamp: AT })).toBe(false);
  });
});
