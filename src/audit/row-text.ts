import { hash as hashOf } from "node:crypto";
import type { RowAnchor, ThreadKey } from "./audit-row.ts";

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
  const tenant = JSON.stringify(key.tenant_id);
  const thread = JSON.stringify(key.thread_id);
  const run = JSON.stringify(facts.run_id);
  const event = JSON.stringify(facts.event_id);
  const trace = JSON.stringify(facts.trace_id);
  const span = JSON.stringify(facts.span_id);
  const place = String(ordinal);
  const hash = rowHash({ prev, tenant, thread, ordinal: place, run, event, trace, span, digest });
  const text =
    `{"tenant_id":${tenant},"thread_id":${thread},"ordinal":${place},"prev":"${prev}","hash":"${hash}",` +
    `"run_id":${run},"event_id":${event},"trace_id":${trace},"span_id":${span},` +
    `"digest":"${digest}","event":`;
  return { ordinal, hash, text };
}

/** How the line of every row of a thread begins, so that a scan can pass the others unparsed. */
export function threadPrefix(key: ThreadKey): string {
  const tenant = JSON.stringify(key.tenant_id);
  return `{"tenant_id":${tenant},"thread_id":${JSON.stringify(key.thread_id)},"ordinal":`;
}
