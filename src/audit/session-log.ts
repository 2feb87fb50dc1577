import type { AuditEntry, AuditRow, RowAnchor, ThreadKey } from "./audit-row.ts";

/**
 * An append-only log of what agents did, one chain of rows for each (tenant, thread).
 *
 * Rows are never changed and never change places; ordinals count from 1 in each thread; every call
 * names its tenant. Upstream: `SessionLog` of entelix-session.
 *
 * A store encodes the entries at the call: the caller may change a payload right after. Entries of
 * one thread are chained in the order of the calls.
 */
export interface SessionLog {
  /** It names rows that come without an event id by itself. Default false: they get an id before. */
  readonly namesRows?: boolean | undefined;

  /**
   * Adds rows and resolves once they are as safe as the store was told to make them.
   *
   * An entry with an event id that the store remembers (its window is the store's own) is not written
   * again; where all are known, the answer is the place of the row that is there.
   *
   * Without entries it is a probe of the store's health: it rejects while the store cannot write and
   * resolves again as soon as it can.
   *
   * @returns place and hash of the highest row of this call; of the thread's last row for a probe
   *   (ordinal 0 and 64 zeros when it has none).
   * @throws (rejects) with the store's error when nothing of this call was written: it leaves no gap
   *   and no row, and the next good append goes on with the chain. TypeError for an entry that is no
   *   event, a key without tenant or thread, or an id of more than 4,096 characters.
   */
  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor>;

  /**
   * {@link append} that tells a waiter, for a sender with many rows on their way. A log may leave it
   * out: then `append` is called.
   *
   * @returns resolves when the waiter was called. It never rejects, and calls may share it.
   */
  appendFor?(key: ThreadKey, entries: readonly AuditEntry[], waiter: RowWaiter): Promise<void>;

  /**
   * The thread's rows with an ordinal above `cursor` (0: all) that are not archived, ascending.
   *
   * @throws (rejects) RangeError when `cursor` is no whole number from 0; an Error naming the file and
   *   line when a row of the thread is damaged.
   */
  loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]>;

  /**
   * Archives the thread's rows with an ordinal up to `watermark`: they are kept, and no longer loaded.
   *
   * The watermark only moves forward; a lower or equal one changes nothing. It covers rows that exist:
   * what is appended later is not archived by it.
   *
   * @returns how many rows were archived by this call.
   * @throws (rejects) RangeError when `watermark` is no whole number from 0; the store's error.
   */
  archiveBefore(key: ThreadKey, watermark: number): Promise<number>;
}

/** How many event ids a store remembers unless told otherwise. */
export const DEFAULT_EVENT_IDS = 100_000;

/**
 * Called once with the outcome of one append. With thousands of pending rows this costs a fraction of
 * a promise for each.
 */
export interface RowWaiter {
  stored(at: RowAnchor): void;
  failed(error: unknown): void;
}

/**
 * Appends to a log that may or may not know waiters.
 *
 * @returns resolves when the waiter was called; never rejects.
 */
export function appendFor(
  log: SessionLog,
  key: ThreadKey,
  entries: readonly AuditEntry[],
  waiter: RowWaiter,
): Promise<void> {
  try {
    return (
      log.appendFor?.(key, entries, waiter) ?? tellWhenStored(log.append(key, entries), waiter)
    );
  } catch (error) {
    // A log of the user's own need not keep to promises.
    return tellFailure(error, waiter);
  }
}

/** @returns resolves when the waiter was called; never rejects. */
export function tellWhenStored(stored: Promise<RowAnchor>, waiter: RowWaiter): Promise<void> {
  return stored.then(
    (anchor) => waiter.stored(anchor),
    (error: unknown) => waiter.failed(error),
  );
}

export function tellFailure(error: unknown, waiter: RowWaiter): Promise<void> {
  waiter.failed(error);
  return Promise.resolve();
}
