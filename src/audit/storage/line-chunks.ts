/** Bytes of one chunk. */
const CHUNK = 256 * 1024;

/** Chunks kept for later writes: as many as one write has. The garbage collector frees the others. */
const SPARE = 16;

/** Room behind the line of a chunk of its own, for the line of its commit. */
const COMMIT_ROOM = 160;

/** Chunks that are reused, so that a row allocates no memory of its own. */
export class ChunkPool {
  readonly #spare: Buffer[] = [];

  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK);
  }

  give(chunk: Buffer): void {
    if (chunk.length === CHUNK && this.#spare.length < SPARE) this.#spare.push(chunk);
  }
}

/**
 * Lines that wait for one write. Each is encoded when it is added: one growing string of thousands of rows would cost
 * half as much again.
 */
export class LineChunks {
  readonly #pool: ChunkPool | undefined;
  readonly #full: { readonly chunk: Buffer; readonly used: number }[] = [];
  #chunk: Buffer | undefined;
  #used = 0;
  #bytes = 0;

  /** @param pool default: each line gets a chunk of its own size. For few lines that wait long. */
  constructor(pool?: ChunkPool) {
    this.#pool = pool;
  }

  /** Bytes of all lines with their newlines. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a line, without its newline. */
  add(line: string): void {
    const chunk = this.#roomFor(line);
    const written = chunk.write(line, this.#used);
    chunk[this.#used + written] = 0x0a;
    this.#used += written + 1;
    this.#bytes += written + 1;
  }

  /** The added lines, in order. Valid until {@link release}. */
  parts(): readonly Uint8Array[] {
    const parts = this.#full.map(({ chunk, used }) => chunk.subarray(0, used));
    if (this.#chunk !== undefined) parts.push(this.#chunk.subarray(0, this.#used));
    return parts;
  }

  /** Returns the chunks to the pool. Call it when nothing reads them any more. */
  release(): void {
    if (this.#chunk !== undefined) this.#pool?.give(this.#chunk);
    for (const { chunk } of this.#full) this.#pool?.give(chunk);
    this.#chunk = undefined;
    this.#full.length = 0;
    this.#used = 0;
    this.#bytes = 0;
  }

  #roomFor(line: string): Buffer {
    // A UTF-16 unit takes at most three bytes, so only a line near the end of a chunk is measured.
    if (this.#chunk !== undefined && this.#fits(line, this.#chunk)) return this.#chunk;
    if (this.#chunk !== undefined) this.#full.push({ chunk: this.#chunk, used: this.#used });
    this.#chunk = this.#newChunk(line);
    this.#used = 0;
    return this.#chunk;
  }

  #newChunk(line: string): Buffer {
    const pool = this.#pool;
    if (pool !== undefined && line.length * 3 < CHUNK) return pool.take();
    const needed = Buffer.byteLength(line) + 1;
    if (pool !== undefined && needed <= CHUNK) return pool.take();
    return Buffer.allocUnsafeSlow(needed + COMMIT_ROOM);
  }

  #fits(line: string, chunk: Buffer): boolean {
    const room = chunk.length - this.#used - 1;
    return line.length * 3 <= room || (line.length <= room && Buffer.byteLength(line) <= room);
  }
}
