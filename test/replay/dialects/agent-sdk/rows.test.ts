import { describe, expect, it } from "vitest";
import { encodeGraphEvent, isGraphEvent } from "../../../../src/entries/audit.ts";
import { parseExact } from "../../../../src/entries/events.ts";
import { AGENT_SDK_EVENT_TYPES } from "../../../../src/replay/dialects/agent-sdk/events.ts";
import { TERMINALS } from "../../../../src/replay/dialects/agent-sdk/terminals.ts";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { endOfClass } from "../../../../src/replay/dialects/graph/terminals.ts";
import { LINES, STREAMS } from "./golden-lines.ts";
import { call, confirm, lines, Reader, result, start, text, USAGE } from "./reader.ts";

const AT = "2026-06-05T10:00:01Z";

/** The entries of one event in a run that has begun. */
function rows(event: JsonObject, ...before: readonly JsonObject[]) {
  const reader = new Reader().read(...lines(start(), event, ...before));
  return reader.rows.map((row) => row.event);
}

describe("the audit entries of agent-sdk events", () => {
  it("are those of real runs, in their order", () => {
    const kinds = Object.fromEntries(
      STREAMS.map(({ name, lines: all }) => [
        name.split("#")[1],
        new Reader()
          .read(...all)
          .rows.map(({ event }) => event.kind)
          .join(" "),
      ]),
    );
    expect(kinds).toEqual({
      multi_turn_tools_retry_subagent_done:
        "thinking_delta assistant_message tool_call tool_result tool_call tool_result assistant_message tool_call sub_agent_invoked tool_result assistant_message",
      refusal: "user_message assistant_message",
      cancelled_mid_tool: "assistant_message tool_call cancelled",
      error_fatal_after_retries: "error",
      real_text: "assistant_message",
      real_two_tools_one_fails:
        "assistant_message tool_call tool_call tool_result tool_result assistant_message",
      real_retry_then_ok: "assistant_message",
      real_cancel_mid_tool: "tool_call tool_result cancelled",
      real_subagent: "tool_call sub_agent_invoked tool_result assistant_message",
      real_retries_exhausted: "error",
      real_unknown_tool: "assistant_message",
    });
  });

  it("are GraphEvents, each of them, and are written as such", () => {
    for (const { lines: all } of STREAMS) {
      for (const { event } of new Reader().read(...all).rows) {
        expect(isGraphEvent(event)).toBe(true);
        expect(isGraphEvent(parseExact(encodeGraphEvent(event)))).toBe(true);
      }
    }
  });

  it("have the time of their event to the nanosecond, as chrono writes it", () => {
    const line = { ...text(), timestamp: "2026-06-05T10:00:00.12000003Z" };
    expect(rows(line)).toMatchObject([{ timestamp: "2026-06-05T10:00:00.120000030Z" }]);
  });

  it("of messages: the user's in parts, the model's whole", () => {
    const source = { media_type: "image/png", data: "iVBO" };
    const content = [
      { type: "text", text: "hi" },
      { type: "image", source },
      { type: "document", source: { ...source, detail: "low" } },
      { type: "opaque_reasoning", data: 2n ** 60n },
      { type: "image", source: "none" },
    ];
    const [message] = rows({ type: "user_input", thread_id: "other", content });
    expect(message).toEqual({
      kind: "user_message",
      content: [
        { type: "text", text: "hi" },
        { type: "image", source: { kind: "base64", ...source } },
        { type: "document", source: { kind: "base64", detail: "low", ...source } },
        { type: "text", text: '{"type":"opaque_reasoning","data":1152921504606846976}' },
        { type: "text", text: '{"type":"image","source":"none"}' },
      ],
      timestamp: AT,
    });
    expect(isGraphEvent(message)).toBe(true);
    expect(rows(text())).toEqual([
      {
        kind: "assistant_message",
        content: [{ type: "text", text: "hi" }],
        usage: null,
        timestamp: AT,
      },
    ]);
  });

  it("of thinking: as it was streamed, else whole; a refusal once", () => {
    const thinking = { type: "thinking", message_id: "t1", text: "plan it" };
    const piece = { type: "thinking_delta", message_id: "t1", delta: "plan " };
    expect(rows(thinking)).toMatchObject([{ kind: "thinking_delta", text: "plan it" }]);
    expect(rows(piece, thinking)).toMatchObject([{ kind: "thinking_delta", text: "plan " }]);
    expect(rows(piece, { ...thinking, message_id: "t2" }).length).toBe(2);
    const refusal = { type: "refusal", message_id: "m1", text: "No." };
    expect(rows(refusal)).toMatchObject([{ content: [{ type: "text", text: "No." }] }]);
    expect(rows(text("m1"), refusal)).toMatchObject([{ content: [{ text: "hi" }] }]);
    expect(rows({ ...refusal, text: null })).toEqual([]);
  });

  it("of tools: what the model was given, and beside it what else there was", () => {
    expect(rows(call("a"), result("a"))).toEqual([
      { kind: "tool_call", id: "a", name: "bash", input: {}, timestamp: AT },
      {
        kind: "tool_result",
        tool_use_id: "a",
        name: "bash",
        content: "ok",
        is_error: false,
        timestamp: "2026-06-05T10:00:02Z",
      },
    ]);
    const more = { success: false, data: { id: 2n ** 60n }, documents: null, artifact: { id: 1 } };
    expect(rows(result("a", more))).toMatchObject([
      {
        content: "ok",
        is_error: true,
        result: { data: { id: 2n ** 60n }, artifact: { id: 1 } },
      },
    ]);
  });

  it("of pauses and ends", () => {
    expect(rows(confirm("a"))).toEqual([
      {
        kind: "interrupt",
        interruption_kind: { type: "approval_pending", tool_use_id: "a" },
        payload: { tool_use_id: "a", tool: "bash", input: { usd: 10 }, description: "Pay?" },
        timestamp: AT,
      },
    ]);
    const question = { type: "question_asked", task_id: "t", questions: [] };
    expect(rows(question)).toMatchObject([
      { interruption_kind: { type: "custom" }, payload: { task_id: "t", questions: [] } },
    ]);
    const cancelled = { type: "cancelled", turn: 1, usage: USAGE };
    expect(rows(cancelled)).toEqual([{ kind: "cancelled", reason: "cancelled", timestamp: AT }]);
    expect(rows({ ...cancelled, reason: { reason: "user_cancel" } })).toMatchObject([
      { reason: "user_cancel" },
    ]);
    const error = { type: "error", message: "boom", recoverable: true };
    const usedUp = { type: "auto_retry_end", attempt: 1, success: false };
    expect(rows(error)).toEqual([
      { kind: "error", class: "unclassified", message: "unclassified", timestamp: AT },
    ]);
    const quoted = { reason: { reason: "401: key sk-1234" } };
    expect(rows({ ...error, ...quoted })).toMatchObject([{ class: "unclassified" }]);
    expect(rows({ ...cancelled, ...quoted })).toMatchObject([{ reason: "cancelled" }]);
    expect(rows(usedUp, error)).toMatchObject([{ class: "provider" }]);
    expect(rows({ ...error, reason: { reason: "provider_error" } })).toMatchObject([
      { class: "provider" },
    ]);
    expect(rows({ ...error, reason: { reason: "internal_error" } })).toMatchObject([
      { class: "internal_error" },
    ]);
    const ended = { thread_id: "th", total_turns: 1, total_usage: USAGE, duration_ms: 1 };
    expect(rows({ type: "budget_exceeded", ...ended, limit: "cost_usd" })).toMatchObject([
      { kind: "error", class: "usage_limit_exceeded", message: "budget exceeded: cost_usd" },
    ]);
  });

  it("of errors, read as a log, say of each reason what the events do", () => {
    const read = Object.entries(TERMINALS).flatMap(([name, kind]) => {
      const [, reason] = name.split("error: ");
      if (reason === undefined) return [];
      const [row] = rows({
        type: "error",
        message: "boom",
        recoverable: false,
        reason: { reason },
      });
      return [[name, row !== undefined && "class" in row && endOfClass(String(row.class)), kind]];
    });
    expect(read.length).toBe(9);
    expect(read.filter(([, said, kind]) => said !== kind)).toEqual([]);
  });

  it("hold fields that are not known, which are counted; none of the envelope's", () => {
    const reader = new Reader().read(
      ...lines(start(), {
        ...text(),
        mood: 2n ** 60n,
        emitter_task_id: "t1",
        tenant_id: "default",
      }),
    );
    expect(reader.rows.map((row) => row.event)).toEqual([
      {
        kind: "assistant_message",
        content: [{ type: "text", text: "hi" }],
        usage: null,
        timestamp: AT,
        unknown_fields: { mood: 2n ** 60n },
      },
    ]);
    expect(reader.mapping.counts.eventsWithUnknownFields).toBe(1);
    const row = reader.rows[0]?.event;
    expect(row && parseExact(encodeGraphEvent(row))).toEqual(row);
  });

  it("cannot be forged by such fields", () => {
    const forged = { ...text(), kind: "tool_result", content: "x", usage: 1 };
    expect(rows(forged)).toMatchObject([
      { kind: "assistant_message", usage: null, unknown_fields: { kind: "tool_result" } },
    ]);
  });

  it("are none for these types, which are counted", () => {
    const counted = new Reader().read(...LINES).mapping.unprojected;
    expect([...counted.keys()].sort()).toEqual([
      "auto_retry_end",
      "auto_retry_start",
      "context_compacted",
      "done",
      "start",
      "subagent_progress",
      "text_delta",
      "thread_created",
      "tool_progress",
      "turn_complete",
    ]);
    for (const type of counted.keys()) expect(AGENT_SDK_EVENT_TYPES).toContain(type);
    expect(counted.get("start")).toBe(LINES.filter(({ type }) => type === "start").length);
  });
});
