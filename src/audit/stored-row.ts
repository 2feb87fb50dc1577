import { parseExact } from "../events/exact-json.ts";
import type { AuditRow, ErasedEvent, RowAnchor, ThreadKey } from "./audit-row.ts";
import { type RowFacts, rowAfter, sha256 } from "./row-text.ts";
import { decodeGraphEvent } from "./wire/decode-graph-event.ts";
import { isObject } from "./wire/wire-shape.ts";

/** A row as its line has it, the event not yet parsed. */
export interface StoredRow extends ThreadKey, RowAnchor, RowFacts {
  readonly prev: string;
  readonly event_text: string;
  /** The payload was erased: the digest is that of the event which stood here. */
  readonly erased: boolean;
}

/** A row, or what is wrong with the line; with the row that it claims to be, where it says so. */
export type RowReading =
  | { readonly row: StoredRow; readonly problem?: undefined }
  | { readonly problem: string; readonly claim?: StoredRow };

/**
 * A quote inside a JSON string is escaped, so the first place with these characters ends the digest
 * and begins the event, which is the last field.
 */
const EVENT = ',"event":';

const HASH = /^[0-9a-f]{64}$/;

/**
 * Reads one row's line and checks all that the line alone can show: its form, its hash and the digest
 * of its event. Whether it stands in its right place only the chain can tell.
 */
export function readRow(line: string): RowReading {
  const at = line.indexOf(EVENT);
  if (at < 0 || !line.endsWith("}")) return { problem: "no row: the line is not whole" };
  const fields = parse(`${line.slice(0, at)}}`);
  if (!isObject(fields)) return { problem: "no row: expected a JSON object" };
  const { tenant_id, thread_id, ordinal, prev, hash, digest } = fields;
  const { run_id, event_id, trace_id, span_id } = fields;
  if (
    typeof tenant_id !== "string" ||
    typeof thread_id !== "string" ||
    !isOrdinal(ordinal) ||
    !isHash(prev) ||
    !isHash(hash) ||
    !isHash(digest) ||
    !isId(run_id) ||
    !isId(event_id) ||
    !isId(trace_id) ||
    !isId(span_id)
  ) {
    return { problem: "no row: a field is missing or has the wrong type" };
  }
  const facts = { run_id, event_id, trace_id, span_id, digest };
  const key = { tenant_id, thread_id };
  const event_text = line.slice(at + EVENT.length, -1);
  const erased = sha256(event_text) !== digest;
  const row: StoredRow = { ...key, ordinal, prev, hash, ...facts, event_text, erased };
  const written = rowAfter({ ordinal: ordinal - 1, hash: prev }, key, facts);
  if (written.hash !== hash) {
    return { problem: "edited: the row's hash is not that of its fields", claim: row };
  }
  // Equal bytes leave no room for a second field of the same name, which readers could take instead.
  if (!line.startsWith(written.text)) {
    return { problem: "edited: the row is not written as this log writes rows", claim: row };
  }
  if (erased && !isErasedText(event_text)) {
    return { problem: "edited: the event is not the one the row's digest was made of", claim: row };
  }
  return { row };
}

/** The row with its event parsed, or `undefined` when the stored text is no event. */
export function withEvent(stored: StoredRow): AuditRow | undefined {
  const { erased, ...row } = stored;
  const value = parseEvent(row.event_text);
  if (erased) return isErased(value) ? { ...row, event: value } : undefined;
  const decoded = decodeGraphEvent(value);
  if (decoded.event !== undefined) return { ...row, event: decoded.event };
  return isObject(value) && hasKind(value) ? { ...row, event: value } : undefined;
}

function hasKind(value: Readonly<Record<string, unknown>>): value is { readonly kind: string } {
  return typeof value.kind === "string";
}

function isOrdinal(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

function isId(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isErasedText(text: string): boolean {
  // An erased event is short; a long text need not be parsed to know that it is none.
  return text.length < 1024 && isErased(parse(text));
}

function isErased(value: unknown): value is ErasedEvent {
  return (
    isObject(value) &&
    value.erased === true &&
    typeof value.kind === "string" &&
    typeof value.timestamp === "string" &&
    Object.keys(value).length === 3
  );
}

/** What nests deeper than the exact parser goes was stored all the same; it is read less exactly. */
function parseEvent(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return parse(text);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
