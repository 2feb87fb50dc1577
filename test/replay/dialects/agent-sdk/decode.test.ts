import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGENT_EVENT_TYPES, parseExact } from "../../../../src/entries/events.ts";
import { readTimestamp } from "../../../../src/events/door.ts";
import {
  agentSdkDialect,
  decodeAgentSdk,
} from "../../../../src/replay/dialects/agent-sdk/agent-sdk-dialect.ts";
import {
  AGENT_SDK_EVENT_TYPES,
  unknownFields,
} from "../../../../src/replay/dialects/agent-sdk/events.ts";
import {
  EVENT_RANK,
  isJsonObject,
  type JsonObject,
} from "../../../../src/replay/dialects/dialect.ts";
import { readLines } from "../../../support/golden.ts";
import { encodeAgentSdk } from "./encode.ts";
import { eventOf, LINES, objectOf, STREAMS, vectors } from "./golden-lines.ts";

const TIME = "2026-06-05T10:00:00Z";
const USAGE = { input_tokens: 1, output_tokens: 2 };
const TOOL = { id: "tu_1", name: "bash", display_name: "Bash" };
const ENDED = { thread_id: "th", total_turns: 1, total_usage: USAGE };
const WHOLE = { message_id: "m1", text: "hi" };
const DELTA = { message_id: "m1", delta: "h" };

/** A good event of each type, with the fields it must have and no others. */
const GOOD: Readonly<Record<string, JsonObject>> = {
  start: { thread_id: "th", turn: 1 },
  user_input: { thread_id: "th", content: [] },
  thinking: WHOLE,
  thinking_delta: DELTA,
  text: WHOLE,
  text_delta: DELTA,
  tool_call_start: { ...TOOL, input: null, tier: "Observe" },
  tool_call_end: { ...TOOL, result: { success: true, output: "" } },
  tool_progress: { ...TOOL, stage: "s", message: "m" },
  tool_requires_confirmation: { ...TOOL, input: {}, description: "?" },
  turn_complete: { turn: 1, usage: USAGE },
  done: { ...ENDED, duration_ms: 5 },
  budget_exceeded: { ...ENDED, duration_ms: 5, limit: "cost_usd" },
  error: { message: "boom", recoverable: false },
  auto_retry_start: { attempt: 1, max_attempts: 2, delay_ms: 3, error_message: "429" },
  auto_retry_end: { attempt: 1, success: true },
  refusal: { message_id: "m1" },
  cancelled: { turn: 1, usage: USAGE },
  context_compacted: { original_count: 4, new_count: 1, original_tokens: 9, new_tokens: 2 },
  subagent_progress: {
    subagent_id: "explore_1",
    subagent_name: "explore",
    tool_name: "",
    tool_context: "",
    completed: false,
    success: false,
    tool_count: 0,
    total_tokens: 0,
  },
  thread_created: { thread_id: "th" },
  question_asked: { task_id: "t1", questions: [] },
  account_rotation: { provider: "p", from_account: "a", to_account: "b", reason: "rate_limited" },
  account_pool_exhausted: { provider: "p", account_count: 2, reason: "rate_limited" },
};

function good(type: string): JsonObject {
  return { timestamp: TIME, type, ...GOOD[type] };
}

function issuesOf(line: JsonObject) {
  const decoded = decodeAgentSdk(line);
  return decoded.outcome === "rejected" ? decoded.issues : decoded.outcome;
}

function without(line: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(line).filter(([name]) => name !== field));
}

