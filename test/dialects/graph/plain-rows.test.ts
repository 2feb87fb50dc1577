import { describe, expect, it } from "vitest";
import { isGraphEvent } from "../../../src/audit/wire/decode-graph-event.ts";
import { isJsonObject, type JsonObject } from "../../../src/dialects/dialect.ts";
import { isPlainRow } from "../../../src/dialects/graph/plain-rows.ts";
import type { JsonValue } from "../../../src/events/exact-json.ts";
import { GRAPH_EVENT_KINDS } from "./kinds.ts";

const timestamp = "2026-05-04T09:00:00.5Z";
const use = { type: "tool_use", id: "tu-1", name: "fetch", input: { q: 1 } };
const result = { tool_use_id: "tu-1", name: "fetch", content: null, is_error: false };
const usage = {
  input_tokens: 10,
  output_tokens: 5,
  cached_input_tokens: 0,
  cache_creation_input_tokens: 0,
  reasoning_tokens: 0,
  safety_ratings: [],
};

const PLAIN: readonly JsonObject[] = [
  { kind: "user_message", content: [{ type: "text", text: "" }], timestamp },
  { kind: "user_message", content: [{ type: "tool_result", ...result }], timestamp },
  { kind: "assistant_message", content: [use], usage, timestamp },
  { kind: "assistant_message", content: [], usage: null, timestamp },
  { kind: "tool_call", id: "", name: "fetch", input: null, timestamp },
  { kind: "tool_result", ...result, timestamp },
  { kind: "sub_agent_invoked", agent_id: "a", sub_thread_id: "", timestamp },
  { kind: "thinking_delta", text: "…", timestamp },
];

/** What may stand in any place of a row; the table decides whether it may stand in this one. */
const OTHERS: readonly (JsonValue | undefined)[] = [
  undefined,
  null,
  "",
  "text",
  "five_minutes",
  true,
  0,
  -1,
  1.5,
  2 ** 32 - 1,
  2 ** 32,
  2n ** 64n,
  {},
  [],
  [{}],
  ["text"],
  [{ type: "text" }],
  [{ provider: "p", payload: 1 }],
  { ttl: "five_minutes" },
];

/** The value with each of its places, at any depth, taken by each of the others; and more fields. */
function* bent(value: JsonValue): Generator<JsonValue | undefined> {
  yield* OTHERS;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const other of bent(item)) yield value.with(index, other ?? null);
    }
  } else if (isJsonObject(value)) {
    const names = [...Object.keys(value), "provider_echoes", "cache_control", "more"];
    for (const name of names) {
      for (const other of bent(value[name] ?? null)) {
        const { [name]: _, ...rest } = value;
        yield other === undefined ? rest : { ...value, [name]: other };
      }
    }
  }
}

describe("isPlainRow", () => {
  it("knows the rows that come most often", () => {
    expect(PLAIN.map(isPlainRow)).toEqual(PLAIN.map(() => true));
    expect(PLAIN.map(isGraphEvent)).toEqual(PLAIN.map(() => true));
  });

  it("takes nothing that the table of the wire refuses", () => {
    const rows = [...PLAIN, ...GRAPH_EVENT_KINDS.map(([, row]) => row)];
    const all = rows.flatMap((row) => [...bent(row)]).filter(isJsonObject);
    const refused = all.filter((row) => !isGraphEvent(row));
    expect(refused.length).toBeGreaterThan(1_000);
    expect(all.length - refused.length).toBeGreaterThan(500);
    expect(refused.filter(isPlainRow)).toEqual([]);
  });
});
