import { describe, expect, it } from "vitest";
import { AGENT_EVENT_TYPES, parseExact } from "../../../../src/entries/events.ts";
import {
  decodeDefect,
  defectDialect,
} from "../../../../src/replay/dialects/defect/defect-dialect.ts";
import { DEFECT_EVENT_TYPES } from "../../../../src/replay/dialects/defect/events.ts";
import {
  EVENT_RANK,
  isJsonObject,
  type JsonObject,
} from "../../../../src/replay/dialects/dialect.ts";
import { readLines } from "../../../support/golden.ts";
import { encodeDefect } from "./encode.ts";
import { recordedLines, recordings } from "./recordings.ts";

const TIME = "2026-06-12T10:00:00Z";
const NO_USAGE = {
  input_tokens: null,
  output_tokens: null,
  cache_read_input_tokens: null,
  cache_creation_input_tokens: null,
};

function singleEvents(): JsonObject[] {
  return readLines("golden/defect_events.jsonl").map((text) => {
    const golden = parseExact(text);
    if (!isJsonObject(golden) || !isJsonObject(golden.event)) throw new TypeError(text);
    return golden.event;
  });
}

function flat(event: JsonObject): JsonObject {
  return { timestamp: TIME, ...event };
}

function issuesOf(event: JsonObject) {
  const decoded = decodeDefect(flat(event));
  return decoded.outcome === "rejected" ? decoded.issues : decoded.outcome;
}

function decodedOf(line: JsonObject) {
  const decoded = decodeDefect(line);
  if (decoded.outcome !== "event") throw new TypeError(JSON.stringify(decoded));
  return decoded;
}

