import type { GraphEvent } from "../../audit/wire/graph-event.ts";
import type { JsonValue } from "../../events/exact-json.ts";
import { isCount } from "../../events/option-checks.ts";
import { readTimestamp } from "../../events/rfc3339.ts";
import { isJsonObject, type JsonObject } from "../dialect.ts";

/** Counts of a `ModelUsage` are below this. */
const U32 = 2 ** 32;

/**
 * Whether an entry is surely good, of the kinds that most rows of a log are. Walking the table of the
 * wire takes several times as long; it decides on what is not surely good here, and says what is wrong.
 */
export function isPlainRow(row: JsonObject): row is JsonObject & GraphEvent {
  switch (row.kind) {
    case "tool_call":
      return isCall(row) && isTime(row.timestamp);
    case "tool_result":
      return isResult(row) && isTime(row.timestamp);
    case "user_message":
      return arePlainParts(row.content) && isTime(row.timestamp);
    case "assistant_message":
      return arePlainParts(row.content) && isPlainUsage(row.usage) && isTime(row.timestamp);
    case "sub_agent_invoked":
      return isText(row.agent_id) && isText(row.sub_thread_id) && isTime(row.timestamp);
    case "thinking_delta":
      return isText(row.text) && row.provider_echoes === undefined && isTime(row.timestamp);
    default:
      return false;
  }
}

function arePlainParts(content: JsonValue | undefined): boolean {
  if (!Array.isArray(content)) return false;
  for (const part of content) if (!isPlainPart(part)) return false;
  return true;
}

function isPlainPart(part: JsonValue): boolean {
  if (!isJsonObject(part)) return false;
  if (part.provider_echoes !== undefined || part.cache_control !== undefined) return false;
  switch (part.type) {
    case "text":
      return isText(part.text);
    case "tool_use":
      return isCall(part);
    case "tool_result":
      return isResult(part);
    default:
      return false;
  }
}

function isCall({ id, input, name }: JsonObject): boolean {
  return isText(id) && isText(name) && input !== undefined;
}

function isResult({ content, is_error, name, tool_use_id }: JsonObject): boolean {
  return (
    isText(tool_use_id) && isText(name) && content !== undefined && typeof is_error === "boolean"
  );
}

function isPlainUsage(usage: JsonValue | undefined): boolean {
  if (usage === null || usage === undefined) return true;
  if (!isJsonObject(usage)) return false;
  const { safety_ratings: ratings } = usage;
  return (
    isU32(usage.input_tokens) &&
    isU32(usage.output_tokens) &&
    isU32(usage.cached_input_tokens) &&
    isU32(usage.cache_creation_input_tokens) &&
    isU32(usage.reasoning_tokens) &&
    Array.isArray(ratings) &&
    ratings.length === 0
  );
}

function isU32(value: JsonValue | undefined): boolean {
  return isCount(value) && value < U32;
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === "string";
}

function isTime(value: JsonValue | undefined): boolean {
  return typeof value === "string" && readTimestamp(value) !== undefined;
}
