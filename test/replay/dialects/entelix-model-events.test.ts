import { describe, expect, it } from "vitest";
import { MODEL_EVENT_TYPES, type ModelEvent, parseExact } from "../../../src/entries/events.ts";
import { EVENT_RANK, isJsonObject, type JsonObject } from "../../../src/replay/dialects/dialect.ts";
import {
  decodeEntelix,
  entelixDialect,
} from "../../../src/replay/dialects/entelix/entelix-dialect.ts";
import { readEvents } from "../../../src/replay/input/read-events.ts";
import { RUNTIMES } from "../../../src/replay/runtimes.ts";

const TIME = "2026-04-29T12:00:00Z";
const CALL = { run_id: "r1", tenant_id: "acme", model_call_id: "m1", model: "small-1" };
const ENVELOPE = { wire_code: "rate_limited", wire_class: "client" };

/** A good event of each type, with every field. */
const GOOD: Readonly<Record<ModelEvent["type"], JsonObject>> = {
  model_start: {
    type: "model_start",
    ...CALL,
    operation: "embeddings",
    provider: "openai",
    input: [{ role: "user" }],
  },
  model_complete: {
    type: "model_complete",
    ...CALL,
    duration_ms: 840,
    first_output_ms: 120.5,
    usage: {
      input_tokens: 31,
      output_tokens: 7,
      cache_read_input_tokens: 20,
      cache_write_input_tokens: 0,
      reasoning_output_tokens: 3,
    },
    response_model: "small-1-2026",
    response_id: "resp_1",
    finish_reasons: ["stop"],
    output: "hello",
  },
  model_error: {
    type: "model_error",
    server_address: "127.0.0.1",
    server_port: 8080,
    ...CALL,
    duration_ms: 3,
    error: "429",
    envelope: ENVELOPE,
    kind: { type: "model_dispatch" },
  },
};

const OPTIONAL = new Set([
  "model",
  "operation",
  "provider",
  "server_address",
  "server_port",
  "input",
  "output",
  "first_output_ms",
  "usage",
  "response_model",
  "response_id",
  "finish_reasons",
]);
const CONTENT = new Set(["input", "output"]);

function issuesOf(event: JsonObject) {
  const decoded = decodeEntelix({ timestamp: TIME, ...event });
  return decoded.outcome === "rejected" ? decoded.issues : decoded.outcome;
}

function without(event: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(event).filter(([name]) => name !== field));
}

