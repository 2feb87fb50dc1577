import { Refusal } from "./refusal.ts";

/** Size of a block, in bytes. */
export const BLOCK_BYTES = 64 * 1024;

/**
 * One compressed body in memory. It is copied into blocks, and the blocks are counted: small pieces would otherwise
 * take a hundred times their length.
 */
export class HeldBody {
  readonly #held: HeldBytes;
  #blocks: Buffer[] = [];
  /** Used bytes of the last block. */
  #filled = BLOCK_BYTES;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** @throws Refusal `memory` if there is no room. */
  add(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      const copied = piece.copy(this.#room(), 0, at);
      this.#filled += copied;
      at += copied;
    }
  }

  /** The whole body, in order. */
  get blocks(): readonly Buffer[] {
    return this.#blocks.map((block, at) =>
      at === this.#blocks.length - 1 ? block.subarray(0, this.#filled) : block,
    );
  }

  /** Frees the memory. May be called again. */
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
    // Memory of its own: a slice of the shared pool would keep the pool alive.
    const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#blocks.push(block);
    this.#filled = 0;
    return block;
  }
}

/** Memory of waiting bodies, in bytes: one bound for all connections. */
export class HeldBytes {
  readonly #most: number;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get used(): number {
    return this.#used;
  }

  /** @returns false, without taking anything, if there is no room. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#most) return false;
    this.#used += bytes;
    return true;
  }

  /** Frees bytes that were taken. */
  give(bytes: number): void {
    this.#used -= bytes;
  }
}
