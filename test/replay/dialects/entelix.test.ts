import { describe, expect, it } from "vitest";
import { AGENT_EVENT_TYPES, parseExact } from "../../../src/entries/events.ts";
import { readTimestamp } from "../../../src/events/door.ts";
import { EVENT_RANK, isJsonObject, type JsonObject } from "../../../src/replay/dialects/dialect.ts";
import {
  decodeEntelix,
  entelixDialect,
} from "../../../src/replay/dialects/entelix/entelix-dialect.ts";
import { readLines } from "../../support/golden.ts";

const TIME = "2026-04-29T12:00:00Z";
const RUN = { run_id: "r1", tenant_id: "acme" };
const TOOL = { ...RUN, tool_use_id: "tu-1", tool: "search" };
const ENVELOPE = { wire_code: "rate_limited", wire_class: "client" };

/** A good event of each type. */
const GOOD: Readonly<Record<(typeof AGENT_EVENT_TYPES)[number], JsonObject>> = {
  started: { type: "started", ...RUN, parent_run_id: null, agent: "react" },
  tool_start: { type: "tool_start", ...TOOL, tool_version: null, input: { q: 1 } },
  tool_complete: { type: "tool_complete", ...TOOL, duration_ms: 3, output: null },
  tool_error: {
    type: "tool_error",
    ...TOOL,
    error: "429",
    error_for_llm: "upstream model error",
    envelope: { ...ENVELOPE, retry_after_secs: 5, provider_status: 429 },
    kind: "rate_limit",
    duration_ms: 0.5,
  },
  tool_call_approved: { type: "tool_call_approved", ...TOOL },
  tool_call_denied: { type: "tool_call_denied", ...TOOL, reason: "no" },
  complete: {
    type: "complete",
    ...RUN,
    state: null,
    usage: {
      requests: 1,
      input_tokens: 18446744073709551615n,
      output_tokens: 2,
      tool_calls: 0,
      cost_usd: "0.30",
    },
  },
  failed: { type: "failed", ...RUN, error: "x", envelope: ENVELOPE, kind: { type: "cancelled" } },
  interrupted: { type: "interrupted", ...RUN, kind: { type: "custom" }, payload: [1] },
};

function issuesOf(event: JsonObject) {
  const decoded = decodeEntelix({ timestamp: TIME, ...event });
  return decoded.outcome === "rejected" ? decoded.issues : decoded.outcome;
}

function without(event: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(event).filter(([name]) => name !== field));
}

function eventOf(event: JsonObject) {
  const decoded = decodeEntelix({ timestamp: TIME, ...event });
  if (decoded.outcome !== "event") throw new Error(JSON.stringify(decoded));
  return decoded;
}

