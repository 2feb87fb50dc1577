import type { AuditEntry, AuditRow, RowAnchor, ThreadKey } from "./audit-row.ts";

/**
 * An append-only log of what agents did, with one chain of rows for each (tenant, thread).
 *
 * Rows never change and never move. Ordinals count from 1 in each thread. Every call names its tenant. In Rust:
 * `SessionLog` of entelix-session.
 *
 * A store encodes the entries during the call, so the caller may change a payload afterwards. Entries of one thread
 * are chained in the order of the calls.
 */
export interface SessionLog {
  /** Whether the log makes IDs for rows without an event ID. Default false: they get an ID before. */
  readonly namesRows?: boolean | undefined;

  /**
   * Adds rows. Resolves when they are as safe as the store was configured to make them.
   *
   * An entry whose event ID the store remembers is not written again. The store defines how many it remembers. If all
   * entries are known, the call resolves with the anchor of the existing row.
   *
   * Without entries it is a probe of the store: it rejects while the store cannot write, and resolves when it can.
   *
   * @returns the anchor of this call's highest row. For a probe that of the thread's last row (ordinal 0 and 64 zeros
   *   if it has none).
   * @throws (rejects) with the store's error if nothing of this call was written. It leaves no gap and no row, and
   *   the next successful append continues the chain.
   * @throws (rejects) TypeError for an invalid event, a key without tenant or thread, or an ID of more than 4,096
   *   characters.
   */
  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor>;

  /**
   * {@link append} that calls a waiter, for a sender with many pending rows. Optional: without it, `append` is
   * called.
   *
   * @returns resolves when the waiter was called. It never rejects, and calls may share it.
   */
  appendFor?(key: ThreadKey, entries: readonly AuditEntry[], waiter: RowWaiter): Promise<void>;

  /**
   * The thread's rows with an ordinal above `cursor` (0: all) that are not archived, ascending.
   *
   * @throws (rejects) RangeError if `cursor` is not a whole number from 0; an Error naming the file and line if a row
   *   of the thread is damaged.
   */
  loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]>;

  /**
   * Archives the thread's rows with an ordinal up to `watermark`. They are kept, but no longer loaded.
   *
   * The watermark only moves forward. A lower or equal one changes nothing. It covers only existing rows, not rows
   * that are appended later.
   *
   * @returns the number of rows that this call archived.
   * @throws (rejects) RangeError if `watermark` is not a whole number from 0; the store's error.
   */
  archiveBefore(key: ThreadKey, watermark: number): Promise<number>;
}

/** Default number of event IDs that a store remembers. */
export const DEFAULT_EVENT_IDS = 100_000;

/**
 * Called with the outcome of each append. With thousands of pending rows it costs a fraction of one promise each.
 *
 * A log may answer several appends to one thread that share a waiter by one call. `appends` is their number, 1 by
 * default, and `at` the anchor of the last one.
 */
export interface RowWaiter {
  stored(at: RowAnchor, appends?: number): void;
  failed(error: unknown, appends?: number): void;
}

/** @returns resolves when the waiter was called; never rejects. */
export function reportWhenStored(stored: Promise<RowAnchor>, waiter: RowWaiter): Promise<void> {
  return stored.then(
    (anchor) => waiter.stored(anchor),
    (error: unknown) => waiter.failed(error),
  );
}

export function reportFailure(error: unknown, waiter: RowWaiter): Promise<void> {
  waiter.failed(error);
  return Promise.resolve();
}
