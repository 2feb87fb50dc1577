import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  AnyGraphEvent,
  GraphEvent,
  UnknownGraphEvent,
} from "../../src/audit/wire/graph-event.ts";
import {
  decodeGraphEvent,
  encodeGraphEvent,
  isGraphEvent,
} from "../../src/audit/wire/graph-event-codec.ts";
import { parseExact } from "../../src/entries/events.ts";
import { goldenLines, lastField } from "./support/golden.ts";

const timestamp = "2026-04-29T12:00:00Z";
const later = "2026-05-13T08:09:10.111213Z";

/** The golden events written by hand, their fields in the order of the alphabet or none at all. */
const typed: Readonly<Record<string, GraphEvent>> = {
  user_message_text: {
    timestamp,
    content: [{ text: "hello", type: "text" }],
    kind: "user_message",
  },
  user_message_multi: {
    kind: "user_message",
    timestamp,
    content: [
      { cache_control: { ttl: "one_hour" }, text: "look", type: "text", provider_echoes: [] },
      { source: { url: "https://example.test/a.png", kind: "url" }, type: "image" },
      {
        type: "image",
        source: { data: "iVBORw0KGgo=", kind: "base64", media_type: "image/png" },
        cache_control: null,
      },
      {
        name: "spec.pdf",
        type: "document",
        source: { media_type: null, id: "file_1", kind: "file_id" },
      },
      { content: { doubled: 42 }, name: "double", tool_use_id: "tu-1", type: "tool_result" },
      { is_error: true, content: "boom", name: "double", tool_use_id: "tu-2", type: "tool_result" },
    ],
  },
  assistant_message_usage: {
    kind: "assistant_message",
    usage: { output_tokens: 50, input_tokens: 100 },
    content: [
      { type: "text", text: "calling" },
      { type: "tool_use", input: { n: 21 }, name: "double", id: "tu-1" },
    ],
    timestamp,
  },
  assistant_message_no_usage: { kind: "assistant_message", content: [], timestamp },
  context_compacted: {
    retained_chars: 200,
    dropped_chars: 1000n,
    kind: "context_compacted",
    timestamp,
  },
  tool_call: { input: { n: 21 }, name: "double", id: "tu-1", kind: "tool_call", timestamp },
  tool_result_json: {
    kind: "tool_result",
    is_error: false,
    content: { doubled: 42 },
    name: "double",
    tool_use_id: "tu-1",
    timestamp,
  },
  tool_result_text_error: {
    kind: "tool_result",
    is_error: true,
    content: "upstream model error",
    name: "double",
    tool_use_id: "tu-1",
    timestamp,
  },
  branch_created: { kind: "branch_created", parent_event: 3, branch_id: "thread-1-b", timestamp },
  checkpoint_marker: {
    kind: "checkpoint_marker",
    thread_id: "thread-1",
    checkpoint_id: "cp-1",
    timestamp,
  },
  thinking_delta: { kind: "thinking_delta", provider_echoes: [], text: "step ", timestamp },
  cancelled: { kind: "cancelled", reason: "deadline", timestamp },
  sub_agent_invoked: {
    kind: "sub_agent_invoked",
    sub_thread_id: "sub-1",
    agent_id: "research_team",
    timestamp,
  },
  agent_handoff_first: { kind: "agent_handoff", to: "research", timestamp },
  resumed: { kind: "resumed", from_checkpoint: "cp-1", timestamp },
  memory_recall: {
    kind: "memory_recall",
    hits: 0,
    namespace_key: "acme/u1",
    tier: "semantic",
    timestamp,
  },
  error: {
    kind: "error",
    message: "provider returned 503: vendor down",
    class: "provider",
    timestamp,
  },
  warning_lossy: {
    kind: "warning",
    warning: { detail: "unsupported", field: "temperature", kind: "lossy_encode" },
    timestamp,
  },
  warning_unknown_stop: {
    kind: "warning",
    warning: { raw: "pause_turn", kind: "unknown_stop_reason" },
    timestamp,
  },
  rate_limit: {
    kind: "rate_limit",
    snapshot: {
      requests_reset_at: "2026-04-29T12:01:00Z",
      tokens_remaining: 12_000,
      requests_remaining: 4,
    },
    timestamp,
  },
  interrupt_custom: {
    kind: "interrupt",
    payload: { q: "ok?" },
    interruption_kind: { type: "custom" },
    timestamp,
  },
  interrupt_approval: {
    kind: "interrupt",
    payload: null,
    interruption_kind: { tool_use_id: "tu-1", type: "approval_pending" },
    timestamp,
  },
  usage_limit_exceeded_requests: {
    kind: "usage_limit_exceeded",
    breach: { observed: 5, limit: 5, axis: "requests" },
    timestamp,
  },
  usage_limit_exceeded_cost_usd: {
    kind: "usage_limit_exceeded",
    breach: { observed: "0.5125", limit: "0.50", axis: "cost_usd" },
    timestamp,
  },
  tool_error_terminal_auth: terminal("auth", timestamp),
  tool_error_terminal_quota: terminal("quota", timestamp),
  tool_error_terminal_permanent: terminal("permanent", timestamp),
  tool_error_terminal_transient: terminal("transient", timestamp),
  warning_ext: {
    kind: "warning",
    warning: { vendor: "gemini", kind: "provider_extension_ignored" },
    timestamp: later,
  },
  usage_limit_exceeded_tool_calls: {
    kind: "usage_limit_exceeded",
    breach: { axis: "tool_calls", limit: 3, observed: 3 },
    timestamp: later,
  },
  usage_limit_exceeded_input_tokens: {
    kind: "usage_limit_exceeded",
    breach: { axis: "input_tokens", limit: 1, observed: 2 },
    timestamp: later,
  },
  tool_error_terminal_validation: terminal("validation", later),
};

