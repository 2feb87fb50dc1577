import {
  type AuditEntry,
  type RowAnchor,
  type SessionLog,
  sqlState,
  type ThreadKey,
  threadText,
} from "../../audit/door.ts";
import type { Retry } from "../../bridge/door.ts";

/** PostgreSQL's errors about the data itself: wrong type, limit or constraint. A retry can't help. */
const ROW_STATES = /^(?:22|54|23502|23514)/;

/** Whether an error of the log concerns the row itself, so that a retry can't help. */
export function isRowRefused(error: unknown): boolean {
  return error instanceof TypeError || ROW_STATES.test(sqlState(error) ?? "");
}

/** Maximum number of rows in one call. */
const MOST_AT_ONCE = 256;

interface Waiting {
  readonly entry: AuditEntry;
  /** Rows of one group may share a call. `undefined`: the row has a call of its own. */
  readonly group: object | undefined;
  readonly resolve: (anchor: RowAnchor) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Appends rows to a log that may be unavailable. Each thread has one call at a time, which is retried until it
 * succeeds. So the rows of a thread stay in order even after failures.
 *
 * Rows of one group that wait meanwhile share the next call, and all get the position of its last row.
 */
export class ThreadAppendQueue {
  readonly #log: SessionLog;
  readonly #retry: Retry;
  readonly #closed: AbortSignal;
  /** Threads with pending rows. */
  readonly #threads = new Map<string, Waiting[]>();

  /** @param retry must treat {@link isRowRefused} errors as final. */
  constructor(log: SessionLog, retry: Retry, closed: AbortSignal) {
    this.#log = log;
    this.#retry = retry;
    this.#closed = closed;
  }

  /** @throws (rejects) with the log's error if it concerns the row itself. */
  append(key: ThreadKey, entry: AuditEntry, group: object | undefined): Promise<RowAnchor> {
    return new Promise((resolve, reject) => {
      const name = threadText(key);
      const waiting = this.#threads.get(name);
      const row = { entry, group, resolve, reject };
      if (waiting !== undefined) waiting.push(row);
      else {
        const rows = [row];
        this.#threads.set(name, rows);
        void this.#work(name, key, rows);
      }
    });
  }

  async #work(name: string, key: ThreadKey, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0 && !this.#closed.aborted) {
      await this.#store(key, takeGroup(waiting));
    }
    this.#threads.delete(name);
  }

  async #store(key: ThreadKey, rows: readonly Waiting[]): Promise<void> {
    const entries = rows.map(({ entry }) => entry);
    try {
      const anchor = await this.#retry.until(() => this.#log.append(key, entries));
      for (const { resolve } of rows) resolve(anchor);
    } catch (error) {
      // Closed: the rows stay pending, as if the process had ended here.
      if (!isRowRefused(error)) return;
      const [only, another] = rows;
      if (another === undefined) {
        only?.reject(error);
        return;
      }
      // Only one call for each row shows which one is wrong.
      for (const row of rows) await this.#store(key, [row]);
    }
  }
}

/** Removes and returns the first rows that may share a call. */
function takeGroup(waiting: Waiting[]): Waiting[] {
  const group = waiting[0]?.group;
  let count = 1;
  while (
    group !== undefined &&
    count < MOST_AT_ONCE &&
    count < waiting.length &&
    waiting[count]?.group === group
  ) {
    count++;
  }
  return waiting.splice(0, count);
}
