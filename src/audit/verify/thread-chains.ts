import { EMPTY_THREAD, type RowAnchor, threadText } from "../audit-row.ts";
import type { StoredRow } from "../stored-row.ts";

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
    // After a fault go on from the row that is there, so that one fault is not reported for each row.
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