function terminal(
  error_kind: "auth" | "quota" | "permanent" | "transient" | "validation",
  at: string,
): GraphEvent {
  return { tool_name: "bigquery", error_kind, kind: "tool_error_terminal", timestamp: at };
}

const golden = goldenLines("entelix_graph_events.jsonl");

describe("encodeGraphEvent", () => {
  it("writes upstream's bytes from values written by hand, for every golden event", () => {
    expect(Object.keys(typed).sort()).toEqual(golden.map(({ id }) => id).sort());
    for (const line of golden) {
      const event = typed[line.id];
      if (event === undefined) throw new Error(`${line.id}: not written by hand`);
      expect(encodeGraphEvent(event), line.id).toBe(lastField(line, "graph_event"));
    }
  });

  it("writes what upstream's types say where no golden line shows it", () => {
    const echo = { payload: { sig: [1] }, provider: "anthropic" };
    const written: readonly [GraphEvent, string][] = [
      [
        { kind: "thinking_delta", text: "", provider_echoes: [echo], timestamp },
        `{"kind":"thinking_delta","text":"","provider_echoes":[{"provider":"anthropic","payload":{"sig":[1]}}],"timestamp":"${timestamp}"}`,
      ],
      [
        {
          kind: "user_message",
          timestamp,
          content: [
            { type: "redacted_thinking", provider_echoes: [echo] },
            {
              type: "citation",
              provider_echoes: [],
              snippet: "s",
              source: { kind: "document", document_index: 2 },
            },
            { type: "audio_output", source: { kind: "file_id", id: "a" } },
            {
              type: "citation",
              snippet: "t",
              cache_control: { ttl: "five_minutes" },
              source: { kind: "url", url: "u", title: "T" },
            },
          ],
        },
        `{"kind":"user_message","content":[{"type":"redacted_thinking","provider_echoes":[{"provider":"anthropic","payload":{"sig":[1]}}]},` +
          `{"type":"citation","snippet":"s","source":{"kind":"document","document_index":2,"title":null}},` +
          `{"type":"audio_output","source":{"kind":"file_id","id":"a","media_type":null},"transcript":null},` +
          `{"type":"citation","snippet":"t","source":{"kind":"url","url":"u","title":"T"},"cache_control":{"ttl":"five_minutes"}}],"timestamp":"${timestamp}"}`,
      ],
      [
        {
          kind: "assistant_message",
          timestamp,
          content: [],
          usage: {
            input_tokens: 1,
            output_tokens: 2,
            safety_ratings: [
              { level: "low", category: { raw: "spam", kind: "other" } },
              { level: "high", category: { kind: "harassment" } },
            ],
          },
        },
        `{"kind":"assistant_message","content":[],"usage":{"input_tokens":1,"output_tokens":2,"cached_input_tokens":0,"cache_creation_input_tokens":0,"reasoning_tokens":0,` +
          `"safety_ratings":[{"category":{"kind":"other","raw":"spam"},"level":"low"},{"category":{"kind":"harassment"},"level":"high"}]},"timestamp":"${timestamp}"}`,
      ],
      [
        {
          kind: "interrupt",
          timestamp,
          payload: null,
          interruption_kind: { type: "scheduled_pause", node: "plan", phase: "before" },
        },
        `{"kind":"interrupt","interruption_kind":{"type":"scheduled_pause","phase":"before","node":"plan"},"payload":null,"timestamp":"${timestamp}"}`,
      ],
    ];
    for (const [event, text] of written) {
      expect(encodeGraphEvent(event)).toBe(text);
      expect(decodeGraphEvent(parseExact(text)).issues).toBeUndefined();
    }
  });

  it("keeps integers beyond 2^53 to the last digit", () => {
    const text = encodeGraphEvent({
      kind: "context_compacted",
      dropped_chars: 18_446_744_073_709_551_615n,
      retained_chars: 9_007_199_254_740_993n,
      timestamp,
    });
    expect(text).toBe(
      `{"kind":"context_compacted","dropped_chars":18446744073709551615,"retained_chars":9007199254740993,"timestamp":"${timestamp}"}`,
    );
    const decoded = decodeGraphEvent(parseExact(text));
    expect(decoded.event).toEqual({
      kind: "context_compacted",
      dropped_chars: 18_446_744_073_709_551_615n,
      retained_chars: 9_007_199_254_740_993n,
      timestamp,
    });
  });

  it("writes a field that is undefined as one that is not there", () => {
    const content = [{ type: "document" as const, source: { kind: "url" as const, url: "u" } }];
    const absent: GraphEvent = { kind: "assistant_message", content, timestamp };
    const given: AnyGraphEvent = {
      timestamp,
      kind: "assistant_message",
      content: [{ ...content[0], name: undefined, cache_control: undefined }],
      usage: undefined,
      by: undefined,
    };
    const text = encodeGraphEvent(absent);
    expect(text).toMatch(/"name":null\}\],"usage":null,"timestamp":"[^"]+"\}$/);
    expect(encodeGraphEvent(given)).toBe(text);
  });

  it("drops nothing that it does not know", () => {
    const lines = [
      `{"kind":"tool_call","id":"a","retries":2,"name":"b","input":null,"timestamp":"${timestamp}"}`,
      `{"kind":"user_message","content":[{"type":"hologram","depth":3}],"timestamp":"${timestamp}","by":"x"}`,
      `{"when":1,"kind":"teleported","to":{"x":9007199254740993}}`,
    ];
    for (const line of lines) {
      const value = parseExact(line);
      const event = decodeGraphEvent({ ...Object(value) }).event ?? Object(value);
      expect(encodeGraphEvent(event)).toBe(line);
    }
  });

  it("says so in place of a value that is no JSON", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const text = encodeGraphEvent({
      kind: "tool_call",
      id: "a",
      name: "b",
      input: cyclic,
      timestamp,
    });
    expect(text).toMatch(/"input":\{"self":"\[unserializable: [^"]+\]"\},"timestamp"/);
    expect(JSON.parse(text).name).toBe("b");
  });

  it("keeps an event of an unknown kind an event, whatever is in it", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const text = encodeGraphEvent({ kind: "teleported", to: "b", with: cyclic, timestamp });
    expect(JSON.parse(text)).toEqual({
      kind: "teleported",
      to: "b",
      with: { self: expect.stringMatching(/^\[unserializable: /) },
      timestamp,
    });
    // As of a class whose `kind` is a getter.
    const inherited: UnknownGraphEvent = Object.create(
      { kind: "teleported" },
      { to: { value: 9_007_199_254_740_993n, enumerable: true } },
    );
    expect(encodeGraphEvent(inherited)).toBe('{"to":9007199254740993,"kind":"teleported"}');
  });
});