describe("golden lines of agent-sdk-foundation 0.9 and 0.18", () => {
  it("are decoded, every one, and are the event themselves", () => {
    expect(LINES.length).toBe(28 + 6 + 38 + 50);
    for (const line of LINES) {
      const { event, envelope, unknownValues } = eventOf(line);
      expect(event).toBe(line);
      expect(unknownValues).toEqual([]);
      expect(unknownFields(event)).toBeUndefined();
      expect(envelope.event_id).toBe(line.event_id);
      expect(envelope.sequence).toBe(line.sequence);
      expect(envelope.timestamp).toEqual(readTimestamp(String(line.timestamp)));
    }
  });

  it("are written again equal by value, times to the digit", () => {
    for (const line of LINES) {
      const { event, envelope } = eventOf(line);
      expect(parseExact(encodeAgentSdk(event, envelope))).toEqual(line);
    }
  });

  it("are read nested too, and written flat", () => {
    for (const { envelope, event } of vectors("agent_sdk_events.jsonl")) {
      const { type: _type, ...rest } = objectOf(envelope);
      const outer = { event_id: rest.event_id ?? null, sequence: rest.sequence ?? null };
      const decoded = eventOf({
        ...outer,
        timestamp: rest.timestamp ?? null,
        event: event ?? null,
      });
      expect(decoded.event).toBe(event);
      expect(parseExact(encodeAgentSdk(decoded.event, decoded.envelope))).toEqual(envelope);
      expect(decoded.envelope.thread_id).toBe(rest.thread_id);
    }
  });

  it("have every type between them that 0.9 has", () => {
    const types = new Set(LINES.map((line) => line.type));
    const newer = AGENT_SDK_EVENT_TYPES.filter((type) => !types.has(type));
    expect(newer).toEqual(["question_asked", "account_rotation", "account_pool_exhausted"]);
  });
});

