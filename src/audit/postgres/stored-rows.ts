import type { RowAnchor } from "../audit-row.ts";
import { readRow, type StoredRow } from "../stored-row.ts";
import { eventKey } from "./append-batch.ts";

/** A row as the database has it, and the thread that it belongs to. */
export interface DatabaseRow {
  /** The thread's number in the database. */
  readonly thread: string;
  readonly ordinal: number;
  /** What is wrong with it, as far as the row alone can show. */
  readonly problem: string | undefined;
  /** The row, or with a problem what it claims to be, where it reads as a row at all. */
  readonly row: StoredRow | undefined;
  readonly archived: boolean;
  /** What stands in the event's place, whatever it is. */
  readonly event: string;
}

/** What the thread of a row says of its last row, and the name that it goes by. */
export interface StatedHead extends RowAnchor {
  readonly name: string;
}

/** The columns that {@link databaseRow} reads, of `rows r` and `threads t`. */
export const ROW_COLUMNS = `r.thread::text as thread, r.ordinal::text as ordinal, t.tenant_id, t.thread_id,
  encode(r.prev, 'hex') as prev, encode(r.hash, 'hex') as hash, r.run_id, r.event_id,
  r.trace_id, r.span_id, encode(r.digest, 'hex') as digest, r.event,
  replace(r.event_key::text, '-', '') as event_key,
  coalesce(r.ordinal <= t.archived, false) as archived`;

/** The columns that {@link statedHead} reads. */
export const HEAD_COLUMNS = `t.ordinal::text as head_ordinal, encode(t.hash, 'hex') as head_hash,
  encode(t.name, 'hex') as head_name`;

/** The head that stands beside a row; `undefined` where its thread is missing. */
export function statedHead(fields: Readonly<Record<string, unknown>>): StatedHead | undefined {
  const { head_hash, head_name, head_ordinal } = fields;
  if (typeof head_hash !== "string" || typeof head_name !== "string") return undefined;
  return { ordinal: Number(head_ordinal), hash: head_hash, name: head_name };
}

/**
 * Reads one row and checks all that it alone can show: it is made into its line as any store has it,
 * and that line is read.
 */
export function databaseRow(fields: Readonly<Record<string, unknown>>): DatabaseRow {
  const { archived, ordinal, thread } = fields;
  const place = {
    thread: text(thread),
    ordinal: Number(ordinal),
    archived: archived === true,
    event: text(fields.event),
  };
  if (fields.tenant_id === null || fields.thread_id === null) {
    return { ...place, problem: "the row's thread is missing", row: undefined };
  }
  const reading = readRow(lineOf(fields));
  if (reading.problem !== undefined) {
    return { ...place, problem: reading.problem, row: reading.claim };
  }
  const { row } = reading;
  // A quote put into an id by hand could end it early, and another row be read.
  const isSame = (["tenant_id", "thread_id", "run_id", "event_id", "trace_id", "span_id"] as const)
    .map((name) => ({ read: row[name], stored: fields[name] }))
    .every(({ read, stored }) => (read === null ? null : storedText(read)) === stored);
  if (!isSame || row.event_text !== fields.event) {
    return { ...place, problem: "edited: the row is not written as this log writes rows", row };
  }
  const key = row.event_id === null ? null : eventKey(row.event_id).toString("hex");
  const problem = key === fields.event_key ? undefined : "edited: the key is not that of its event";
  return { ...place, problem, row };
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
 * An id as it is stored: as JSON writes it, without the quotes. PostgreSQL's text can hold neither
 * U+0000 nor half a surrogate pair; this can say both, and most ids stand there as they are.
 */
export function storedText(id: string): string {
  return JSON.stringify(id).slice(1, -1);
}

/** The id of a stored text; of a text that was edited into none, the text itself. */
export function idOf(text: string): string {
  try {
    const id: unknown = JSON.parse(`"${text}"`);
    return typeof id === "string" ? id : text;
  } catch {
    return text;
  }
}