describe("a line of a model event", () => {
  it.each(MODEL_EVENT_TYPES)("of type %s is taken as it is, flat and nested", (type) => {
    const line = { timestamp: TIME, ...GOOD[type] };
    const flat = decodeEntelix(line);
    expect(flat.outcome === "event" && flat.event).toBe(line);
    const nested = decodeEntelix({ timestamp: TIME, event: GOOD[type] });
    expect(nested.outcome === "event" && nested.event).toBe(GOOD[type]);
    expect(entelixDialect.looksLike(line)).toBe(true);
    expect(entelixDialect.looksLike({ event: GOOD[type] })).toBe(true);
  });

  it.each(MODEL_EVENT_TYPES)("of type %s: each missing or wrong field is named", (type) => {
    const good = GOOD[type];
    for (const field of Object.keys(good)) {
      const missing = issuesOf(without(good, field));
      const empty = field === "type" ? undefined : issuesOf({ ...good, [field]: null });
      if (OPTIONAL.has(field)) {
        expect(missing).toBe("event");
        expect(empty).toBe("event");
      } else expect(missing).toMatchObject([{ field }]);
      if (CONTENT.has(field)) continue;
      expect(issuesOf({ ...good, [field]: true })).toMatchObject([{ field }]);
    }
  });

  it.each([
    ["model_start", { model_call_id: "" }, "model_call_id", "non-empty text"],
    ["model_start", { tenant_id: "" }, "tenant_id", "non-empty text"],
    ["model_start", { model: 5 }, "model", "text, or null"],
    ["model_complete", { duration_ms: -1 }, "duration_ms", "milliseconds from 0"],
    ["model_complete", { first_output_ms: "soon" }, "first_output_ms", "milliseconds from 0"],
    ["model_complete", { usage: [] }, "usage", "a usage object, or null"],
    [
      "model_complete",
      { usage: { output_tokens: 1.5 } },
      "usage.output_tokens",
      "a whole number from 0",
    ],
    [
      "model_complete",
      { usage: { cache_read_input_tokens: -1n } },
      "usage.cache_read_input_tokens",
      "a whole number from 0",
    ],
    [
      "model_complete",
      { finish_reasons: ["stop", 1] },
      "finish_reasons",
      "an array of text, or null",
    ],
    ["model_complete", { finish_reasons: "stop" }, "finish_reasons", "an array of text, or null"],
    ["model_error", { error: null }, "error", "text"],
    ["model_error", { envelope: { wire_code: "x", wire_class: 1 } }, "envelope.wire_class", /./],
    ["model_error", { kind: "cancelled" }, "kind", 'an object such as {"type":"cancelled"}'],
    ["model_error", { kind: null }, "kind", 'an object such as {"type":"cancelled"}'],
  ] as const)("%s with %o is rejected at %s", (type, changes, field, expected) => {
    expect(issuesOf({ ...GOOD[type], ...changes })).toMatchObject([
      {
        field,
        expected: typeof expected === "string" ? expected : expect.stringMatching(expected),
      },
    ]);
  });

  it("keeps every digit of counts and times", () => {
    const text = `{"timestamp":"${TIME}","type":"model_complete","run_id":"r","tenant_id":"t","model_call_id":"m","duration_ms":9007199254740993,"first_output_ms":9007199254740993,"usage":{"input_tokens":18446744073709551615,"output_tokens":null}}`;
    const value = parseExact(text);
    if (!isJsonObject(value)) throw new Error(text);
    expect(decodeEntelix(value)).toMatchObject({
      event: {
        duration_ms: 9007199254740993n,
        first_output_ms: 9007199254740993n,
        usage: { input_tokens: 18446744073709551615n, output_tokens: null },
      },
    });
  });

  it("stands where a call's would among events of one time", () => {
    const ranks = MODEL_EVENT_TYPES.map((type) => {
      const decoded = decodeEntelix({ timestamp: TIME, ...GOOD[type] });
      return decoded.outcome === "event" ? decoded.rank : undefined;
    });
    expect(ranks).toEqual([EVENT_RANK.callOpens, EVENT_RANK.callCloses, EVENT_RANK.callCloses]);
  });

  it("of an unknown failure kind is taken as unclassified", () => {
    const envelope = { ...ENVELOPE, wire_class: "proxy", retry_after_secs: null };
    const line = { timestamp: TIME, ...GOOD.model_error, envelope, kind: { type: "brand_new" } };
    expect(decodeEntelix(line)).toMatchObject({
      event: {
        kind: { type: "unclassified" },
        envelope: { wire_code: "rate_limited", wire_class: "server" },
      },
      unknownValues: ["kind.type=brand_new", "envelope.wire_class=proxy"],
    });
  });
});

describe("a file that begins with a model event", () => {
  it.each(MODEL_EVENT_TYPES)("%s is told to be entelix's, and no other runtime's", async (type) => {
    const line = { timestamp: TIME, event_id: "e1", sequence: 0, ...GOOD[type] };
    const claims = RUNTIMES.map(({ dialect }) => dialect)
      .filter((dialect) => dialect.looksLike(line))
      .map((dialect) => dialect.name);
    expect(claims).toEqual(["entelix"]);
    const taken: unknown[] = [];
    const [first, ...others] = RUNTIMES;
    const report = await readEvents(lines(JSON.stringify(line)), {
      dialects: [first.dialect, ...others.map(({ dialect }) => dialect)],
      onEvent: ({ event }) => void taken.push(event),
      onIssue: (issue) => void taken.push(issue),
    });
    expect(report).toMatchObject({ events: 1, rejected: 0 });
    expect(taken).toMatchObject([GOOD[type]]);
  });
});

async function* lines(...texts: string[]): AsyncGenerator<string> {
  yield texts.map((text) => `${text}\n`).join("");
}
