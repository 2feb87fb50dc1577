import { hash as hashOf } from "node:crypto";
import { MOST_JSON_BYTES, MOST_NAME, textJson } from "../events/door.ts";
import {
  type AuditEntry,
  EMPTY_THREAD,
  type NamedThread,
  type RowAnchor,
  type ThreadKey,
  threadText,
} from "./audit-row.ts";
import type { StoredRow } from "./stored-row.ts";
import { encodeGraphEvent } from "./wire/graph-event-codec.ts";

/** The fields of a row about its event, without the event. */
export interface RowFacts {
  readonly run_id: string | null;
  readonly event_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly digest: string;
}

/** A copy of an entry, which the caller cannot change. */
export interface EntryText extends RowFacts {
  /** The event as it is stored. */
  readonly event_text: string;
  /** Thread and event ID as one text, by which a redelivery is recognized. `null` if the event ID is unknown or new. */
  readonly event_name: string | null;
}

/**
 * Reads an entry once and encodes it.
 *
 * @throws TypeError if the event is not an object with a `kind`, or if an ID is neither missing nor a string of at
 *   most 4,096 characters.
 * @throws RangeError if one of its values has more than 32 MiB of JSON.
 */
export function encodeEntry(entry: AuditEntry, thread: NamedThread): EntryText {
  const { event } = entry;
  if (typeof event !== "object" || event === null || typeof event.kind !== "string") {
    throw new TypeError("event: expected a GraphEvent, an object with a kind");
  }
  const text = encodeGraphEvent(event);
  const event_id = known(entry.event_id, "event_id");
  return {
    run_id: known(entry.run_id, "run_id"),
    event_id,
    trace_id: known(entry.trace_id, "trace_id"),
    span_id: known(entry.span_id, "span_id"),
    digest: sha256(text),
    event_text: text,
    event_name: event_id === null || entry.is_new === true ? null : thread.name + event_id,
  };
}

/**
 * {@link encodeEntry} for the entries of a persistent log.
 *
 * @throws TypeError as `encodeEntry`.
 * @throws RangeError if an event is longer than a log allows.
 */
export function encodeEntries(
  entries: readonly AuditEntry[],
  thread: NamedThread,
): readonly EntryText[] {
  const encoded = entries.map((entry) => encodeEntry(entry, thread));
  for (const { event_text: text } of encoded) {
    if (text.length * 3 <= MOST_JSON_BYTES) continue;
    const bytes = Buffer.byteLength(text);
    if (bytes <= MOST_JSON_BYTES) continue;
    throw new RangeError(`event: expected at most ${MOST_JSON_BYTES} bytes of JSON, got ${bytes}`);
  }
  return encoded;
}

/** An empty ID is the same as none. Both are stored as `null`. */
function known(id: unknown, field: string): string | null {
  if (id === undefined || id === null || id === "") return null;
  if (typeof id === "string" && id.length <= MOST_NAME) return id;
  throw new TypeError(
    `${field}: expected a string of at most ${MOST_NAME} characters, or nothing when not known`,
  );
}

function idJson(id: string | null): string {
  return id === null ? "null" : textJson(id);
}

/** A thread's IDs as JSON, and the start of its rows. */
interface ThreadTexts extends ThreadKey {
  readonly tenant: string;
  readonly thread: string;
  readonly prefix: string;
}

/** The thread of the last row: consecutive rows mostly have the same. */
let lastThread: ThreadTexts | undefined;

function textsOf({ tenant_id, thread_id }: ThreadKey): ThreadTexts {
  if (lastThread?.thread_id === thread_id && lastThread.tenant_id === tenant_id) return lastThread;
  const tenant = textJson(tenant_id);
  const thread = textJson(thread_id);
  const prefix = `{"tenant_id":${tenant},"thread_id":${thread},"ordinal":`;
  lastThread = { tenant_id, thread_id, tenant, thread, prefix };
  return lastThread;
}

/** A row's line up to its event. The event's text and a closing brace complete it. */
export interface RowHead extends RowAnchor {
  readonly text: string;
}

/** SHA-256 of a text in UTF-8, as 64 hex digits. */
export function sha256(text: string): string {
  return hashOf("sha256", text);
}

