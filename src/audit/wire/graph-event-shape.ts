import { TOOL_ERROR_KINDS } from "../../errors/error-kinds.ts";
import type { GraphEventKind } from "./graph-event.ts";
import {
  choice,
  decimal,
  field,
  flag,
  json,
  list,
  type RecordShape,
  record,
  tagged,
  text,
  textMap,
  time,
  u32,
  u64,
  type WireField,
} from "./wire-shape.ts";

const mediaSource = tagged("kind", {
  url: record(field("url", text), field("media_type", text, "or_null")),
  base64: record(field("media_type", text), field("data", text)),
  file_id: record(field("id", text), field("media_type", text, "or_null")),
});

const citationSource = tagged("kind", {
  url: record(field("url", text), field("title", text, "or_null")),
  document: record(field("document_index", u32), field("title", text, "or_null")),
});

const echoes = field(
  "provider_echoes",
  list(record(field("provider", text), field("payload", json))),
  "if_any",
);

const cache = field(
  "cache_control",
  record(field("ttl", choice("five_minutes", "one_hour"))),
  "if_set",
);

const source = field("source", mediaSource);

const contentPart = tagged("type", {
  text: record(field("text", text), cache, echoes),
  image: record(source, cache, echoes),
  audio: record(source, cache, echoes),
  video: record(source, cache, echoes),
  document: record(source, field("name", text, "or_null"), cache, echoes),
  thinking: record(field("text", text), cache, echoes),
  redacted_thinking: record(echoes),
  citation: record(field("snippet", text), field("source", citationSource), cache, echoes),
  tool_use: record(field("id", text), field("name", text), field("input", json), echoes),
  image_output: record(source, echoes),
  audio_output: record(source, field("transcript", text, "or_null"), echoes),
  tool_result: record(
    field("tool_use_id", text),
    field("name", text),
    field("content", json),
    field("is_error", flag, "or_default", "false"),
    cache,
    echoes,
  ),
});

const safetyRating = record(
  field(
    "category",
    tagged("kind", {
      harassment: record(),
      hate_speech: record(),
      sexually_explicit: record(),
      dangerous_content: record(),
      other: record(field("raw", text)),
    }),
  ),
  field("level", choice("negligible", "low", "medium", "high")),
);

const modelUsage = record(
  field("input_tokens", u32),
  field("output_tokens", u32),
  field("cached_input_tokens", u32, "or_default", "0"),
  field("cache_creation_input_tokens", u32, "or_default", "0"),
  field("reasoning_tokens", u32, "or_default", "0"),
  field("safety_ratings", list(safetyRating), "or_default", "[]"),
);

const modelWarning = tagged("kind", {
  lossy_encode: record(field("field", text), field("detail", text)),
  unknown_stop_reason: record(field("raw", text)),
  unsupported_capability: record(field("capability", text), field("detail", text)),
  provider_extension_ignored: record(field("vendor", text)),
});

const rateLimitSnapshot = record(
  field("requests_remaining", u64, "or_null"),
  field("tokens_remaining", u64, "or_null"),
  field("requests_reset_at", time, "or_null"),
  field("tokens_reset_at", time, "or_null"),
  field("raw", textMap, "or_default", "{}"),
);

const interruptionKind = tagged("type", {
  custom: record(),
  approval_pending: record(field("tool_use_id", text)),
  scheduled_pause: record(field("phase", choice("before", "after")), field("node", text)),
});

const counted = record(field("limit", u64), field("observed", u64));

const breach = tagged("axis", {
  requests: counted,
  input_tokens: counted,
  output_tokens: counted,
  total_tokens: counted,
  tool_calls: counted,
  cost_usd: record(field("limit", decimal), field("observed", decimal)),
});

function event(...fields: readonly WireField[]): RecordShape {
  return record(...fields, field("timestamp", time));
}

/** Every variant of upstream's `GraphEvent`; the fields stand in the order of its declaration. */
const variants: Readonly<Record<GraphEventKind, RecordShape>> = {
  user_message: event(field("content", list(contentPart))),
  assistant_message: event(
    field("content", list(contentPart)),
    field("usage", modelUsage, "or_null"),
  ),
  context_compacted: event(field("dropped_chars", u64), field("retained_chars", u64)),
  tool_call: event(field("id", text), field("name", text), field("input", json)),
  tool_result: event(
    field("tool_use_id", text),
    field("name", text),
    field("content", json),
    field("is_error", flag),
  ),
  branch_created: event(field("branch_id", text), field("parent_event", u64)),
  checkpoint_marker: event(field("checkpoint_id", text), field("thread_id", text)),
  warning: event(field("warning", modelWarning)),
  thinking_delta: event(field("text", text), echoes),
  rate_limit: event(field("snapshot", rateLimitSnapshot)),
  // Before 0.6 there was no kind.
  interrupt: event(field("interruption_kind", interruptionKind, "if_set"), field("payload", json)),
  cancelled: event(field("reason", text)),
  sub_agent_invoked: event(field("agent_id", text), field("sub_thread_id", text)),
  agent_handoff: event(field("from", text, "or_null"), field("to", text)),
  resumed: event(field("from_checkpoint", text)),
  memory_recall: event(field("tier", text), field("namespace_key", text), field("hits", u64)),
  usage_limit_exceeded: event(field("breach", breach)),
  tool_error_terminal: event(
    field("error_kind", choice(...TOOL_ERROR_KINDS)),
    field("tool_name", text),
  ),
  error: event(field("class", text), field("message", text)),
};

export const graphEventShape = tagged("kind", variants);
