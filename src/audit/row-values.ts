import { types } from "node:util";
import {
  boundedJson,
  CONTENT_FORMS,
  isObject,
  keepJson,
  MOST_CONTENT_BYTES,
  parseExact,
  plainJson,
  surelyFits,
} from "../events/door.ts";
import type { AnyGraphEvent } from "./wire/graph-event.ts";

/** Most bytes of JSON of a text without content in a row: names, IDs, codes. */
export const MOST_TEXT_BYTES = 64 * 1024;

/** Fields whose texts are content. */
const CONTENT = new Set([
  "input",
  "content",
  "payload",
  "reason",
  "proposed_input",
  "message",
  "text",
]);

/** A recorder's names of values that have another name in rows. */
const RECORDED: Readonly<Record<string, string>> = {
  input: "input",
  output: "content",
  error_for_llm: "content",
  payload: "payload",
  reason: "reason",
  "details.input": "input",
  "details.decision.reason": "reason",
  "details.decision.proposed_input": "proposed_input",
};

/** Characters of a text that fits into every limit. */
const SHORT = 64;

const NO_OPTIONS: RowValueOptions = { recorded: [] };

/** Data about an event. */
export interface RowValueOptions {
  /** The fields that were cut before, under their recorder's names. */
  readonly recorded?: readonly string[] | undefined;
  /** It was read from JSON. Values within the limit stay unchanged. Default `false`. */
  readonly isJson?: boolean | undefined;
  /** Most bytes of JSON of a value, from 1,024. Default 12 MiB. */
  readonly most?: number | undefined;
}

/**
 * The event for its row. Values above the limit of a row are cut within their JSON, and `cut` names their fields. An
 * event without such a value is returned unchanged. The same event gives the same row.
 *
 * Values that JSON does not know (a `Map`, bytes, a `bigint`) are converted here, for every log. The JSON of a large
 * value is kept: the caller forgets it as soon as the log has read the row.
 */
export function withinRow(event: AnyGraphEvent, options = NO_OPTIONS): AnyGraphEvent {
  const { isJson = false, most = MOST_CONTENT_BYTES, recorded = [] } = options;
  const { kind } = event;
  let cut: Set<unknown> | undefined;
  if (Array.isArray(event.cut)) cut = new Set(event.cut);
  let fields: Record<string, unknown> | undefined;
  if (!isObject(event)) return event;
  // Unlike Object.entries, this makes no array for each field. A row is a plain object, made here or read from JSON.
  for (const field in event) {
    const value = event[field];
    // Most values are such. Numbers and short texts fit into every limit.
    if (value === undefined || typeof value === "number" || typeof value === "boolean") continue;
    if (typeof value === "string" && value.length < SHORT) continue;
    if (field === "kind" || field === "timestamp" || !Object.hasOwn(event, field)) continue;
    const bytes = typeof value === "string" && !CONTENT.has(field) ? MOST_TEXT_BYTES : most;
    if (surelyFits(value, bytes)) continue;
    const form = isJson ? value : withoutMap(value);
    const plain = plainJson(form, bytes);
    if (plain !== undefined) {
      if (form !== value) fields = { ...(fields ?? event), [field]: form };
      keepJson(form, plain);
      continue;
    }
    const json = boundedJson(value, { ...CONTENT_FORMS, bytes });
    if (isJson && !json.cut) continue;
    fields ??= { ...event };
    if (json.cut && isMessage(event) && field === "content") {
      fields[field] = textPart(value, bytes);
    } else {
      const parsed = parseExact(json.text);
      fields[field] = parsed;
      if (!INDEX_NAME.test(json.text)) keepJson(parsed, json.text);
    }
    if (json.cut) cut = (cut ?? new Set()).add(field);
  }
  for (const name of recorded) {
    const field = RECORDED[name];
    if (field !== undefined && Object.hasOwn(event, field)) cut = (cut ?? new Set()).add(field);
  }
  if (cut !== undefined && cut.size > 0) {
    return { ...event, ...fields, kind, cut: [...cut].sort() };
  }
  return fields === undefined ? event : { ...fields, kind };
}

/** The name of a field that objects move before others. The JSON of a parsed value may then have another order. */
const INDEX_NAME = /[{,]"\d+":/;

/** A `Map` with texts as keys as an object. */
function withoutMap(value: unknown): unknown {
  if (!types.isMap(value)) return value;
  for (const key of value.keys()) if (typeof key !== "string") return value;
  return Object.fromEntries(value);
}

/** The content of messages is a list of parts, each with its own form. */
function isMessage({ kind }: AnyGraphEvent): boolean {
  return kind === "user_message" || kind === "assistant_message";
}

/**
 * A list of parts that is too long, as one part with the list's JSON, cut. JSON inside a text takes twice its bytes.
 */
function textPart(parts: unknown, bytes: number): unknown {
  const { text } = boundedJson(parts, { ...CONTENT_FORMS, bytes: bytes / 2 - 64 });
  return [{ type: "text", text }];
}