describe("decodeAgentSdk", () => {
  it.each(AGENT_SDK_EVENT_TYPES)("names each missing or wrong field of %s", (type) => {
    const line = good(type);
    expect(issuesOf(line)).toBe("event");
    for (const field of Object.keys(GOOD[type] ?? {})) {
      expect(issuesOf(without(line, field))).toMatchObject([{ field }]);
      // Whatever JSON an input is, it passes.
      if (field === "input") expect(issuesOf({ ...line, input: [1] })).toBe("event");
      else if (typeof line[field] === "boolean") {
        expect(issuesOf({ ...line, [field]: "yes" })).toMatchObject([{ field }]);
      } else expect(issuesOf({ ...line, [field]: true })).toMatchObject([{ field }]);
    }
  });

  it.each([
    [
      "turn_complete",
      { usage: { input_tokens: 1 } },
      "usage.output_tokens",
      "a whole number from 0",
    ],
    [
      "turn_complete",
      { usage: { ...USAGE, cached_input_tokens: null } },
      "usage.cached_input_tokens",
      "a whole number from 0",
    ],
    ["tool_call_end", { result: { success: 1, output: "" } }, "result.success", "true or false"],
    ["tool_call_end", { result: { success: true } }, "result.output", "text"],
    [
      "tool_call_end",
      { result: { success: true, output: "", duration_ms: -1 } },
      "result.duration_ms",
      "a whole number from 0, or null",
    ],
    [
      "tool_call_end",
      { result: { success: true, output: "", documents: {} } },
      "result.documents",
      "a list, or null",
    ],
    ["user_input", { content: [{ text: "x" }] }, "content[0].type", 'a block type such as "text"'],
    ["start", { thread_id: "" }, "thread_id", "non-empty text"],
    ["start", { emitter_task_id: 7 }, "emitter_task_id", "text, or null"],
    ["done", { duration_ms: { secs: 1 } }, "duration_ms", "milliseconds from 0, or {secs, nanos}"],
    [
      "done",
      { duration_ms: null, duration: "1s" },
      "duration",
      "milliseconds from 0, or {secs, nanos}",
    ],
    ["done", { estimated_cost_usd: "0.25" }, "estimated_cost_usd", "a number, or null"],
    ["error", { reason: "budget" }, "reason", 'an object such as {"reason":"budget"}, or null'],
    ["question_asked", { questions: {} }, "questions", "a list of questions"],
    ["text", { tenant_id: "" }, "tenant_id", "non-empty text, or null"],
    ["text", { sequence: -1 }, "sequence", "a whole number from 0"],
  ] as const)("says what it expected: %s with %o", (type, change, field, expected) => {
    expect(issuesOf({ ...good(type), ...change })).toEqual([{ field, expected }]);
  });

  it("reports all issues at once, those of a nested event by their path", () => {
    const event = { type: "start", thread_id: 7, turn: "1" };
    expect(issuesOf({ ...event, sequence: -1 })).toMatchObject([
      { field: "thread_id" },
      { field: "turn" },
      { field: "timestamp" },
      { field: "sequence" },
    ]);
    expect(issuesOf({ event, timestamp: TIME })).toMatchObject([
      { field: "event.thread_id" },
      { field: "event.turn" },
    ]);
    expect(issuesOf({ timestamp: TIME })).toMatchObject([{ field: "type" }]);
    expect(issuesOf({ timestamp: TIME, type: 3 })).toMatchObject([{ field: "type" }]);
  });

  it("reads lengths of runs of both kinds, under both names", () => {
    const { duration_ms: _none, ...done } = good("done");
    for (const length of [7, 2n ** 60n, { secs: 1, nanos: 500 }]) {
      expect(issuesOf({ ...done, duration: length })).toBe("event");
      expect(issuesOf({ ...done, duration_ms: length })).toBe("event");
    }
  });

  it("passes unknown types and fields, and keeps every digit", () => {
    const unknown = { timestamp: TIME, type: "brand_new", thread_id: 7 };
    expect(decodeAgentSdk(unknown)).toEqual({
      outcome: "unknown",
      unknown: "brand_new",
      value: unknown,
    });
    const text = `{"event_id":"e","sequence":18446744073709551615,"timestamp":"2026-06-05T10:00:00.000000001Z","type":"tool_call_start","id":"1","name":"n","display_name":"N","input":{"account":9007199254740993},"tier":"Observe","mood":{"deep":[18446744073709551616]}}`;
    const { event, envelope } = eventOf(objectOf(parseExact(text)));
    expect(unknownFields(event)).toEqual({ mood: { deep: [2n ** 64n] } });
    expect(envelope.timestamp[1]).toBe(1);
    expect(encodeAgentSdk(event, envelope)).toBe(text);
  });

  it("notes values that newer agents may add, and leaves them in the event", () => {
    const noted = (type: string, change: JsonObject) =>
      eventOf({ ...good(type), ...change }).unknownValues;
    expect(noted("tool_call_start", { tier: "Forbid" })).toEqual(["tier=Forbid"]);
    expect(noted("tool_call_start", { tier: "observe" })).toEqual(["tier=observe"]);
    expect(noted("budget_exceeded", { limit: "wall_time" })).toEqual(["limit=wall_time"]);
    expect(noted("error", { reason: { reason: "moon" } })).toEqual(["reason.reason=moon"]);
    expect(noted("cancelled", { reason: { reason: "user_cancel" } })).toEqual([]);
    expect(noted("account_rotation", { reason: "bored" })).toEqual(["reason=bored"]);
    expect(eventOf({ ...good("tool_call_start"), tier: "Forbid" }).event).toMatchObject({
      tier: "Forbid",
    });
  });

  it("takes tenant and thread of any line from its envelope", () => {
    const line = { ...good("text"), tenant_id: "acme", thread_id: "th-9" };
    const { event, envelope } = eventOf(line);
    expect(envelope).toMatchObject({ tenant_id: "acme", thread_id: "th-9" });
    expect(parseExact(encodeAgentSdk(event, envelope))).toEqual(line);
    expect(eventOf({ ...good("text"), tenant_id: null }).envelope.tenant_id).toBeUndefined();
  });

  it("never throws, whatever the line is", () => {
    const value = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom(null, true, "", "x", 0, -1, 1.5, 2n ** 70n),
        fc.array(tie("json"), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom("type", "secs", "success", "reason"), tie("json"), {
          maxKeys: 3,
        }),
      ),
    })).json;
    const field = fc.constantFrom(
      ...new Set(Object.values(GOOD).flatMap((event) => Object.keys(event))),
      "timestamp",
      "event",
      "tenant_id",
      "reason",
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...AGENT_SDK_EVENT_TYPES),
        fc.dictionary(field, value, { maxKeys: 4 }),
        (type, changes) => {
          const line = objectOf(parseExact(JSON.stringify(good(type))));
          const decoded = decodeAgentSdk({ ...line, ...asLine(changes) });
          if (decoded.outcome === "rejected") expect(decoded.issues.length).toBeGreaterThan(0);
          else expect(decoded.outcome).toBe("event");
        },
      ),
    );
  });
});

/** A generated object as a parsed line. */
function asLine(value: unknown): JsonObject {
  const text = JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "bigint" ? `#${each}` : each,
  );
  return objectOf(parseExact(text.replace(/"#(\d+)"/g, "$1")));
}