describe("decodeDefect", () => {
  it("takes every golden event as it is, and writes it back equal by value", () => {
    const events = singleEvents();
    expect(events.length).toBe(28);
    expect(new Set(events.map((event) => event.type))).toEqual(new Set(DEFECT_EVENT_TYPES));
    for (const event of events) {
      const line = flat(event);
      const decoded = decodedOf(line);
      expect(decoded.event).toBe(line);
      expect(decoded.unknownValues).toEqual([]);
      expect(decoded.envelope).toEqual({ timestamp: [1_781_258_400, 0] });
      expect(parseExact(encodeDefect(decoded.event))).toEqual(line);
    }
  });

  it("takes every event of every golden stream, and writes it back equal by value", () => {
    const streams = recordings();
    expect(streams.length).toBe(9);
    const lines = streams.flatMap(recordedLines);
    expect(lines.length).toBe(157);
    for (const line of lines) {
      const decoded = decodedOf(line);
      expect(decoded.event).toBe(line);
      expect(parseExact(encodeDefect(decoded.event))).toEqual(line);
    }
  });

  it("takes an event that is nested in its envelope, and names its fields by their path", () => {
    for (const event of singleEvents()) {
      const decoded = decodedOf({ timestamp: TIME, session_id: "s", tenant_id: "acme", event });
      expect(decoded.event).toBe(event);
      expect(decoded.envelope).toMatchObject({ session_id: "s", tenant_id: "acme" });
      expect(decoded.rank).toBe(decodedOf(flat(event)).rank);
      expect(defectDialect.looksLike({ timestamp: TIME, event })).toBe(true);
    }
    const wrong = decodeDefect({ event: { type: "turn_ended", reason: 1 } });
    const fields = wrong.outcome === "rejected" ? wrong.issues.map(({ field }) => field) : [];
    expect(fields).toEqual(["event.reason", "timestamp"]);
    const ancestors = { type: "subagent", ancestor_path: ["c"], agent_type: "a" };
    const strange = { timestamp: TIME, event: { ...ancestors, inner: { type: "brand_new" } } };
    expect(decodeDefect(strange)).toEqual({
      outcome: "unknown",
      unknown: "subagent/brand_new",
      value: strange,
    });
  });

  it("reads the envelope, with the tenant", () => {
    const line = {
      event_id: "e1",
      sequence: 18446744073709551615n,
      timestamp: "2026-06-12T10:00:00.123456789Z",
      tenant_id: "acme",
      session_id: "s1",
      type: "turn_started",
    };
    expect(decodedOf(line).envelope).toEqual({
      event_id: "e1",
      sequence: 18446744073709551615n,
      timestamp: [1_781_258_400, 123_456_789],
      tenant_id: "acme",
      session_id: "s1",
    });
    expect(decodedOf({ ...line, tenant_id: null }).envelope.tenant_id).toBeUndefined();
    expect(issuesOf({ type: "turn_started", tenant_id: "" })).toEqual([
      { field: "tenant_id", expected: "non-empty text, or null" },
    ]);
    expect(decodeDefect({ type: "turn_started" })).toMatchObject({
      outcome: "rejected",
      issues: [{ field: "timestamp" }],
    });
  });

  it("keeps integers above 2^53 as they are, at every depth", () => {
    const text = `{"timestamp":"${TIME}","type":"subagent","ancestor_path":["a"],"agent_type":"x","inner":{"type":"tool_call_started","id":"c","name":"n","fields":{"rawInput":{"deep":[{"account":9007199254740993}]}}}}`;
    const line = parseExact(text);
    if (!isJsonObject(line)) throw new TypeError(text);
    expect(encodeDefect(decodedOf(line).event)).toBe(text);
    const usage = { ...NO_USAGE, input_tokens: 18446744073709551615n };
    const ended = decodedOf(flat({ type: "turn_ended", reason: "end_turn", usage }));
    expect(parseExact(encodeDefect(ended.event))).toMatchObject({ usage });
  });

  it("takes null and absent for the same in a tool call's fields, and writes it absent", () => {
    const nulls = {
      kind: null,
      status: null,
      title: null,
      content: null,
      locations: null,
      rawInput: null,
      rawOutput: null,
      brand_new: 7,
    };
    for (const type of ["tool_call_started", "tool_call_progress", "tool_call_finished"]) {
      const line = flat({ type, id: "c", name: "n", fields: nulls });
      expect(parseExact(encodeDefect(decodedOf(line).event))).toEqual({
        ...line,
        fields: { brand_new: 7 },
      });
    }
  });

  it("takes null and absent for the same elsewhere, and writes it null", () => {
    const finished = { type: "llm_call_finished", model: "m", attempt: 1 };
    for (const event of [finished, { ...finished, usage: null, error: null }]) {
      const line = flat(event);
      const written = { ...flat(finished), usage: NO_USAGE, error: null };
      expect(parseExact(encodeDefect(decodedOf(line).event))).toEqual(written);
    }
    const ended = { type: "turn_ended", reason: "end_turn", usage: { input_tokens: 3 } };
    expect(parseExact(encodeDefect(decodedOf(flat(ended)).event))).toEqual({
      ...flat(ended),
      usage: { ...NO_USAGE, input_tokens: 3 },
    });
  });

  it("writes the envelope beside an event that does not have it", () => {
    const at = { timestamp: [1_781_258_400, 120_000_000], session_id: "s1" } as const;
    expect(encodeDefect({ type: "turn_started" }, at)).toBe(
      '{"timestamp":"2026-06-12T10:00:00.120Z","session_id":"s1","type":"turn_started"}',
    );
    const inner = { type: "llm_call_finished", model: "m", attempt: 1 } as const;
    const event = { type: "subagent", ancestor_path: ["a"], agent_type: "x", inner } as const;
    expect(parseExact(encodeDefect(event, at))).toEqual({
      timestamp: "2026-06-12T10:00:00.120Z",
      session_id: "s1",
      ...event,
      inner: { ...inner, usage: NO_USAGE, error: null },
    });
  });

  it("passes unknown types through, also of sub-agents, and unknown fields", () => {
    const value = flat({ type: "brand_new", x: 1 });
    expect(decodeDefect(value)).toEqual({ outcome: "unknown", unknown: "brand_new", value });
    const inside = flat({
      type: "subagent",
      ancestor_path: ["a"],
      agent_type: "x",
      inner: { type: "brand_new" },
    });
    expect(decodeDefect(inside)).toEqual({
      outcome: "unknown",
      unknown: "subagent/brand_new",
      value: inside,
    });
    const line = flat({ type: "turn_started", unknown: "a field, and no unknown type" });
    expect(decodedOf(line).event).toBe(line);
  });

  it("notes values outside the known sets and takes the event", () => {
    expect(decodedOf(flat({ type: "turn_ended", reason: "tired" })).unknownValues).toEqual([
      "reason=tired",
    ]);
    const fields = { kind: "paint", status: "half" };
    const started = flat({ type: "tool_call_started", id: "c", name: "n", fields });
    expect(decodedOf(started)).toMatchObject({
      event: started,
      unknownValues: ["fields.kind=paint", "fields.status=half"],
    });
    const verdict = flat({ type: "policy_decision", id: "c", decision: { kind: "defer", by: 1 } });
    expect(decodedOf(verdict)).toMatchObject({
      event: { decision: { kind: "unknown", by: 1 } },
      unknownValues: ["decision.kind=defer"],
    });
    const outcome = { type: "permission_resolved", id: "c", outcome: { kind: "x".repeat(70) } };
    const inner = { type: "subagent", ancestor_path: ["a"], agent_type: "x", inner: outcome };
    expect(decodedOf(flat(inner))).toMatchObject({
      event: { inner: { outcome: { kind: "unknown" } } },
      unknownValues: [`outcome.kind=${"x".repeat(60)}`],
    });
    const options = [{ id: "o", name: "n", kind: "allow_hourly", allows: true }];
    const ask = flat({ type: "policy_decision", id: "c", decision: { kind: "ask", options } });
    expect(decodedOf(ask)).toMatchObject({
      event: ask,
      unknownValues: ["decision.options.kind=allow_hourly"],
    });
  });

  const good = { id: "c", fields: {} };
  it.each<[string, JsonObject, string]>([
    ["no type", {}, "type"],
    ["a type that is no text", { type: 7 }, "type"],
    ["a prompt without content", { type: "user_prompt_committed" }, "content"],
    [
      "a prompt with a bad block",
      { type: "user_prompt_committed", content: [{ type: "text" }, 7] },
      "content[1]",
    ],
    ["a piece without a block", { type: "assistant_text", content: "hi" }, "content"],
    ["a thought without a tag", { type: "assistant_thought", content: {} }, "content.type"],
    ["an end without a reason", { type: "turn_ended", usage: NO_USAGE }, "reason"],
    ["a usage that is none", { type: "turn_ended", reason: "refusal", usage: 7 }, "usage"],
    [
      "a negative count",
      { type: "turn_ended", reason: "refusal", usage: { output_tokens: -1 } },
      "usage.output_tokens",
    ],
    ["a start without an id", { ...good, type: "tool_call_started", id: 1, name: "n" }, "id"],
    ["a start without a name", { ...good, type: "tool_call_started" }, "name"],
    ["a call without fields", { type: "tool_call_progress", id: "c" }, "fields"],
    [
      "a bad status",
      { type: "tool_call_finished", id: "c", fields: { status: 1 } },
      "fields.status",
    ],
    ["a bad kind", { type: "tool_call_finished", id: "c", fields: { kind: [] } }, "fields.kind"],
    [
      "bad content",
      { type: "tool_call_finished", id: "c", fields: { content: ["x"] } },
      "fields.content",
    ],
    [
      "bad locations",
      { type: "tool_call_finished", id: "c", fields: { locations: {} } },
      "fields.locations",
    ],
    ["no decision", { type: "policy_decision", id: "c" }, "decision"],
    [
      "asking without options",
      { type: "policy_decision", id: "c", decision: { kind: "ask" } },
      "decision.options",
    ],
    [
      "an option that is none",
      { type: "policy_decision", id: "c", decision: { kind: "ask", options: [1] } },
      "decision.options[0]",
    ],
    [
      "an option that does not say",
      {
        type: "policy_decision",
        id: "c",
        decision: { kind: "ask", options: [{ id: "o", name: "n", kind: "allow_once" }] },
      },
      "decision.options[0].allows",
    ],
    ["no outcome", { type: "permission_resolved", id: "c", outcome: null }, "outcome"],
    [
      "a selection of nothing",
      { type: "permission_resolved", id: "c", outcome: { kind: "selected" } },
      "outcome.option_id",
    ],
    ["a call of no model", { type: "llm_call_started", attempt: 1 }, "model"],
    ["attempt 0", { type: "llm_call_started", model: "m", attempt: 0 }, "attempt"],
    [
      "an error that is no text",
      { type: "llm_call_finished", model: "m", attempt: 1, error: {} },
      "error",
    ],
    ["tokens that are none", { type: "context_compressed", tokens_before: 1 }, "tokens_after"],
    [
      "nothing cleared",
      { type: "context_microcompacted", tokens_before: 1, tokens_after: 1 },
      "cleared",
    ],
    [
      "no word of ancestors",
      { type: "subagent", agent_type: "x", inner: { type: "turn_started" } },
      "ancestor_path",
    ],
    [
      "too many ancestors",
      {
        type: "subagent",
        ancestor_path: Array.from({ length: 257 }, () => "a"),
        agent_type: "x",
        inner: { type: "turn_started" },
      },
      "ancestor_path",
    ],
    [
      "an ancestor that is no text",
      { type: "subagent", ancestor_path: [1], agent_type: "x", inner: { type: "turn_started" } },
      "ancestor_path",
    ],
    [
      "no agent type",
      { type: "subagent", ancestor_path: ["a"], inner: { type: "turn_started" } },
      "agent_type",
    ],
    ["nothing inside", { type: "subagent", ancestor_path: ["a"], agent_type: "x" }, "inner"],
    [
      "a sub-agent inside",
      { type: "subagent", ancestor_path: ["a"], agent_type: "x", inner: { type: "subagent" } },
      "inner.type",
    ],
    [
      "something bad inside",
      {
        type: "subagent",
        ancestor_path: ["a"],
        agent_type: "x",
        inner: { type: "tool_call_progress", id: "c", fields: 1 },
      },
      "inner.fields",
    ],
  ])("rejects %s by its field", (_, event, field) => {
    const issues = issuesOf(event);
    if (typeof issues === "string") throw new TypeError(issues);
    expect(issues.map((issue) => issue.field)).toEqual([field]);
  });

  it("names every field that is wrong", () => {
    const event = { type: "tool_call_started", timestamp: "soon", session_id: 1 };
    const issues = issuesOf(event);
    if (typeof issues === "string") throw new TypeError(issues);
    expect(issues.map((issue) => issue.field)).toEqual([
      "id",
      "name",
      "fields",
      "timestamp",
      "session_id",
    ]);
  });
});

