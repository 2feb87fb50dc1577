import { Refusal } from "./refusal.ts";

/** Size of a block, in bytes. */
export const BLOCK_BYTES = 64 * 1024;

/**
 * One body in memory. It is copied into blocks, and blocks are what is counted: a body that comes byte by
 * byte would otherwise take a hundred times its length.
 */
export class HeldBody {
  readonly #held: HeldBytes;
  #blocks: Buffer[] = [];
  /** Bytes of the last block that are in use. */
  #filled = BLOCK_BYTES;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** @throws Refusal `memory` where there is no room for it beside the bodies of others. */
  add(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      const copied = piece.copy(this.#room(), 0, at);
      this.#filled += copied;
      at += copied;
    }
  }

  /** All of it, in order. */
  get blocks(): readonly Buffer[] {
    return this.#blocks.map((block, at) =>
      at === this.#blocks.length - 1 ? block.subarray(0, this.#filled) : block,
    );
  }

  /** Gives the memory back; called again it does nothing. */
  release(): void {
    this.#held.give(this.#blocks.length * BLOCK_BYTES);
    this.#blocks = [];
    this.#filled = BLOCK_BYTES;
  }

  #room(): Buffer {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#filled < BLOCK_BYTES) return last.subarray(this.#filled);
    if (!this.#held.take(BLOCK_BYTES)) {
      throw new Refusal("memory", "too many compressed bodies wait for their last byte");
    }
    // Memory of its own: a slice of the shared pool would keep more than its own bytes alive.
    const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#blocks.push(block);
    this.#filled = 0;
    return block;
  }
}

/** Memory that bodies take while they wait, in bytes: one bound for all connections. */
export class HeldBytes {
  readonly #most: number;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get used(): number {
    return this.#used;
  }

  /** @returns whether there was room: where there was none, nothing is taken. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#most) return false;
    this.#used += bytes;
    return true;
  }

  /** What was taken is free again. */
  give(bytes: number): void {
    this.#used -= bytes;
  }
}