describe("agentSdkDialect", () => {
  it("knows its own lines, good ones and bad ones", () => {
    for (const line of LINES) expect(agentSdkDialect.looksLike(line)).toBe(true);
    for (const type of AGENT_SDK_EVENT_TYPES) {
      expect(agentSdkDialect.looksLike(good(type))).toBe(true);
      expect(agentSdkDialect.looksLike({ type, event_id: "e", sequence: 0 })).toBe(true);
      expect(agentSdkDialect.looksLike({ timestamp: TIME, event: { type, ...GOOD[type] } })).toBe(
        true,
      );
    }
  });

  it.each([
    "defect_events.jsonl",
    "defect_streams.jsonl",
    "defect_real_runs.jsonl",
    "entelix_events.jsonl",
    "entelix_graph_events.jsonl",
    "entelix_lifecycles.jsonl",
  ])("takes no event of %s for its own", (file) => {
    for (const text of readLines(`golden/${file}`)) {
      const line = objectOf(parseExact(text));
      for (const each of [line, line.event, line.graph_event, ...inside(line.events)]) {
        if (!isJsonObject(each)) continue;
        expect(agentSdkDialect.looksLike(each)).toBe(false);
        expect(agentSdkDialect.looksLike({ timestamp: TIME, event: each })).toBe(false);
      }
    }
  });

  it("takes nothing that only shares a plain name", () => {
    for (const type of [...AGENT_EVENT_TYPES, "message", 7, null]) {
      expect(agentSdkDialect.looksLike({ type })).toBe(false);
    }
    expect(agentSdkDialect.looksLike({ type: "error", error: { message: "x" } })).toBe(false);
    expect(agentSdkDialect.looksLike({ type: "text", text: "x" })).toBe(false);
    expect(agentSdkDialect.looksLike({ kind: "cancelled", reason: "x" })).toBe(false);
  });

  it("puts all lines of a tenant into one order", () => {
    const places = LINES.map((line) => {
      const { event, envelope } = eventOf(line);
      return agentSdkDialect.streamKey(event, envelope);
    });
    expect(new Set(places.map(({ stream }) => stream)).size).toBe(1);
    const { event, envelope } = eventOf({ ...good("text"), tenant_id: "acme" });
    expect(agentSdkDialect.streamKey(event, envelope)).toEqual({ stream: "acme" });
  });

  it("says which session or thread a line names", () => {
    const [session, thread, tenant] = [{ session_id: "s" }, { thread_id: "t" }, { tenant_id: "a" }];
    const lines = [{ ...session, ...thread, ...tenant }, { ...thread, ...tenant }, tenant];
    const found = lines.map((named) => {
      const { event, envelope } = eventOf({ ...good("text"), ...named });
      const { part } = agentSdkDialect.streamKey(event, envelope);
      return [part, agentSdkDialect.streamName(event, envelope)];
    });
    expect(found).toEqual([
      ["s", "s"],
      ["t", "t"],
      [undefined, "a"],
    ]);
  });

  it("ranks what opens before what closes", () => {
    const ranks = AGENT_SDK_EVENT_TYPES.map((type) => [type, eventOf(good(type)).rank]);
    expect(Object.fromEntries(ranks)).toMatchObject({
      user_input: EVENT_RANK.runOpens,
      start: EVENT_RANK.decision,
      tool_call_start: EVENT_RANK.callOpens,
      text: EVENT_RANK.note,
      tool_requires_confirmation: EVENT_RANK.note,
      tool_call_end: EVENT_RANK.callCloses,
      turn_complete: EVENT_RANK.callCloses,
      done: EVENT_RANK.runCloses,
      error: EVENT_RANK.runCloses,
    });
  });

  it("keeps the order of every golden stream by its sequences", () => {
    for (const { lines } of STREAMS) {
      const sequences = lines.map((line) => Number(line.sequence));
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    }
  });
});

function inside(list: unknown): JsonObject[] {
  if (!Array.isArray(list)) return [];
  return list.map((entry) =>
    isJsonObject(entry) && isJsonObject(entry.event) ? entry.event : entry,
  );
}
