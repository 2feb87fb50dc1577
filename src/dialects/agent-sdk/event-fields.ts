import type { AgentSdkEvent, AgentSdkEventType } from "./events.ts";

type FieldsOf = { readonly [T in AgentSdkEventType]: readonly string[] };

const ENVELOPE = [
  "event_id",
  "sequence",
  "timestamp",
  "type",
  "emitter_task_id",
  "tenant_id",
  "thread_id",
  "session_id",
  "root_run_id",
  "resumed_from_run_id",
  "parent_tool_use_id",
  "traceparent",
  "tracestate",
];
const TOOL = ["id", "name", "display_name"];
const ENDED = ["total_turns", "total_usage", "duration", "duration_ms", "estimated_cost_usd"];
const CHILD_TOKENS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
];

/** Every field that some version up to 0.18 writes. */
const FIELDS: FieldsOf = {
  start: ["turn"],
  user_input: ["content"],
  thinking: ["message_id", "text"],
  thinking_delta: ["message_id", "delta"],
  text_delta: ["message_id", "delta"],
  text: ["message_id", "text"],
  tool_call_start: [...TOOL, "input", "tier"],
  tool_call_end: [...TOOL, "result"],
  tool_progress: [...TOOL, "stage", "message", "data"],
  tool_requires_confirmation: [...TOOL, "input", "description"],
  turn_complete: ["turn", "usage"],
  done: ENDED,
  budget_exceeded: [...ENDED, "limit"],
  error: ["message", "recoverable", "reason"],
  auto_retry_start: ["attempt", "max_attempts", "delay_ms", "error_message"],
  auto_retry_end: ["attempt", "success", "final_error"],
  refusal: ["message_id", "text"],
  cancelled: ["turn", "usage", "reason"],
  context_compacted: ["original_count", "new_count", "original_tokens", "new_tokens"],
  subagent_progress: [
    "subagent_id",
    "subagent_name",
    "nickname",
    "child_thread_id",
    "child_root_task_id",
    "subagent_task_id",
    "max_turns",
    "current_turn",
    "model",
    "tool_name",
    "tool_context",
    "completed",
    "success",
    "tool_count",
    "total_tokens",
    ...CHILD_TOKENS,
  ],
  thread_created: ["source_thread_id", "fork_after_committed_turns"],
  question_asked: ["task_id", "questions"],
  account_rotation: ["provider", "from_account", "to_account", "reason", "retry_after_seconds"],
  account_pool_exhausted: ["provider", "account_count", "reason", "retry_after_seconds"],
};

const KNOWN: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(FIELDS).map(([type, fields]) => [type, new Set([...ENVELOPE, ...fields])]),
);

/** What an event or a value holds beside what is known of it. */
export type Extras = Readonly<Record<string, unknown>>;

/** What the event holds that no version up to 0.18 writes; `undefined` when that is nothing. */
export function unknownFields(event: AgentSdkEvent): Extras | undefined {
  const known = KNOWN.get(event.type);
  if (known === undefined) return undefined;
  // Nearly always there is nothing, and then nothing is copied.
  for (const field in event) if (!known.has(field)) return without(event, known);
  return undefined;
}

/** A copy of an object without some of its fields. */
function without(object: object, fields: ReadonlySet<string>): Extras {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.has(field)));
}
