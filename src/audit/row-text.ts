import { hash as hashOf } from "node:crypto";
import { EMPTY_THREAD, type RowAnchor, type ThreadKey, threadText } from "./audit-row.ts";
import type { EntryText } from "./entry-text.ts";
import type { StoredRow } from "./stored-row.ts";

/** A thread's ids as JSON, and how its rows begin. */
interface ThreadTexts extends ThreadKey {
  readonly tenant: string;
  readonly thread: string;
  readonly prefix: string;
}

/** The JSON of an id, kept for as long as the same one is asked for. */
class LastJson {
  #id: string | null = null;
  #json = "null";

  of(id: string | null): string {
    if (id !== this.#id) {
      this.#id = id;
      this.#json = JSON.stringify(id);
    }
    return this.#json;
  }
}

// Rows of one thread and run mostly come one after the other: what they have in common is written once.
const runs = new LastJson();
const traces = new LastJson();
let lastThread: ThreadTexts | undefined;

function textsOf({ tenant_id, thread_id }: ThreadKey): ThreadTexts {
  if (lastThread?.thread_id === thread_id && lastThread.tenant_id === tenant_id) return lastThread;
  const tenant = JSON.stringify(tenant_id);
  const thread = JSON.stringify(thread_id);
  const prefix = `{"tenant_id":${tenant},"thread_id":${thread},"ordinal":`;
  lastThread = { tenant_id, thread_id, tenant, thread, prefix };
  return lastThread;
}

/** What a row says about its event, beside the event itself. */
export interface RowFacts {
  readonly run_id: string | null;
  readonly event_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly digest: string;
}

/** A row's line up to its event: the event's text and a closing brace make it whole. */
export interface RowHead extends RowAnchor {
  readonly text: string;
}

/** SHA-256 of a text in UTF-8, as 64 hex digits. */
export function sha256(text: string): string {
  return hashOf("sha256", text);
}

/** The fields that a row's hash is made of, each as JSON writes it; the hashes without quotes. */
export interface HashedFields {
  readonly prev: string;
  readonly tenant: string;
  readonly thread: string;
  readonly ordinal: string;
  readonly run: string;
  readonly event: string;
  readonly trace: string;
  readonly span: string;
  readonly digest: string;
}

/**
 * A row's hash: the SHA-256 of `JSON.stringify([prev, tenant_id, thread_id, ordinal, run_id, event_id,
 * trace_id, span_id, digest])`. It covers the digest of the event and not the event, so that a payload
 * can be erased later without breaking the chain.
 */
export function rowHash(fields: HashedFields): string {
  const { digest, event, ordinal, prev, run, span, tenant, thread, trace } = fields;
  // Joined, the parts are what JSON.stringify of the list would write.
  return sha256(
    `["${prev}",${tenant},${thread},${ordinal},${run},${event},${trace},${span},"${digest}"]`,
  );
}

/**
 * The row that follows `before` in its thread. The same facts in the same place give the same bytes:
 * no clock and no chance is in it, so a redelivered event makes the same row again.
 */
export function rowAfter(before: RowAnchor, key: ThreadKey, facts: RowFacts): RowHead {
  const ordinal = before.ordinal + 1;
  const prev = before.hash;
  const { digest } = facts;
  const { prefix, tenant, thread } = textsOf(key);
  const run = runs.of(facts.run_id);
  const event = JSON.stringify(facts.event_id);
  const trace = traces.of(facts.trace_id);
  const span = JSON.stringify(facts.span_id);
  const place = String(ordinal);
  const hash = rowHash({ prev, tenant, thread, ordinal: place, run, event, trace, span, digest });
  const text =
    `${prefix}${place},"prev":"${prev}","hash":"${hash}",` +
    `"run_id":${run},"event_id":${event},"trace_id":${trace},"span_id":${span},` +
    `"digest":"${digest}","event":`;
  return { ordinal, hash, text };
}

/** How the line of every row of a thread begins, so that a scan can pass the others unparsed. */
export function threadPrefix(key: ThreadKey): string {
  return textsOf(key).prefix;
}

/** A row ready to be stored. */
export interface ChainedRow extends RowAnchor {
  readonly prev: string;
  readonly entry: EntryText;
  /** The whole line, without its newline. */
  readonly line: string;
}

/** The rows that an append adds, and the anchor that it resolves with. */
export interface ChainedAppend {
  readonly rows: readonly ChainedRow[];
  readonly anchor: RowAnchor;
}

/**
 * Chains entries behind a thread's head, leaving out those whose event id is known.
 *
 * @param anchorOf the row that an event of this name already has, if any.
 */
export function chainEntries(
  key: ThreadKey,
  head: RowAnchor,
  entries: readonly EntryText[],
  anchorOf: (eventName: string) => RowAnchor | undefined,
): ChainedAppend {
  const rows: ChainedRow[] = [];
  // A call with one entry, the usual one, cannot repeat itself.
  const added = entries.length > 1 ? new Map<string, RowAnchor>() : undefined;
  let last = head;
  let known: RowAnchor | undefined;
  for (const entry of entries) {
    const name = entry.event_name;
    const place = name === null ? undefined : (added?.get(name) ?? anchorOf(name));
    if (place !== undefined) {
      if (known === undefined || place.ordinal > known.ordinal) known = place;
      continue;
    }
    const { ordinal, hash, text } = rowAfter(last, key, entry);
    rows.push({ ordinal, hash, prev: last.hash, entry, line: `${text}${entry.event_text}}` });
    last = { ordinal, hash };
    if (name !== null) added?.set(name, last);
  }
  return { rows, anchor: rows.length > 0 ? last : (known ?? head) };
}

/** The heads of all threads while a log is read: its memory grows with their number only. */
export class ThreadChains {
  readonly #heads = new Map<string, RowAnchor>();

  get threads(): number {
    return this.#heads.size;
  }

  /** Takes the next row of the log. @returns what is wrong with its place, if anything is. */
  next(row: StoredRow): string | undefined {
    const name = threadText(row);
    const head = this.#heads.get(name) ?? EMPTY_THREAD;
    const { hash, ordinal, prev } = row;
    if (ordinal <= head.ordinal) {
      return `row ${ordinal} stands behind row ${head.ordinal}: moved, inserted or there twice`;
    }
    // After a fault continue from the row that is there, so that one fault is not reported for each row.
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
