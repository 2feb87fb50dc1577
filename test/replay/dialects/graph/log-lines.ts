/** Lines of logs, for tests: each event at a second of its own. */

const START = Date.parse("2026-05-04T09:00:00Z");

export function time(second: number): string {
  return new Date(START + second * 1000).toISOString().replace(".000Z", "Z");
}

type Fields = Readonly<Record<string, unknown>>;

/** A line nested in its envelope. */
export function line(second: number, event: Fields, envelope: Fields = {}): string {
  const timed = { ...event, timestamp: time(second) };
  return JSON.stringify({ thread_id: "th", ...envelope, event: timed });
}

export const user = (text = "hi"): Fields => ({
  kind: "user_message",
  content: [{ type: "text", text }],
});

/** @param calls ids of the calls that the reply asks for, of the tool `fetch`. */
export const reply = (...calls: readonly string[]): Fields => ({
  kind: "assistant_message",
  content: [
    { type: "text", text: "so" },
    ...calls.map((id) => ({ type: "tool_use", id, name: "fetch", input: {} })),
  ],
  usage: { input_tokens: 10, output_tokens: 5 },
});

export const call = (id: string, name = "fetch"): Fields => ({
  kind: "tool_call",
  id,
  name,
  input: { q: 1 },
});

export const result = (id: string, more: Fields = {}): Fields => ({
  kind: "tool_result",
  tool_use_id: id,
  name: "fetch",
  content: { found: 1 },
  is_error: false,
  ...more,
});

export const failedResult = (id: string, more: Fields = {}): Fields =>
  result(id, { content: "upstream model error", is_error: true, ...more });

export const thinking = (text = "…"): Fields => ({ kind: "thinking_delta", text });
export const cancelled: Fields = { kind: "cancelled", reason: "stop" };
export const interrupt: Fields = {
  kind: "interrupt",
  interruption_kind: { type: "custom" },
  payload: { q: "ok?" },
};
export const resumed = (from = ""): Fields => ({ kind: "resumed", from_checkpoint: from });
export const checkpoint = (id: string): Fields => ({
  kind: "checkpoint_marker",
  checkpoint_id: id,
  thread_id: "th",
});
export const subAgent = (agent: string, thread = "sub"): Fields => ({
  kind: "sub_agent_invoked",
  agent_id: agent,
  sub_thread_id: thread,
});
export const errorRow = (name: string): Fields => ({ kind: "error", class: name, message: "boom" });
export const terminal: Fields = {
  kind: "tool_error_terminal",
  error_kind: "auth",
  tool_name: "fetch",
};
