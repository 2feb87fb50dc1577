import {
  type AuditEntry,
  type RowAnchor,
  type SessionLog,
  sqlState,
  type ThreadKey,
  threadText,
} from "../../audit/door.ts";
import type { Retry } from "../../bridge/door.ts";

/** PostgreSQL's errors about the data alone: what does not fit a type, a limit or a constraint never will. */
const ROW_STATES = /^(?:22|54|23502|23514)/;

/** Whether an error of the log says that the row itself is wrong, so that another attempt can't help. */
export function isRowRefused(error: unknown): boolean {
  return error instanceof TypeError || ROW_STATES.test(sqlState(error) ?? "");
}

/** Rows of one run that go in one call. */
const MOST_AT_ONCE = 256;

interface Waiting {
  readonly entry: AuditEntry;
  /** Rows of one group may share a call; `undefined`: it goes alone. */
  readonly group: object | undefined;
  readonly resolve: (anchor: RowAnchor) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Appends rows to a log that may be away: one call of a thread at a time, tried again until it works,
 * so that a thread's rows stand in the order in which they were made whatever fails in between.
 *
 * Rows of one group that come meanwhile share the next call, and all get the place of its last row.
 */
export class ThreadAppendQueue {
  readonly #log: SessionLog;
  readonly #retry: Retry;
  readonly #closed: AbortSignal;
  /** Threads with rows under way. */
  readonly #threads = new Map<string, Waiting[]>();

  /** @param retry takes what {@link isRowRefused} says for final. */
  constructor(log: SessionLog, retry: Retry, closed: AbortSignal) {
    this.#log = log;
    this.#retry = retry;
    this.#closed = closed;
  }

  /** @throws (rejects) with the log's error where the row itself is wrong. */
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
      // Closed: the rows stay unanswered, as if the process had ended here.
      if (!isRowRefused(error)) return;
      const [only, another] = rows;
      if (another === undefined) {
        only?.reject(error);
        return;
      }
      // Only a call for each shows which of them is wrong.
      for (const row of rows) await this.#store(key, [row]);
    }
  }
}

/** The rows at the front that may share a call; they wait no longer. */
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