describe("decodeEntelix", () => {
  it.each([
    ["golden/entelix_events.jsonl", 89],
    ["golden/entelix_events_older_0_5.jsonl", 14],
  ])("takes every event of %s as it is, flat and nested", (file, count) => {
    const lines = readLines(file);
    expect(lines.length).toBe(count);
    for (const text of lines) {
      const golden = parseExact(text);
      if (!isJsonObject(golden) || !isJsonObject(golden.event)) throw new Error(text);
      const { event, timestamp } = golden;
      const line = { ...event, timestamp: timestamp ?? null };
      const flat = decodeEntelix(line);
      if (flat.outcome !== "event") throw new Error(`${text}: ${JSON.stringify(flat)}`);
      expect(flat.event).toBe(line);
      expect(flat.unknownValues).toEqual([]);
      expect(flat.envelope).toEqual({ timestamp: readTimestamp(String(timestamp)) });
      const nested = decodeEntelix(golden);
      expect(nested).toMatchObject({ outcome: "event", rank: flat.rank, envelope: flat.envelope });
      expect(nested.outcome === "event" && nested.event).toBe(event);
    }
  });

  it("takes the fields of the other parts of a real line, with every digit", () => {
    const text = `{"event_id":"e","sequence":0,"timestamp":"${TIME}","type":"tool_complete","run_id":"r","tenant_id":"t","tool_use_id":"","tool":"x","tool_version":null,"duration_ms":9007199254740993,"output":18446744073709551615}`;
    const value = parseExact(text);
    if (!isJsonObject(value)) throw new Error(text);
    const decoded = decodeEntelix(value);
    expect(decoded).toMatchObject({
      event: { duration_ms: 9007199254740993n, output: 18446744073709551615n },
      envelope: { event_id: "e", sequence: 0, timestamp: [1_777_464_000, 0] },
    });
  });

  it.each(AGENT_EVENT_TYPES)("names each missing or wrong field of %s", (type) => {
    const good = GOOD[type];
    expect(issuesOf(good)).toBe("event");
    const optional = new Set(["parent_run_id", "tool_version", "usage"]);
    if (type !== "interrupted") optional.add("kind");
    for (const field of Object.keys(good)) {
      const content = ["input", "output", "state", "payload"].includes(field);
      const missing = issuesOf(without(good, field));
      if (optional.has(field)) expect(missing).toBe("event");
      else expect(missing).toMatchObject([{ field }]);
      if (content) continue;
      expect(issuesOf({ ...good, [field]: true })).toMatchObject([{ field }]);
    }
  });

  it.each([
    ["complete", { usage: 7 }, "usage", "a usage object, or null"],
    [
      "complete",
      { usage: { ...Object(GOOD.complete.usage), cost_usd: 0.3 } },
      "usage.cost_usd",
      'a decimal number as text, such as "0.30", or null',
    ],
    [
      "complete",
      { usage: { ...Object(GOOD.complete.usage), input_tokens: -1 } },
      "usage.input_tokens",
      "a whole number from 0",
    ],
    [
      "complete",
      { usage: { ...Object(GOOD.complete.usage), requests: 2n ** 60n } },
      "usage.requests",
      "a whole number from 0 below 2^53",
    ],
    ["failed", { envelope: { ...ENVELOPE, wire_code: 1 } }, "envelope.wire_code", "text"],
    [
      "failed",
      { envelope: { ...ENVELOPE, wire_class: 1 } },
      "envelope.wire_class",
      "one of client, server",
    ],
    [
      "failed",
      { envelope: { ...ENVELOPE, retry_after_secs: -1 } },
      "envelope.retry_after_secs",
      "a whole number from 0",
    ],
    ["failed", { kind: "cancelled" }, "kind", 'an object such as {"type":"cancelled"}'],
    [
      "failed",
      { kind: { type: 5 } },
      "kind.type",
      "one of tool_error_terminal, usage_limit_exceeded, cancelled, deadline_exceeded, model_dispatch, internal, unclassified",
    ],
    ["failed", { kind: { type: "tool_error_terminal", kind: "auth" } }, "kind.tool_name", "text"],
    ["interrupted", { kind: { type: "approval_pending" } }, "kind.tool_use_id", "text"],
    [
      "interrupted",
      { kind: { type: "scheduled_pause", phase: "amid", node: "n" } },
      "kind.phase",
      "one of before, after",
    ],
    ["interrupted", { kind: {} }, "kind.type", "the name of an interruption kind"],
    ["tool_complete", { duration_ms: -1 }, "duration_ms", "milliseconds from 0"],
    [
      "tool_complete",
      { duration_ms: Number.POSITIVE_INFINITY },
      "duration_ms",
      "milliseconds from 0",
    ],
    ["started", { tenant_id: "" }, "tenant_id", "non-empty text"],
  ] as const)("says what it expected: %s with %o", (type, change, field, expected) => {
    expect(issuesOf({ ...GOOD[type], ...change })).toEqual([{ field, expected }]);
  });

  it("accepts empty run and tool-use ids", () => {
    expect(issuesOf({ ...GOOD.tool_start, run_id: "", tool_use_id: "" })).toBe("event");
  });

  it("reports all issues at once, those of a nested event by their path", () => {
    const event = { type: "started", run_id: 1, tenant_id: "" };
    const fields = ["run_id", "tenant_id", "agent"];
    const flat = decodeEntelix({ ...event, sequence: -1 });
    const nested = decodeEntelix({ event, sequence: -1 });
    const named = (decoded: typeof flat) =>
      decoded.outcome === "rejected" ? decoded.issues.map((issue) => issue.field) : decoded;
    expect(named(flat)).toEqual([...fields, "timestamp", "sequence"]);
    expect(named(nested)).toEqual([...fields.map((f) => `event.${f}`), "timestamp", "sequence"]);
    expect(named(decodeEntelix({ timestamp: TIME }))).toEqual(["type"]);
    expect(named(decodeEntelix({ timestamp: TIME, type: 3 }))).toEqual(["type"]);
  });

  it("passes unknown event types with their line, whatever else they hold", () => {
    const flat = { type: "brand_new", run_id: 7 };
    expect(decodeEntelix(flat)).toEqual({ outcome: "unknown", unknown: "brand_new", value: flat });
    const nested = { timestamp: TIME, event: { type: "brand_new" } };
    expect(decodeEntelix(nested)).toEqual({
      outcome: "unknown",
      unknown: "brand_new",
      value: nested,
    });
  });

  it("keeps unknown fields, and does not take the golden shape with `at`", () => {
    expect(eventOf({ ...GOOD.started, extra: { deep: [1n] } }).event).toMatchObject({
      extra: { deep: [1n] },
    });
    expect(decodeEntelix({ at: TIME, event: GOOD.started })).toMatchObject({
      outcome: "rejected",
      issues: [{ field: "timestamp" }],
    });
  });

  it.each([
    ["tool_error", { kind: "vibes" }, { kind: "internal" }, ["kind=vibes"]],
    [
      "failed",
      { kind: { type: "gremlins" } },
      { kind: { type: "unclassified" } },
      ["kind.type=gremlins"],
    ],
    [
      "failed",
      { kind: { type: "tool_error_terminal", kind: "vibes", tool_name: "t" } },
      { kind: { type: "tool_error_terminal", kind: "internal", tool_name: "t" } },
      ["kind.kind=vibes"],
    ],
    [
      "interrupted",
      { kind: { type: "nap", hours: 2 } },
      { kind: { type: "custom" } },
      ["kind.type=nap"],
    ],
    [
      "failed",
      { envelope: { wire_code: "c", wire_class: "cosmic" } },
      { envelope: { wire_code: "c", wire_class: "server" } },
      ["envelope.wire_class=cosmic"],
    ],
  ] as const)("replaces unknown values of %s and says so: %o", (type, change, shown, unknown) => {
    const given = { timestamp: TIME, ...GOOD[type], ...change };
    const copy = structuredClone(given);
    const decoded = decodeEntelix(given);
    if (decoded.outcome !== "event") throw new Error(JSON.stringify(decoded));
    expect(decoded.event).toEqual({ ...given, ...shown });
    expect(decoded.unknownValues).toEqual(unknown);
    expect(given).toEqual(copy);
  });

  it("takes null for absent in optional fields of every depth", () => {
    const nulls = { retry_after_secs: null, provider_status: null };
    const { event } = eventOf({ ...GOOD.failed, kind: null, envelope: { ...ENVELOPE, ...nulls } });
    expect(event).toStrictEqual({ timestamp: TIME, ...without(GOOD.failed, "kind") });
    expect("kind" in eventOf({ ...GOOD.tool_error, kind: null }).event).toBe(false);
    expect(eventOf({ ...GOOD.tool_call_denied, reason: null }).event).toMatchObject({ reason: "" });
  });
});

