import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";

/** Lines are written in batches of about this size, each chain of a batch in one piece. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Bytes before each piece: 8 with the offset of the chain's piece before it plus 1, then tag and length. */
const HEAD = 16;

/** Lines that are read together. */
export interface Chain {
  /** Offset of its last piece in the file, plus 1; 0 without one. */
  last: number;
}

/** A line, and the number that it was added with. */
export interface TaggedLine {
  readonly line: string;
  readonly tag: number;
}

/** Where the lines of a chain in a batch are. */
interface Piece {
  readonly start: number;
  readonly tag: number;
  /** Bytes without the head. */
  readonly length: number;
}

/**
 * Lines in one file, in chains. The lines of a chain in a batch are one piece. Memory holds only the offset of the last
 * piece of each chain, so it does not grow with lines. Each piece has the offset of the one before.
 *
 * Writes and reads are synchronous: a few MB each, to a file in the system's cache.
 */
export class LineSpool {
  readonly #path: string;
  readonly #fd: number;
  #end = 0;
  /** Lines of a batch, by chain and tag. */
  #pending = new Map<Chain, Map<number, string[]>>();
  #pendingBytes = 0;
  /** Heads and lines of pieces that are not written yet. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #isClosed = false;

  /** Length of the file, without the batch in memory. */
  get bytes(): number {
    return this.#end;
  }

  /** @param path of a file that does not exist yet, in a folder that only its owner can read. */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, "wx+", 0o600);
  }

  /** @param line without a line end in it. */
  add(line: string, tag: number, chain: Chain): void {
    let byTag = this.#pending.get(chain);
    if (byTag === undefined) {
      byTag = new Map();
      this.#pending.set(chain, byTag);
    }
    const lines = byTag.get(tag);
    if (lines === undefined) byTag.set(tag, [line]);
    else lines.push(line);
    this.#pendingBytes += line.length;
    if (this.#pendingBytes >= BATCH_BYTES) this.flush();
  }

  /** Writes the batch in memory. */
  flush(): void {
    for (const [chain, byTag] of this.#pending) {
      for (const [tag, lines] of byTag) {
        this.#append(Buffer.from(`${lines.join("\n")}\n`, "utf8"), tag, chain);
      }
    }
    this.#pending = new Map();
    this.#pendingBytes = 0;
    this.#write();
  }

  /** Adds a piece to those that are written together. */
  #append(bytes: Buffer, tag: number, chain: Chain): void {
    const head = Buffer.alloc(HEAD);
    head.writeBigUInt64LE(BigInt(chain.last));
    head.writeUInt32LE(tag, 8);
    head.writeUInt32LE(bytes.length, 12);
    chain.last = this.#end + 1;
    this.#end += HEAD + bytes.length;
    this.#pieces.push(head, bytes);
    this.#pieceBytes += HEAD + bytes.length;
    if (this.#pieceBytes >= BATCH_BYTES) this.#write();
  }

  #write(): void {
    if (this.#isClosed) throw new Error(`${this.#path}: it is closed`);
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    for (let at = 0; at < all.length; ) at += writeSync(this.#fd, all, at, all.length - at);
  }

  /** The lines of a chain, in the order in which they came. */
  read(chain: Chain): TaggedLine[] {
    this.flush();
    const pieces: (readonly TaggedLine[])[] = [];
    for (let { last } = chain; last > 0; ) {
      const piece = this.#piece(last - 1);
      pieces.push(piece.lines);
      last = piece.before;
    }
    return pieces.reverse().flat();
  }

  /**
   * Copies chains to another file, as bytes. Their next lines must be added there.
   *
   * @param mostBytes above which the oldest pieces of the longest chains are left out. The newest of each is copied.
   * @returns the number of lines that were left out.
   */
  copyTo(other: LineSpool, chains: Iterable<Chain>, mostBytes = Number.POSITIVE_INFINITY): number {
    this.flush();
    const copied = [...chains].map((chain) => this.#piecesOf(chain));
    let excess = -mostBytes;
    for (const { bytes } of copied) excess += bytes;
    let leftOut = 0;
    for (const { chain, pieces } of copied.sort((one, two) => two.bytes - one.bytes)) {
      chain.last = 0;
      for (const [at, { length, start, tag }] of pieces.entries()) {
        const bytes = this.#bytes(start + HEAD, length);
        const isLeftOut = excess > 0 && at < pieces.length - 1;
        if (isLeftOut) excess -= HEAD + length;
        if (isLeftOut) leftOut += linesIn(bytes);
        else other.#append(bytes, tag, chain);
      }
    }
    other.#write();
    return leftOut;
  }

  /** The pieces of a chain, the oldest first. */
  #piecesOf(chain: Chain): { chain: Chain; pieces: readonly Piece[]; bytes: number } {
    const pieces: Piece[] = [];
    let bytes = 0;
    for (let { last } = chain; last > 0; ) {
      const head = this.#bytes(last - 1, HEAD);
      const length = head.readUInt32LE(12);
      pieces.push({ start: last - 1, tag: head.readUInt32LE(8), length });
      bytes += HEAD + length;
      last = Number(head.readBigUInt64LE());
    }
    return { chain, pieces: pieces.reverse(), bytes };
  }

  /** All lines, by batches. Those of a batch are in the order of their chains. */
  *all(): Generator<TaggedLine> {
    this.flush();
    for (let from = 0; from < this.#end; ) {
      const { end, lines } = this.#piece(from);
      yield* lines;
      from = end;
    }
  }

  /** Closes the file and forgets lines that wait. The spool can't be used any more: another file may get its number. */
  close(): void {
    this.#isClosed = true;
    this.#pending = new Map();
    closeSync(this.#fd);
    rmSync(this.#path, { force: true });
  }

  #piece(from: number): { before: number; lines: TaggedLine[]; end: number } {
    const head = this.#bytes(from, HEAD);
    const tag = head.readUInt32LE(8);
    const length = head.readUInt32LE(12);
    const text = this.#bytes(from + HEAD, length).toString("utf8");
    const lines = text.split("\n").flatMap((line) => (line === "" ? [] : [{ line, tag }]));
    return { before: Number(head.readBigUInt64LE()), lines, end: from + HEAD + length };
  }

  #bytes(from: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; ) {
      const read = readSync(this.#fd, bytes, at, length - at, from + at);
      if (read === 0) throw new Error(`${this.#path}: expected ${length} bytes at ${from}`);
      at += read;
    }
    return bytes;
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}
