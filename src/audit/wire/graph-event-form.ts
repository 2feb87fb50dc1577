import {
  breachForm,
  type Form,
  flag,
  isObject,
  isWholeNumber,
  jsonOf,
  list,
  nullish,
  type Optional,
  oneOf,
  optional,
  readTimestamp,
  record,
  TOOL_ERROR_KINDS,
  tagged,
  textWhere,
  u64,
  value,
} from "../../events/door.ts";
import type { GraphEvent, GraphEventKind } from "./graph-event.ts";
import { OWN_VARIANTS } from "./own-event-form.ts";

// The fields have the order of entelix's declarations, which is the order on the wire. The types in `graph-event.ts`
// are public and documented, so they are not inferred from the forms. The compiler compares both.

const text = textWhere("a string");
const json = jsonOf("a JSON value");
const time = textWhere("an RFC 3339 time", (given) => readTimestamp(given) !== undefined);
const u32 = value(
  `a whole number from 0 to ${2 ** 32 - 1}`,
  (given): given is number => isWholeNumber(given) && given < 2 ** 32,
);
const textMap = value(
  "an object of strings",
  (given): given is Readonly<Record<string, string>> =>
    isObject(given) && Object.values(given).every((each) => typeof each === "string"),
);

/** Written as `null` if there is none. */
function orNull<T>(form: Form<T>): Optional<T | null> {
  return { ...nullish(form, form.expected), written: "null" };
}

/** Left out if there is none. */
function ifSet<T>(form: Form<T>): Optional<T | null> {
  return nullish(form, form.expected);
}

const mediaSource = tagged("kind", {
  url: record({ url: text, media_type: orNull(text) }),
  base64: record({ media_type: text, data: text }),
  file_id: record({ id: text, media_type: orNull(text) }),
});

const citationSource = tagged("kind", {
  url: record({ url: text, title: orNull(text) }),
  document: record({ document_index: u32, title: orNull(text) }),
});

const echoing = {
  provider_echoes: {
    ...optional(list(record({ provider: text, payload: json }))),
    omitEmpty: true,
  },
};

const cacheable = {
  cache_control: ifSet(record({ ttl: oneOf(["five_minutes", "one_hour"]) })),
  ...echoing,
};

const contentPart = tagged("type", {
  text: record({ text, ...cacheable }),
  image: record({ source: mediaSource, ...cacheable }),
  audio: record({ source: mediaSource, ...cacheable }),
  video: record({ source: mediaSource, ...cacheable }),
  document: record({ source: mediaSource, name: orNull(text), ...cacheable }),
  thinking: record({ text, ...cacheable }),
  redacted_thinking: record(echoing),
  citation: record({ snippet: text, source: citationSource, ...cacheable }),
  tool_use: record({ id: text, name: text, input: json, ...echoing }),
  image_output: record({ source: mediaSource, ...echoing }),
  audio_output: record({ source: mediaSource, transcript: orNull(text), ...echoing }),
  tool_result: record({
    tool_use_id: text,
    name: text,
    content: json,
    is_error: optional(flag, "false"),
    ...cacheable,
  }),
});

const safetyRating = record({
  category: tagged("kind", {
    harassment: record({}),
    hate_speech: record({}),
    sexually_explicit: record({}),
    dangerous_content: record({}),
    other: record({ raw: text }),
  }),
  level: oneOf(["negligible", "low", "medium", "high"]),
});

const modelUsage = record({
  input_tokens: u32,
  output_tokens: u32,
  cached_input_tokens: optional(u32, "0"),
  cache_creation_input_tokens: optional(u32, "0"),
  reasoning_tokens: optional(u32, "0"),
  safety_ratings: optional(list(safetyRating), "[]"),
});

const modelWarning = tagged("kind", {
  lossy_encode: record({ field: text, detail: text }),
  unknown_stop_reason: record({ raw: text }),
  unsupported_capability: record({ capability: text, detail: text }),
  provider_extension_ignored: record({ vendor: text }),
});

const rateLimitSnapshot = record({
  requests_remaining: orNull(u64),
  tokens_remaining: orNull(u64),
  requests_reset_at: orNull(time),
  tokens_reset_at: orNull(time),
  raw: optional(textMap, "{}"),
});

/** Why a run paused. */
export const interruptionKindForm = tagged("type", {
  custom: record({}),
  approval_pending: record({ tool_use_id: text }),
  scheduled_pause: record({ phase: oneOf(["before", "after"]), node: text }),
});

const timed = { cut: optional(list(text)), timestamp: time };

/** Every variant of entelix's `GraphEvent`. */
const variants = {
  user_message: record({ content: list(contentPart), ...timed }),
  assistant_message: record({ content: list(contentPart), usage: orNull(modelUsage), ...timed }),
  context_compacted: record({ dropped_chars: u64, retained_chars: u64, ...timed }),
  tool_call: record({ id: text, name: text, input: json, ...timed }),
  tool_result: record({
    tool_use_id: text,
    name: text,
    content: json,
    is_error: flag,
    cancelled: optional(flag),
    model_text: optional(oneOf(["unknown"])),
    ...timed,
  }),
  branch_created: record({ branch_id: text, parent_event: u64, ...timed }),
  checkpoint_marker: record({ checkpoint_id: text, thread_id: text, ...timed }),
  warning: record({ warning: modelWarning, ...timed }),
  thinking_delta: record({ text, ...echoing, ...timed }),
  rate_limit: record({ snapshot: rateLimitSnapshot, ...timed }),
  // Entries before 0.6 have no kind.
  interrupt: record({ interruption_kind: ifSet(interruptionKindForm), payload: json, ...timed }),
  cancelled: record({ reason: text, ...timed }),
  sub_agent_invoked: record({ agent_id: text, sub_thread_id: text, ...timed }),
  agent_handoff: record({ from: orNull(text), to: text, ...timed }),
  resumed: record({ from_checkpoint: text, ...timed }),
  memory_recall: record({ tier: text, namespace_key: text, hits: u64, ...timed }),
  usage_limit_exceeded: record({ breach: breachForm, ...timed }),
  tool_error_terminal: record({
    error_kind: oneOf(TOOL_ERROR_KINDS),
    tool_name: text,
    ...timed,
  }),
  error: record({ class: text, message: text, ...timed }),
} satisfies {
  readonly [K in GraphEventKind]: Form<Omit<Extract<GraphEvent, { readonly kind: K }>, "kind">>;
};

/** entelix's entries. */
export const graphEventForm = tagged("kind", variants);

/** This package's own entries. */
export const ownEventForm = tagged("kind", OWN_VARIANTS);

/** Both. */
export const knownEventForm = tagged("kind", { ...variants, ...OWN_VARIANTS });