/**
 * A row's hash: the SHA-256 of `JSON.stringify([prev, tenant_id, thread_id, ordinal, run_id, event_id, trace_id,
 * span_id, digest])`. It covers the digest of the event instead of the event, so that a payload can be erased without
 * breaking the chain.
 *
 * @param ids the JSON of the fields between the hashes, with commas.
 */
export function rowHash(prev: string, ids: string, digest: string): string {
  return sha256(`["${prev}",${ids},"${digest}"]`);
}

/**
 * The row that follows `before` in its thread. It depends on no clock and no random value, so the same facts at the
 * same position give the same bytes.
 */
export function rowAfter(before: RowAnchor, key: ThreadKey, facts: RowFacts): RowHead {
  const ordinal = before.ordinal + 1;
  const prev = before.hash;
  const { digest, run_id } = facts;
  const { prefix, tenant, thread } = textsOf(key);
  const run = run_id === key.thread_id ? thread : idJson(run_id);
  const event = idJson(facts.event_id);
  const trace = idJson(facts.trace_id);
  const span = idJson(facts.span_id);
  const ids = `${tenant},${thread},${ordinal},${run},${event},${trace},${span}`;
  const hash = rowHash(prev, ids, digest);
  const text =
    `${prefix}${ordinal},"prev":"${prev}","hash":"${hash}",` +
    `"run_id":${run},"event_id":${event},"trace_id":${trace},"span_id":${span},` +
    `"digest":"${digest}","event":`;
  return { ordinal, hash, text };
}

/** The start of every row of a thread, so that a scan can skip other rows without parsing them. */
export function threadPrefix(key: ThreadKey): string {
  return textsOf(key).prefix;
}

/** A thread's last row. It moves with each row that is chained. */
export interface ChainEnd extends ThreadKey {
  ordinal: number;
  hash: string;
}

/** The store that a row is chained for. */
export interface RowStore {
  /** The row that an event of this name already has. */
  anchorOf(eventName: string): RowAnchor | undefined;
  /**
   * Takes the next row of the thread, whose last row is `before`. From then on, {@link anchorOf} knows its event.
   */
  addRow(row: RowHead, entry: EntryText, before: RowAnchor): void;
}

/**
 * Chains entries behind a thread's last row. Leaves out entries whose event ID is known.
 *
 * @returns the anchor with which the append resolves.
 */
export function chainEntries(
  thread: ChainEnd,
  entries: readonly EntryText[],
  store: RowStore,
): RowAnchor {
  const first = thread.ordinal;
  let known: RowAnchor | undefined;
  for (const entry of entries) {
    const name = entry.event_name;
    const anchor = name === null ? undefined : store.anchorOf(name);
    if (anchor !== undefined) {
      if (known === undefined || anchor.ordinal > known.ordinal) known = anchor;
      continue;
    }
    const row = rowAfter(thread, thread, entry);
    store.addRow(row, entry, thread);
    thread.ordinal = row.ordinal;
    thread.hash = row.hash;
  }
  const { hash, ordinal } = thread;
  return ordinal === first && known !== undefined ? known : { ordinal, hash };
}

/** The heads of all threads while a log is read. Memory grows with the number of threads. */
export class ThreadChains {
  readonly #heads = new Map<string, RowAnchor>();

  get threads(): number {
    return this.#heads.size;
  }

  /** Takes the next row of the log. @returns the problem with its position in the chain, or `undefined`. */
  next(row: StoredRow): string | undefined {
    const name = threadText(row);
    const head = this.#heads.get(name) ?? EMPTY_THREAD;
    const { hash, ordinal, prev } = row;
    if (ordinal <= head.ordinal) {
      return `row ${ordinal} stands behind row ${head.ordinal}: moved, inserted or there twice`;
    }
    // Continues from this row after a problem, so that one problem is not reported for every later row.
    this.#heads.set(name, { ordinal, hash });
    if (ordinal > head.ordinal + 1) return `${rowsBetween(head.ordinal, ordinal)} before this row`;
    if (prev === head.hash) return undefined;
    return ordinal === 1
      ? "the first row of its thread names a row before it"
      : `row ${head.ordinal} of the thread is not the one this row was written behind: it was changed`;
  }
}

function rowsBetween(before: number, after: number): string {
  return after - before === 2
    ? `row ${before + 1} of the thread is missing`
    : `rows ${before + 1} to ${after - 1} of the thread are missing`;
}
