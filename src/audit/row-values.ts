import {
  boundedJson,
  CONTENT_FORMS,
  MOST_CONTENT_BYTES,
  parseExact,
  surelyFits,
} from "../events/door.ts";
import type { AnyGraphEvent } from "./wire/graph-event.ts";

/** Most bytes of JSON that a text of a row has that is no content: names, IDs, codes. */
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

/** What a recorder calls the values that rows have under another name. */
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

/** What is known of an event beside itself. */
export interface RowValueOptions {
  /** The fields that were cut before, as a recorder calls them. */
  readonly recorded?: readonly string[] | undefined;
  /** It was read from JSON: what fits stays as it was written. Default `false`. */
  readonly isJson?: boolean | undefined;
  /** Most bytes of JSON that a value has, from 1,024. Default 12 MiB. */
  readonly most?: number | undefined;
}

/**
 * The event as its row has it: values above the limit of a row are cut within their JSON, and `cut` names their
 * fields. An event without such a value is returned as it is. The same event gives the same row.
 *
 * What JSON does not know (a `Map`, bytes, a `bigint`) is converted here, for every log.
 */
export function withinRow(event: AnyGraphEvent, options: RowValueOptions = {}): AnyGraphEvent {
  const { isJson = false, most = MOST_CONTENT_BYTES, recorded = [] } = options;
  const { kind } = event;
  let cut: Set<unknown> | undefined;
  if (Array.isArray(event.cut)) cut = new Set(event.cut);
  let fields: Record<string, unknown> | undefined;
  // Unlike Object.entries this makes no array of each field. A row is an object that was made here or read from JSON.
  for (const field in event) {
    const value: unknown = Reflect.get(event, field);
    if (field === "kind" || field === "timestamp" || value === undefined) continue;
    const bytes = typeof value === "string" && !CONTENT.has(field) ? MOST_TEXT_BYTES : most;
    if (surelyFits(value, bytes)) continue;
    const json = boundedJson(value, { ...CONTENT_FORMS, bytes });
    if (isJson && !json.cut) continue;
    fields ??= { ...event };
    fields[field] =
      json.cut && isMessage(event) && field === "content"
        ? textPart(value, bytes)
        : parseExact(json.text);
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

/** Its content is a list of parts, each in a form of its own. */
function isMessage({ kind }: AnyGraphEvent): boolean {
  return kind === "user_message" || kind === "assistant_message";
}

/** A list of parts that is too long, as one part: the list's JSON, cut. As a text, JSON takes twice its bytes. */
function textPart(parts: unknown, bytes: number): unknown {
  const { text } = boundedJson(parts, { ...CONTENT_FORMS, bytes: bytes / 2 - 64 });
  return [{ type: "text", text }];
}
