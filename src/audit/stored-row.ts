import { isCount, isObject, parseExact, parseJson } from "../events/door.ts";
import type { AuditRow, ErasedEvent, RowAnchor, ThreadKey } from "./audit-row.ts";
import { type RowFacts, rowHash, sha256 } from "./row-text.ts";
import { decodeGraphEvent } from "./wire/graph-event-codec.ts";

/** A row as in its line, with its event not yet parsed. */
export interface StoredRow extends ThreadKey, RowAnchor, RowFacts {
  readonly prev: string;
  readonly event_text: string;
  /** The payload was erased. The digest is that of the erased event. */
  readonly erased: boolean;
}

/** A row, or the problem of its line and the row that it claims to be. */
export type RowReading =
  | { readonly row: StoredRow; readonly problem?: undefined }
  | { readonly problem: string; readonly claim?: StoredRow };

const STRING = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"';
const TEXT = `(${STRING})`;
const ID = `(${STRING}|null)`;
const HASH = '"([0-9a-f]{64})"';

/** A quote inside a string is escaped, so the first match is the start of the event, which is the last field. */
const EVENT = ',"event":';

/** More characters than the longest IDs can take in a row before its event, if all are escaped. */
const MAX_HEAD = 256 * 1024;

/** A row's line up to its event, as `rowAfter` writes it. */
const ROW = new RegExp(
  `^\\{"tenant_id":${TEXT},"thread_id":${TEXT},"ordinal":([1-9]\\d*),"prev":${HASH},"hash":${HASH},` +
    `"run_id":${ID},"event_id":${ID},"trace_id":${ID},"span_id":${ID},"digest":${HASH},"event":`,
);

/** Quotes around the strings of an erased event: three names and two values. */
const ERASED_QUOTES = 10;

/**
 * Reads one row's line and checks everything that one line can show: its form, its hash and the digest of its event.
 * Only the chain shows whether it is at the right position.
 */
export function readRow(line: string): RowReading {
  const at = line.indexOf(EVENT);
  if (at < 0 || !line.endsWith("}")) return { problem: "no row: the line is not whole" };
  const match = at <= MAX_HEAD ? ROW.exec(line) : null;
  if (match === null) return notWritten(line, at);
  const [head, tenant = "", thread = "", ordinal = "", prev = "", hash = "", ...more] = match;
  const [run = "", event = "", trace = "", span = "", digest = ""] = more;
  const texts = `[${tenant},${thread},${run},${event},${trace},${span}]`;
  const values = parseJson(texts);
  // Accepts only the log's own spelling: another one could be read differently.
  if (!Array.isArray(values) || JSON.stringify(values) !== texts) return notWritten(line, at);
  const [tenant_id, thread_id, run_id, event_id, trace_id, span_id]: unknown[] = values;
  const row = storedRow(
    {
      tenant_id,
      thread_id,
      ordinal: Number(ordinal),
      prev,
      hash,
      run_id,
      event_id,
      trace_id,
      span_id,
      digest,
    },
    line.slice(head.length, -1),
  );
  if (row === undefined) return notWritten(line, at);
  const ids = `${tenant},${thread},${ordinal},${run},${event},${trace},${span}`;
  if (rowHash(prev, ids, digest) !== hash) {
    return { problem: "edited: the row's hash is not that of its fields", claim: row };
  }
  if (row.erased && !isErasedText(row.event_text)) {
    return { problem: "edited: the event is not the one the row's digest was made of", claim: row };
  }
  return { row };
}

/** The problem of a line that no log writes. */
function notWritten(line: string, at: number): RowReading {
  const fields = parseJson(`${line.slice(0, at)}}`);
  if (!isObject(fields)) return { problem: "no row: expected a JSON object" };
  const claim = storedRow(fields, line.slice(at + EVENT.length, -1));
  return claim === undefined
    ? { problem: "no row: a field is missing or has the wrong type" }
    : { problem: "edited: the row is not written as this log writes rows", claim };
}

function storedRow(
  fields: Readonly<Record<string, unknown>>,
  event_text: string,
): StoredRow | undefined {
  const { tenant_id, thread_id, ordinal, prev, hash, digest } = fields;
  const { run_id, event_id, trace_id, span_id } = fields;
  if (
    typeof tenant_id !== "string" ||
    typeof thread_id !== "string" ||
    !isCount(ordinal) ||
    typeof prev !== "string" ||
    typeof hash !== "string" ||
    typeof digest !== "string" ||
    !isId(run_id) ||
    !isId(event_id) ||
    !isId(trace_id) ||
    !isId(span_id)
  ) {
    return undefined;
  }
  const erased = sha256(event_text) !== digest;
  return {
    tenant_id,
    thread_id,
    ordinal,
    prev,
    hash,
    run_id,
    event_id,
    trace_id,
    span_id,
    digest,
    event_text,
    erased,
  };
}

/** The row with its event parsed. `undefined` if the stored text is not an event. */
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

function isId(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isErasedText(text: string): boolean {
  // An erased event is short, so a long text is rejected without parsing. Counting quotes finds duplicate members:
  // parsing keeps only the last one, and the other could still hold data.
  return text.length < 1024 && quotesIn(text) === ERASED_QUOTES && isErased(parseJson(text));
}

/** The quotes around the strings of a JSON text: those inside them are escaped. */
function quotesIn(text: string): number {
  return text.replaceAll(/\\./g, "").split('"').length - 1;
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

/** The store accepts deeper nesting than the exact parser. Such an event is parsed less exactly. */
function parseEvent(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return parseJson(text);
  }
}
