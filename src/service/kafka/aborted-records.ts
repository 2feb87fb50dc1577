import type { AbortedTransaction, RecordsBatch } from "./kafka-library.ts";

const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
/** In the key of the record that ends a transaction, behind a version of two bytes. */
const ABORT = 0;
const KIND_AT = 2;

/**
 * Tells the records of aborted transactions from the others, batch by batch in the order of the log. The
 * client leaves out those of a transaction that is whole in one answer, and the last one of its producer
 * there; of what is longer, or was tried more than once, it lets records through.
 */
export class AbortedRecords {
  /** Those that begin further on, the last one first. */
  readonly #ahead: AbortedTransaction[];
  /** Producers whose aborted transaction is not over. */
  readonly #open = new Set<bigint>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#ahead = aborted.toSorted((a, b) => Number(b.firstOffset - a.firstOffset));
  }

  /** Asked for each batch once, also for those without data. */
  has(batch: RecordsBatch): boolean {
    this.#beginUpTo(batch.firstOffset + BigInt(batch.lastOffsetDelta));
    if (this.#open.size === 0 || !this.#open.has(batch.producerId)) return false;
    if ((batch.attributes & CONTROL) === 0) return (batch.attributes & TRANSACTIONAL) !== 0;
    if (isAbort(batch)) this.#open.delete(batch.producerId);
    return false;
  }

  #beginUpTo(offset: bigint): void {
    for (;;) {
      const next = this.#ahead.at(-1);
      if (next === undefined || next.firstOffset > offset) return;
      this.#open.add(next.producerId);
      this.#ahead.pop();
    }
  }
}

function isAbort({ records }: RecordsBatch): boolean {
  const key = records[0]?.key;
  return key !== undefined && key !== null && key.length >= 4 && key.readInt16BE(KIND_AT) === ABORT;
}
