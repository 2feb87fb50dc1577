import type { RowAnchor } from "../audit-row.ts";
import { readRow, type StoredRow } from "../stored-row.ts";
import { eventKey } from "./append-batch.ts";

/** A row of the database, and its thread. */
export interface DatabaseRow {
  /** The thread's number in the database. */
  readonly thread: string;
  readonly ordinal: number;
  /** The row's problem, as far as one row can show it. */
  readonly problem: string | undefined;
  /** The row. With a problem, the row that it claims to be, if it can be parsed as one. */
  readonly row: StoredRow | undefined;
  readonly archived: boolean;
  /** The stored text of the event, also if it is damaged. */
  readonly event: string;
}

/** The last row that a thread states, and the thread's stored name. */
export interface StatedHead extends RowAnchor {
  readonly name: string;
}

/** The columns that {@link databaseRow} reads, from `rows r` and `threads t`. */
export const ROW_COLUMNS = `r.thread::text as thread, r.ordinal::text as ordinal, t.tenant_id, t.thread_id,
  encode(r.prev, 'hex') as prev, encode(r.hash, 'hex') as hash, r.run_id, r.event_id,
  r.trace_id, r.span_id, encode(r.digest, 'hex') as digest, r.event,
  replace(r.event_key::text, '-', '') as event_key,
  coalesce(r.ordinal <= t.archived, false) as archived`;

/** The columns that {@link statedHead} reads. */
export const HEAD_COLUMNS = `t.ordinal::text as head_ordinal, encode(t.hash, 'hex') as head_hash,
  encode(t.name, 'hex') as head_name`;

/** The head that was read with a row. `undefined` if its thread is missing. */
export function statedHead(fields: Readonly<Record<string, unknown>>): StatedHead | undefined {
  const { head_hash, head_name, head_ordinal } = fields;
  if (typeof head_hash !== "string" || typeof head_name !== "string") return undefined;
  return { ordinal: Number(head_ordinal), hash: head_hash, name: head_name };
}

/**
 * Reads one row and checks everything that one row can show. It makes the row's line as in every other store and
 * reads that line.
 */
export function databaseRow(fields: Readonly<Record<string, unknown>>): DatabaseRow {
  const { archived, ordinal, thread } = fields;
  const position = {
    thread: text(thread),
    ordinal: Number(ordinal),
    archived: archived === true,
    event: text(fields.event),
  };
  if (fields.tenant_id === null || fields.thread_id === null) {
    return { ...position, problem: "the row's thread is missing", row: undefined };
  }
  const reading = readRow(lineOf(fields));
  if (reading.problem !== undefined) {
    return { ...position, problem: reading.problem, row: reading.claim };
  }
  const { row } = reading;
  // A quote that was inserted into an ID by hand could end it early. Then another row would be read.
  const isSame = (["tenant_id", "thread_id", "run_id", "event_id", "trace_id", "span_id"] as const)
    .map((name) => ({ read: row[name], stored: fields[name] }))
    .every(({ read, stored }) => (read === null ? null : storedText(read)) === stored);
  if (!isSame || row.event_text !== fields.event) {
    return { ...position, problem: "edited: the row is not written as this log writes rows", row };
  }
  const key = row.event_id === null ? null : eventKey(row.event_id).toString("hex");
  const problem = key === fields.event_key ? undefined : "edited: the key is not that of its event";
  return { ...position, problem, row };
}

function lineOf(fields: Readonly<Record<string, unknown>>): string {
  const id = (name: string) => (fields[name] === null ? "null" : `"${text(fields[name])}"`);
  return (
    `{"tenant_id":${id("tenant_id")},"thread_id":${id("thread_id")},"ordinal":${text(fields.ordinal)},` +
    `"prev":"${text(fields.prev)}","hash":"${text(fields.hash)}","run_id":${id("run_id")},` +
    `"event_id":${id("event_id")},"trace_id":${id("trace_id")},"span_id":${id("span_id")},` +
    `"digest":"${text(fields.digest)}","event":${text(fields.event)}}`
  );
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(`expected a text from the database, got ${typeof value}`);
}

/**
 * The stored form of an ID: as in a JSON string, without the quotes. It can express U+0000 and an unpaired surrogate,
 * which PostgreSQL's text cannot hold. Most IDs are unchanged.
 */
export function storedText(id: string): string {
  return JSON.stringify(id).slice(1, -1);
}

/** The ID of a stored text. A text that was edited into invalid JSON is returned unchanged. */
export function idOf(text: string): string {
  try {
    const id: unknown = JSON.parse(`"${text}"`);
    return typeof id === "string" ? id : text;
  } catch {
    return text;
  }
}
