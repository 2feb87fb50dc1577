import {
  asOne,
  count,
  flag,
  type Infer,
  isObject,
  isWholeNumber,
  type JsonValue,
  json,
  list,
  name,
  nullish,
  openWord,
  optional,
  type RecordForm,
  record,
  tagged,
  text,
  value,
} from "../../../events/door.ts";

// Every field that a version from 0.9 to 0.18 writes. `optional(json)`: a known field that is not read and not checked.

/** The durable task that emitted the event. Servers, from 0.13 on. */
const emitted = { emitter_task_id: nullish(text) };

const toolScoped = {
  /** The model's ID of the call. */
  id: text,
  name: text,
  display_name: text,
};

/**
 * Permission of a tool: read only (`Observe`), or act after a confirmation (`Confirm`). Newer agents may add words.
 * Upstream: `ToolTier`.
 */
const tier = openWord(["Observe", "Confirm"]);

/** Upstream: `TokenUsage`. It reads absent cached counts as 0, and rejects `null`. */
const tokenUsage = record(
  {
    input_tokens: count,
    output_tokens: count,
    /** Included in `input_tokens`, as is the next. */
    cached_input_tokens: optional(count),
    cache_creation_input_tokens: optional(count),
  },
  "an object with input_tokens and output_tokens",
);

/** Result of a tool call. Upstream: `ToolResult`. */
const toolResult = record(
  {
    success: flag,
    /** Text for user and model. The error text of a failed call. */
    output: text,
    data: optional(json),
    documents: nullish(list(json)),
    /** Run time of the tool itself, in ms. Absent if it never ran. */
    duration_ms: nullish(count),
  },
  "an object with success and output",
);

/** One block of a user's input. Newer agents add types. Upstream: `ContentBlock`. */
export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: JsonValue;
}

const contentBlock = asOne(
  value(
    "a content block",
    (given): given is ContentBlock => isObject(given) && typeof given.type === "string",
  ),
  'a block type such as "text"',
  ".type",
);

/** Why a run ended, from 0.14 on. Upstream: `TerminalReason`. */
const terminalReason = asOne(
  record({
    /** `unknown` is upstream's own word for an unknown reason. */
    reason: openWord([
      "completed",
      "user_cancel",
      "budget",
      "watchdog_stall",
      "provider_error",
      "parent_cancelled",
      "confirmation_rejected",
      "internal_error",
      "unknown",
    ]),
    /** Class of a `provider_error`. */
    kind: optional(json),
  }),
  'an object such as {"reason":"budget"}',
);

const number = value(
  "a number",
  (given): given is number | bigint => typeof given === "bigint" || Number.isFinite(given),
);

const ended = {
  thread_id: name,
  total_turns: count,
  total_usage: tokenUsage,
  /** `{secs, nanos}` up to 0.9. */
  duration: optional(json),
  /** Milliseconds, from 0.10 on. */
  duration_ms: optional(json),
  estimated_cost_usd: nullish(number),
  ...emitted,
};

/** The length of a run is an object or milliseconds, under either name. */
function withLength<T>(form: RecordForm<T>): RecordForm<T> {
  return {
    ...form,
    fits: (given): given is T => form.fits(given) && isObject(given) && hasLength(given),
    explain(given, path, issues) {
      form.explain(given, path, issues);
      if (!isObject(given) || hasLength(given)) return;
      const { duration, duration_ms } = given;
      const field = duration_ms == null && duration != null ? "duration" : "duration_ms";
      length.explain(undefined, path === "" ? field : `${path}.${field}`, issues);
    },
  };
}

const length = value(
  "milliseconds from 0, or {secs, nanos}",
  (given): given is JsonValue =>
    isWholeNumber(given) ||
    (isObject(given) && isWholeNumber(given.secs) && isWholeNumber(given.nanos)),
);

function hasLength({ duration, duration_ms }: Readonly<Record<string, unknown>>): boolean {
  return length.fits(duration_ms ?? duration);
}

const wholeBlock = record({ message_id: text, text, ...emitted });
const delta = record({ message_id: text, delta: text, ...emitted });

const accountReason = openWord([
  "rate_limited",
  "authentication_failed",
  "refresh_failed",
  "unknown",
]);

/**
 * Every event of agent-sdk agents, tagged by `type`, with its fields named as on the wire. The decoded line is the
 * event, including unknown fields.
 *
 * Upstream: `AgentEvent` of agent-sdk-foundation, 0.9 to 0.18.
 */
