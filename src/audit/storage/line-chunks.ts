/** Bytes of one chunk. */
const CHUNK = 256 * 1024;

/** Chunks kept for later writes: as many as one write has. The garbage collector frees the others. */
const SPARE = 16;

/** Room behind the line of a chunk of its own, for the line of its commit. */
const COMMIT_ROOM = 160;

const BRACE = 0x7d;
const NEWLINE = 0x0a;

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

  /**
   * Adds a line, without its newline.
   *
   * @param event follows the line's text, and a brace follows it: a row is not joined, which would copy its event.
   */
  add(line: string, event?: string): void {
    const chunk = this.#roomFor(line, event);
    const start = this.#used;
    let end = start + chunk.write(line, start);
    if (event !== undefined) {
      end += chunk.write(event, end);
      chunk[end] = BRACE;
      end += 1;
    }
    chunk[end] = NEWLINE;
    this.#used = end + 1;
    this.#bytes += this.#used - start;
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

  #roomFor(line: string, event = ""): Buffer {
    const chunk = this.#chunk;
    // A UTF-16 unit takes at most three bytes, so only a line near the end of a chunk is measured.
    const room = chunk === undefined ? 0 : chunk.length - this.#used;
    if (chunk !== undefined && 3 * (line.length + event.length) + 2 <= room) return chunk;
    const bytes = Buffer.byteLength(line) + Buffer.byteLength(event) + 2;
    if (chunk !== undefined && bytes <= room) return chunk;
    if (chunk !== undefined) this.#full.push({ chunk, used: this.#used });
    const pool = bytes <= CHUNK ? this.#pool : undefined;
    this.#chunk = pool?.take() ?? Buffer.allocUnsafeSlow(bytes + COMMIT_ROOM);
    this.#used = 0;
    return this.#chunk;
  }
}
