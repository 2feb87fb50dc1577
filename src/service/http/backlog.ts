/** Lines that are counted as one block, in bytes: the count is kept in few entries. */
const BLOCK_BYTES = 1024 * 1024;

interface Block {
  last: number;
  bytes: number;
}

/** How much of the journal is still needed: appended, and not below the commit position. */
export class Backlog {
  readonly #blocks: Block[] = [];
  #bytes = 0;

  /** Bytes of the lines, rounded up to whole blocks of 1 MiB at the old end. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Lines were appended. @param last the offset of the last of them. */
  add(last: number, bytes: number): void {
    this.#bytes += bytes;
    const block = this.#blocks.at(-1);
    // Appends may end in another order than they began: a block ends with the highest offset.
    if (block !== undefined && block.bytes < BLOCK_BYTES) {
      block.last = Math.max(block.last, last);
      block.bytes += bytes;
    } else this.#blocks.push({ last: Math.max(block?.last ?? 0, last), bytes });
  }

  /** Lines below this offset are needed no more. */
  settle(position: number): void {
    let done = 0;
    for (const { last, bytes } of this.#blocks) {
      if (last >= position) break;
      this.#bytes -= bytes;
      done += 1;
    }
    this.#blocks.splice(0, done);
  }
}
