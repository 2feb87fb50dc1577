import { checkArgument, MOST_NAME } from "../events/door.ts";
import type { AnyGraphEvent } from "./wire/graph-event.ts";

/** The key of one thread's log. It includes the tenant, so that no call can reach another tenant's log. */
export interface ThreadKey {
  readonly tenant_id: string;
  readonly thread_id: string;
}

/** An entry to append: an event and its IDs. Each ID is absent or `null` if unknown. */
export interface AuditEntry {
  readonly event: AnyGraphEvent;
  readonly run_id?: string | null;
  /** An entry whose ID the log remembers is not written again, so redelivery is harmless. */
  readonly event_id?: string | null;
  /**
   * Whether no other entry can have this event ID. Then the log neither looks it up nor remembers it. Default
   * `false`.
   */
  readonly is_new?: boolean | undefined;
  /** Trace of the run, 32 hex digits. */
  readonly trace_id?: string | null;
  /** Span of the run or the call, 16 hex digits. */
  readonly span_id?: string | null;
}

/** A row's position and hash. Stored outside the log, they prove that the row was there. */
export interface RowAnchor {
  /** From 1 in each thread. 0 for a thread without rows. */
  readonly ordinal: number;
  /** 64 hex digits. All zeros for a thread without rows. */
  readonly hash: string;
}

/** Replaces an event whose payload was erased. The row's hash stays valid. */
export interface ErasedEvent {
  readonly erased: true;
  readonly kind: string;
  readonly timestamp: string;
}

/** One row of the audit log. */
export interface AuditRow extends ThreadKey, RowAnchor {
  /** Hash of the thread's previous row. Zeros for the first row. */
  readonly prev: string;
  readonly run_id: string | null;
  readonly event_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  /** SHA-256 of {@link AuditRow.event_text} in UTF-8, as 64 hex digits. */
  readonly digest: string;
  /** The parsed event. Integers beyond 2^53 are `bigint`. */
  readonly event: AnyGraphEvent | ErasedEvent;
  /** The event exactly as it is stored. */
  readonly event_text: string;
}

/** The `prev` of a first row, and the hash of a thread without rows. */
export const NO_HASH = "0".repeat(64);

/** The head of a thread without rows. */
export const EMPTY_THREAD: RowAnchor = { ordinal: 0, hash: NO_HASH };

/** A thread's name as one text. Different threads have different texts. */
export function threadText(key: ThreadKey): string {
  return `${key.tenant_id.length}:${key.thread_id.length}:${key.tenant_id}${key.thread_id}`;
}

/** A copy of a thread's key, which the caller cannot change. */
export interface NamedThread extends ThreadKey {
  /** Its `threadText`, computed once. */
  readonly name: string;
}

/** @throws TypeError if tenant or thread is missing, empty or longer than 4,096 characters. */
export function namedThread(key: ThreadKey): NamedThread {
  checkArgument(key, "key");
  const { tenant_id, thread_id } = key;
  checkName(tenant_id, "tenant_id");
  checkName(thread_id, "thread_id");
  return { tenant_id, thread_id, name: threadText({ tenant_id, thread_id }) };
}

function checkName(name: unknown, field: string): void {
  if (typeof name === "string" && name !== "" && name.length <= MOST_NAME) return;
  throw new TypeError(`${field}: expected a string of 1 to ${MOST_NAME} characters`);
}