describe("defectDialect", () => {
  it("knows its lines and nobody else's", () => {
    for (const type of DEFECT_EVENT_TYPES) expect(defectDialect.looksLike({ type })).toBe(true);
    const agentSdk = [
      "start",
      "user_input",
      "thinking",
      "thinking_delta",
      "text_delta",
      "text",
    ].concat(
      ["tool_call_start", "tool_call_end", "tool_progress", "tool_requires_confirmation"],
      ["turn_complete", "done", "error", "auto_retry_start", "auto_retry_end", "refusal"],
      ["cancelled", "context_compacted", "subagent_progress"],
    );
    for (const type of [...AGENT_EVENT_TYPES, ...agentSdk]) {
      expect(defectDialect.looksLike({ type })).toBe(false);
    }
    expect(defectDialect.looksLike({ kind: "tool_call", id: "c" })).toBe(false);
    expect(defectDialect.looksLike({ event: { type: "turn_started" } })).toBe(true);
  });

  it("puts all lines of a tenant into one order", () => {
    const streamKeyOf = (line: JsonObject) => {
      const { event, envelope } = decodedOf(flat(line));
      return defectDialect.streamKey(event, envelope).stream;
    };
    const own = streamKeyOf({ type: "turn_started", session_id: "s", tenant_id: "acme" });
    const inner = { type: "turn_started" };
    const below = { type: "subagent", ancestor_path: ["a"], agent_type: "x", inner };
    expect(streamKeyOf({ ...below, session_id: "s", tenant_id: "acme" })).toEqual(own);
    expect(streamKeyOf({ type: "turn_started", thread_id: "t", tenant_id: "acme" })).toEqual(own);
    expect(streamKeyOf({ type: "turn_started", tenant_id: "acme" })).toEqual(own);
    expect(streamKeyOf({ type: "turn_started", session_id: "s" })).not.toEqual(own);
  });

  it("says which session or thread a line names", () => {
    const partOf = (line: JsonObject) => {
      const { event, envelope } = decodedOf(flat({ type: "turn_started", ...line }));
      return defectDialect.streamKey(event, envelope).part;
    };
    const [session, thread] = [{ session_id: "s" }, { thread_id: "t" }];
    expect([{ ...session, ...thread }, session, thread, {}].map(partOf)).toEqual([
      "s",
      "s",
      "t",
      undefined,
    ]);
  });

  it("ranks an event of a sub-agent by what it does there", () => {
    const rank = (inner: JsonObject) =>
      decodedOf(flat({ type: "subagent", ancestor_path: ["a"], agent_type: "x", inner })).rank;
    expect(rank({ type: "turn_started" })).toBe(EVENT_RANK.runOpens);
    expect(rank({ type: "turn_aborted" })).toBe(EVENT_RANK.runCloses);
    expect(rank({ type: "tool_call_started", id: "c", name: "n", fields: {} })).toBe(
      EVENT_RANK.callOpens,
    );
    expect(rank({ type: "tool_call_finished", id: "c", fields: {} })).toBe(EVENT_RANK.callCloses);
    expect(rank({ type: "llm_call_started", model: "m", attempt: 1 })).toBe(EVENT_RANK.note);
  });
});