export const AGENT_SDK_EVENTS = tagged("type", {
  /** A turn begins: the model is called next. Turns count from 1. A server's worker may count on. */
  start: record({ thread_id: name, turn: count, ...emitted }),
  /** A prompt was admitted. Only servers send it, before `start`. */
  user_input: record({
    thread_id: name,
    content: list(contentBlock, "a list of content blocks"),
    ...emitted,
  }),
  thinking: wholeBlock,
  text: wholeBlock,
  thinking_delta: delta,
  text_delta: delta,
  tool_call_start: record({ ...toolScoped, input: json, tier }),
  tool_call_end: record({ ...toolScoped, result: toolResult }),
  tool_progress: record({ ...toolScoped, stage: text, message: text, data: optional(json) }),
  /** The run waits for a human. No event follows until the answer. */
  tool_requires_confirmation: record({ ...toolScoped, input: json, description: text }),
  /** A model call and the tools that it asked for are over. */
  turn_complete: record({ turn: count, usage: tokenUsage, ...emitted }),
  /** Terminal: the run completed. */
  done: withLength(record(ended)),
  /** Terminal, from 0.12 on: the budget is used up. */
  budget_exceeded: withLength(record({ ...ended, limit: openWord(["total_tokens", "cost_usd"]) })),
  /** Terminal, unless it is recoverable and more follows. Agents before 0.14 give no reason. */
  error: record({
    message: text,
    recoverable: flag,
    reason: nullish(terminalReason),
    ...emitted,
  }),
  auto_retry_start: record({
    attempt: count,
    /** 2^32 - 1: upstream waits for the connection without limit. */
    max_attempts: count,
    delay_ms: count,
    error_message: text,
  }),
  auto_retry_end: record({ attempt: count, success: flag, final_error: nullish(text) }),
  /** Terminal: the model refused. */
  refusal: record({ message_id: text, text: nullish(text) }),
  /** Terminal. `turn` is the last turn. */
  cancelled: record({
    turn: count,
    usage: tokenUsage,
    reason: nullish(terminalReason),
    ...emitted,
  }),
  /** Number of messages and estimated tokens, before and after. */
  context_compacted: record({
    original_count: count,
    new_count: count,
    original_tokens: count,
    new_tokens: count,
  }),
  subagent_progress: record({
    /** Upstream documents the ID of the spawning call, but its code writes `<name>_<hex nanoseconds>`. */
    subagent_id: text,
    subagent_name: text,
    nickname: nullish(text),
    child_thread_id: nullish(text),
    child_root_task_id: nullish(text),
    subagent_task_id: nullish(text),
    max_turns: nullish(count),
    current_turn: nullish(count),
    model: nullish(text),
    tool_name: text,
    tool_context: text,
    completed: flag,
    success: flag,
    tool_count: count,
    total_tokens: count,
    input_tokens: optional(json),
    output_tokens: optional(json),
    cache_read_input_tokens: optional(json),
    cache_creation_input_tokens: optional(json),
  }),
  /** From 0.14 on. */
  thread_created: record({
    thread_id: name,
    /** The thread from which it was forked. */
    source_thread_id: nullish(text),
    fork_after_committed_turns: optional(json),
  }),
  /** The run waits for a human's answer. From 0.14 on. */
  question_asked: record({ task_id: text, questions: list(json, "a list of questions") }),
  /** The agent switched to another account. From 0.17 on. */
  account_rotation: record({
    provider: text,
    from_account: text,
    to_account: text,
    reason: accountReason,
    retry_after_seconds: nullish(count),
  }),
  /** No account is available for now. From 0.17 on. */
  account_pool_exhausted: record({
    provider: text,
    account_count: count,
    reason: accountReason,
    retry_after_seconds: nullish(count),
  }),
});

export type AgentSdkEvent = Infer<typeof AGENT_SDK_EVENTS>;

/** The tag of an {@link AgentSdkEvent}. */
export type AgentSdkEventType = AgentSdkEvent["type"];

/** The event of one type. */
type EventOf<T extends AgentSdkEventType> = Extract<AgentSdkEvent, { readonly type: T }>;

export type AccountPoolExhausted = EventOf<"account_pool_exhausted">;
export type AccountRotation = EventOf<"account_rotation">;
export type AutoRetryEnd = EventOf<"auto_retry_end">;
export type AutoRetryStart = EventOf<"auto_retry_start">;
export type BudgetExceeded = EventOf<"budget_exceeded">;
export type Cancelled = EventOf<"cancelled">;
export type ContextCompacted = EventOf<"context_compacted">;
export type Done = EventOf<"done">;
export type ErrorEvent = EventOf<"error">;
export type QuestionAsked = EventOf<"question_asked">;
export type Refusal = EventOf<"refusal">;
export type SubagentProgress = EventOf<"subagent_progress">;
export type ToolCallEnd = EventOf<"tool_call_end">;
export type ToolCallStart = EventOf<"tool_call_start">;
export type ToolRequiresConfirmation = EventOf<"tool_requires_confirmation">;
export type TurnComplete = EventOf<"turn_complete">;

/** A whole number from 0. `bigint` beyond 2^53. */
export type Count = Infer<typeof count>;
export type TokenUsage = Infer<typeof tokenUsage>;
export type ToolResult = Infer<typeof toolResult>;
export type ToolTier = Infer<typeof tier>;

/** Every event type, 0.9 to 0.18. */
export const AGENT_SDK_EVENT_TYPES: readonly string[] = [...AGENT_SDK_EVENTS.variants.keys()];

/** Unknown fields of an event or value. */
export type Extras = Readonly<Record<string, unknown>>;

/** Envelope fields, which an event from a flat line also has. */
export const ENVELOPE_FIELDS: ReadonlySet<string> = new Set([
  "event_id",
  "sequence",
  "timestamp",
  "tenant_id",
  "session_id",
  "root_run_id",
  "resumed_from_run_id",
  "parent_tool_use_id",
  "traceparent",
  "tracestate",
]);

const KNOWN_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...AGENT_SDK_EVENTS.variants].map(([type, { names }]) => [
    type,
    new Set([...ENVELOPE_FIELDS, "type", "thread_id", "emitter_task_id", ...names]),
  ]),
);

/** The fields of an event that no version up to 0.18 writes. `undefined` if there are none. */
export function unknownFields(event: AgentSdkEvent): Extras | undefined {
  const known = KNOWN_FIELDS.get(event.type);
  if (known === undefined) return undefined;
  // Usually there are none, and nothing is copied.
  for (const field in event) {
    if (!known.has(field) && Object.hasOwn(event, field)) return without(event, known);
  }
  return undefined;
}

/** A copy of an object without some fields. */
function without(object: object, fields: ReadonlySet<string>): Extras {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.has(field)));
}
