import type { AuditEntry, RowAnchor, ThreadKey } from "./audit-row.ts";
import type { SessionLog } from "./session-log.ts";

/**
 * Told once what became of the rows of one append. With thousands of rows on their way this costs a
 * fraction of a promise for each.
 */
export interface RowWaiter {
  stored(at: RowAnchor): void;
  failed(error: unknown): void;
}

/**
 * Appends to a log that may or may not know waiters.
 *
 * @returns resolves when the waiter has been told; never rejects.
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

/** @returns resolves when the waiter has been told; never rejects. */
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
