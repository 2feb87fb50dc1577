import type { LogRow } from "./log-row.ts";
import type { LogThread } from "./log-thread.ts";

/** Rows that may wait in one thread, and in all. */
const IN_A_THREAD = 64;
const IN_ALL = 4_096;

/** Rows that wait for the run they belong to, by thread. */
export class WaitingRows {
  readonly #threads = new Map<LogThread, LogRow[]>();
  #count = 0;

  has(thread: LogThread): boolean {
    return this.#threads.has(thread);
  }

  /** @returns false where it can't wait: too many do. */
  add(thread: LogThread, row: LogRow): boolean {
    const rows = this.#threads.get(thread);
    if (this.#count >= IN_ALL || (rows !== undefined && rows.length >= IN_A_THREAD)) return false;
    this.#count++;
    if (rows === undefined) this.#threads.set(thread, [row]);
    else rows.push(row);
    return true;
  }

  /** The rows that wait in a thread, in their order; they wait no more. */
  take(thread: LogThread): readonly LogRow[] {
    // Of most logs none waits ever.
    const rows = this.#count === 0 ? undefined : this.#threads.get(thread);
    if (rows === undefined) return NONE;
    this.#threads.delete(thread);
    this.#count -= rows.length;
    return rows;
  }

  takeAll(): { readonly thread: LogThread; readonly rows: readonly LogRow[] }[] {
    const all = [...this.#threads].map(([thread, rows]) => ({ thread, rows }));
    this.#threads.clear();
    this.#count = 0;
    return all;
  }
}

const NONE: readonly LogRow[] = [];
