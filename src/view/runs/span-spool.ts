import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import type { ViewSpan } from "../format.ts";
import type { Trace } from "./traces.ts";

/** Spans are written in batches of about this size, each trace of a batch in one piece. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** A span, and the number of its source. */
export interface SourcedSpan {
  readonly span: ViewSpan;
  readonly source: number;
}

/** Bytes before each piece: 8 with the offset of the trace's piece before it plus 1, then source and length. */
const HEAD = 16;

/**
 * Spans in one file, as JSON lines. The spans of a trace in a batch are one piece. Memory holds only the offset of the
 * last piece of each trace, so it does not grow with spans. Each piece has the offset of the one before.
 *
 * Writes and reads are synchronous: a few MB each, to a file in the system's cache.
 */
export class SpanSpool {
  readonly #path: string;
  readonly #fd: number;
  #end = 0;
  /** JSON lines of a batch, by trace and source. */
  #pending = new Map<Trace, Map<number, string[]>>();
  #pendingBytes = 0;

  /** Length of the file, without the batch in memory. */
  get bytes(): number {
    return this.#end;
  }

  /** @param path of a file that does not exist yet, in a folder that only its owner can read. */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, "wx+", 0o600);
  }

  add(span: ViewSpan, source: number, trace: Trace): void {
    const line = JSON.stringify(span);
    const bySource = this.#pending.get(trace) ?? new Map<number, string[]>();
    this.#pending.set(trace, bySource);
    const lines = bySource.get(source);
    if (lines === undefined) bySource.set(source, [line]);
    else lines.push(line);
    this.#pendingBytes += line.length;
    if (this.#pendingBytes >= BATCH_BYTES) this.flush();
  }

  /** Writes the batch in memory. */
  flush(): void {
    const pieces: Buffer[] = [];
    for (const [trace, bySource] of this.#pending) {
      for (const [source, lines] of bySource) {
        const bytes = Buffer.from(`${lines.join("\n")}\n`, "utf8");
        const head = Buffer.alloc(HEAD);
        head.writeBigUInt64LE(BigInt(trace.last));
        head.writeUInt32LE(source, 8);
        head.writeUInt32LE(bytes.length, 12);
        trace.last = this.#end + 1;
        this.#end += HEAD + bytes.length;
        pieces.push(head, bytes);
      }
    }
    this.#pending = new Map();
    this.#pendingBytes = 0;
    const all = Buffer.concat(pieces);
    for (let at = 0; at < all.length; ) at += writeSync(this.#fd, all, at, all.length - at);
  }

  /** The spans of a trace, in the order in which they came. */
  read(trace: Trace): SourcedSpan[] {
    this.flush();
    const pieces: (readonly SourcedSpan[])[] = [];
    for (let { last } = trace; last > 0; ) {
      const piece = this.#piece(last - 1);
      pieces.push(piece.spans);
      last = piece.before;
    }
    return pieces.reverse().flat();
  }

  /** All spans, in the order in which they came. */
  *all(): Generator<SourcedSpan> {
    this.flush();
    for (let from = 0; from < this.#end; ) {
      const { end, spans } = this.#piece(from);
      yield* spans;
      from = end;
    }
  }

  close(): void {
    closeSync(this.#fd);
    rmSync(this.#path, { force: true });
  }

  #piece(from: number): { before: number; spans: SourcedSpan[]; end: number } {
    const head = this.#bytes(from, HEAD);
    const source = head.readUInt32LE(8);
    const length = head.readUInt32LE(12);
    const lines = this.#bytes(from + HEAD, length)
      .toString("utf8")
      .split("\n");
    const spans = lines
      .filter((line) => line !== "")
      .map((line) => ({ span: spanIn(line), source }));
    return { before: Number(head.readBigUInt64LE()), spans, end: from + HEAD + length };
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

/** A line that this process wrote. */
function spanIn(line: string): ViewSpan {
  const span: ViewSpan = JSON.parse(line);
  return span;
}