describe("decodeGraphEvent", () => {
  it("takes every golden event and gives back its bytes", () => {
    for (const line of golden) {
      const value = line.value.graph_event;
      const decoded = decodeGraphEvent(value);
      expect(decoded.issues, line.id).toBeUndefined();
      if (decoded.issues) continue;
      expect(decoded.known).toBe(true);
      expect(decoded.event).toBe(value);
      expect(encodeGraphEvent(decoded.event), line.id).toBe(lastField(line, "graph_event"));
    }
  });

  it("names the field and what was expected there", () => {
    const wrong: readonly [unknown, string, string][] = [
      [null, "", "a JSON object"],
      [[], "", "a JSON object"],
      [{ timestamp }, "kind", "the name of the event"],
      [{ kind: "tool_call", id: 1, name: "n", input: 0, timestamp }, "id", "a string"],
      [{ kind: "tool_call", id: "", name: "n", timestamp }, "input", "a JSON value"],
      [{ kind: "cancelled", reason: "r", timestamp: "noon" }, "timestamp", "an RFC 3339 time"],
      [
        { kind: "user_message", content: [{ type: "text" }], timestamp },
        "content[0].text",
        "a string",
      ],
      [
        { kind: "user_message", content: [{ type: "image", source: { kind: "x" } }], timestamp },
        "content[0].source.kind",
        "one of url, base64, file_id",
      ],
      [
        { kind: "memory_recall", tier: "", namespace_key: "", hits: -1, timestamp },
        "hits",
        "a whole number from 0 to 18446744073709551615",
      ],
      [
        { kind: "tool_error_terminal", error_kind: "oops", tool_name: "t", timestamp },
        "error_kind",
        "one of transient, rate_limit, quota, auth, permanent, validation, internal",
      ],
      [
        {
          kind: "usage_limit_exceeded",
          breach: { axis: "cost_usd", limit: 1, observed: "1" },
          timestamp,
        },
        "breach.limit",
        "a decimal number as a string",
      ],
      [
        { kind: "rate_limit", snapshot: { raw: { a: 1 } }, timestamp },
        "snapshot.raw",
        "an object of strings",
      ],
      [
        { kind: "tool_result", tool_use_id: "", name: "", content: 1, timestamp },
        "is_error",
        "true or false",
      ],
    ];
    for (const [value, field, expected] of wrong) {
      expect(decodeGraphEvent(value).issues).toEqual([{ field, expected }]);
      expect(isGraphEvent(value)).toBe(false);
    }
  });

  it("lists a bounded number of issues for a hostile line", () => {
    const content = Array.from({ length: 1000 }, () => ({ type: "text" }));
    const { issues } = decodeGraphEvent({ kind: "user_message", content, timestamp });
    expect(issues).toHaveLength(20);
  });

  it("lets an unknown kind through untouched", () => {
    const value = { kind: "teleported", anything: [1] };
    expect(decodeGraphEvent(value)).toEqual({ event: value, known: false });
    expect(isGraphEvent(value)).toBe(false);
  });

  it("never throws, and what it takes is written and read back equal", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string({ unit: "binary" }),
        fc.jsonValue(),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        (id, name, input, big) => {
          const event = { kind: "tool_call", id, name, input: [input, big], timestamp } as const;
          const value = parseExact(encodeGraphEvent(event));
          const decoded = decodeGraphEvent(value);
          expect(decoded.issues).toBeUndefined();
          if (decoded.event === undefined) return;
          expect(encodeGraphEvent(decoded.event)).toBe(encodeGraphEvent(event));
        },
      ),
    );
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(typeof decodeGraphEvent(value)).toBe("object");
      }),
    );
  });

  it("takes an event with one value changed, or names what is wrong with it", () => {
    const other = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.bigInt());
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(typed)), fc.nat(), other, (event, n, value) => {
        const names = Object.keys(event).filter((name) => name !== "kind");
        const name = names[n % names.length] ?? "timestamp";
        const changed: Record<string, unknown> = { ...event, [name]: value };
        const { issues } = decodeGraphEvent(changed);
        expect(isGraphEvent(changed)).toBe(issues === undefined);
        if (issues !== undefined) expect(issues[0]?.field).toMatch(new RegExp(`^${name}`));
      }),
    );
  });
});