describe("entelixDialect", () => {
  it("knows its own lines by their type, flat or nested", () => {
    for (const type of AGENT_EVENT_TYPES) {
      expect(entelixDialect.looksLike({ type })).toBe(true);
      expect(entelixDialect.looksLike({ event: { type } })).toBe(true);
    }
    for (const type of ["start", "user_input", "turn_started", "done", 7, null]) {
      expect(entelixDialect.looksLike({ type })).toBe(false);
    }
    expect(entelixDialect.looksLike({ event: { kind: "tool_call" } })).toBe(false);
  });

  it("ranks events from opening to closing", () => {
    const ranks = AGENT_EVENT_TYPES.map((type) => [type, eventOf(GOOD[type]).rank]);
    expect(Object.fromEntries(ranks)).toEqual({
      started: EVENT_RANK.runOpens,
      tool_start: EVENT_RANK.callOpens,
      tool_complete: EVENT_RANK.callCloses,
      tool_error: EVENT_RANK.callCloses,
      tool_call_approved: EVENT_RANK.decision,
      tool_call_denied: EVENT_RANK.decision,
      complete: EVENT_RANK.runCloses,
      failed: EVENT_RANK.runCloses,
      interrupted: EVENT_RANK.runCloses,
    });
  });

  it("reads a question about a call, and ranks it with the decisions", () => {
    const asked = { type: "tool_call_asked", ...TOOL };
    expect(eventOf(asked)).toMatchObject({ event: asked, rank: EVENT_RANK.decision });
    expect(issuesOf({ ...asked, tool: 1 })).toEqual([{ field: "tool", expected: "text" }]);
  });

  it("places an event in its tenant's run, below the parent that started names", () => {
    const child = eventOf({ ...GOOD.started, parent_run_id: "p" });
    expect(entelixDialect.streamKey(child.event, child.envelope)).toEqual({
      stream: "acme\0r1",
      parent: "acme\0p",
    });
    const root = eventOf(GOOD.started);
    expect(entelixDialect.streamKey(root.event, root.envelope)).toEqual({ stream: "acme\0r1" });
    expect(entelixDialect.streamName(child.event, child.envelope)).toBe("r1");
  });
});
