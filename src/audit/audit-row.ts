import { MOST_NAME } from "../events/door.ts";
import type { AnyGraphEvent } from "./wire/graph-event.ts";

/** Names one thread's log. The tenant is part of it, so that no call can reach another tenant's. */
export interface ThreadKey {
  readonly tenant_id: string;
  readonly thread_id: string;
}

/** What is appended: an event and what it belongs to, each id absent (or `null`) when not known. */
export interface AuditEntry {
  readonly event: AnyGraphEvent;
  readonly run_id?: string | null;
  /** Makes redelivery harmless: an entry whose id the log remembers is not written again. */
  readonly event_id?: string | null;
  /** Whether no other entry can have this event ID. Then a log need not look it up, nor remember it. Default `false`. */
  readonly is_new?: boolean | undefined;
  /** Trace of the run, 32 hex digits. */
  readonly trace_id?: string | null;
  /** Span of the run or the call, 16 hex digits. */
  readonly span_id?: string | null;
}

/** A row's place and hash: enough, kept outside the log, to prove that the row was there. */
export interface RowAnchor {
  /** From 1 in each thread; 0 for a thread without rows. */
  readonly ordinal: number;
  /** 64 hex digits; all zeros for a thread without rows. */
  readonly hash: string;
}

/** What stands in place of an event whose payload was erased. The row's hash still holds. */
export interface ErasedEvent {
  readonly erased: true;
  readonly kind: string;
  readonly timestamp: string;
}

/** One row of the audit log. */
export interface AuditRow extends ThreadKey, RowAnchor {
  /** Hash of the thread's row before; zeros for the first. */
  readonly prev: string;
  readonly run_id: string | null;
  readonly event_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  /** SHA-256 of {@link AuditRow.event_text} in UTF-8, as 64 hex digits. */
  readonly digest: string;
  /** The event, parsed; integers beyond 2^53 are `bigint`. */
  readonly event: AnyGraphEvent | ErasedEvent;
  /** The event exactly as it is stored. */
  readonly event_text: string;
}

/** The `prev` of a first row, and the hash of a thread without rows. */
export const NO_HASH = "0".repeat(64);

/** The head of a thread without rows. */
export const EMPTY_THREAD: RowAnchor = { ordinal: 0, hash: NO_HASH };

/** A thread's name as one text, such that no two threads share it. */
export function threadText(key: ThreadKey): string {
  return `${key.tenant_id.length}:${key.thread_id.length}:${key.tenant_id}${key.thread_id}`;
}

/** A thread as a store uses it: nothing of it can be changed by the caller any more. */
export interface NamedThread extends ThreadKey {
  /** Its `threadText`, made once. */
  readonly name: string;
}

/** @throws TypeError when tenant or thread is missing, empty or longer than 4,096 characters. */
export function namedThread(key: ThreadKey): NamedThread {
  const { tenant_id, thread_id } = key;
  checkName(tenant_id, "tenant_id");
  checkName(thread_id, "thread_id");
  return { tenant_id, thread_id, name: threadText({ tenant_id, thread_id }) };
}

function checkName(name: unknown, field: string): void {
  if (typeof name === "string" && name !== "" && name.length <= MOST_NAME) return;
  throw new TypeError(`${field}: expected a string of 1 to ${MOST_NAME} characters`);
}
