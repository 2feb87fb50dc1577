import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import type { ViewSpan } from "../format.ts";
import { WideColumn } from "./columns.ts";
import type { TextTable } from "./text-table.ts";

/** Spans are written in batches of about this size, each trace of a batch in one piece. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Spans of one trace in a batch, as JSON lines. */
interface Pending {
  readonly lines: string[];
  source: number;
}

/** A span, and the number of the source that has it. */
export interface SourcedSpan {
  readonly span: ViewSpan;
  readonly source: number;
}

/** What stands before each piece in the file: 8 bytes where the piece before of its trace is, plus 1; then source and length. */
const HEAD = 16;

/**
 * Spans in one file, as JSON lines, those of a trace in a batch as one piece. In memory is only where the last piece of each
 * trace is: 8 bytes a trace. Each piece says where the one before is.
 *
 * It is written and read synchronously: in pieces of a few MB, to a file that the system keeps in its cache.
 */
export class SpanSpool {
  readonly #path: string;
  readonly #fd: number;
  readonly #traces: TextTable;
  #end = 0;
  /** Offset of the last piece of each trace, plus 1. */
  readonly #last = new WideColumn();
  #pending = new Map<string, Pending>();
  #pendingBytes = 0;

  /**
   * @param path of a file that is not there yet, in a folder of the owner's alone.
   * @param traces numbers of trace ids.
   */
  constructor(path: string, traces: TextTable) {
    this.#path = path;
    this.#fd = openSync(path, "wx+", 0o600);
    this.#traces = traces;
  }

  add(span: ViewSpan, source: number): void {
    const line = JSON.stringify(span);
    const key = `${source} ${span.trace_id}`;
    const pending = this.#pending.get(key);
    if (pending === undefined) this.#pending.set(key, { lines: [line], source });
    else pending.lines.push(line);
    this.#pendingBytes += line.length;
    if (this.#pendingBytes >= BATCH_BYTES) this.flush();
  }

  /** Writes what is still in memory. */
  flush(): void {
    const pieces: Buffer[] = [];
    for (const [key, { lines, source }] of this.#pending) {
      const bytes = Buffer.from(`${lines.join("\n")}\n`, "utf8");
      const trace = this.#traces.idOf(key.slice(key.indexOf(" ") + 1));
      const head = Buffer.alloc(HEAD);
      head.writeBigUInt64LE(this.#last.get(trace));
      head.writeUInt32LE(source, 8);
      head.writeUInt32LE(bytes.length, 12);
      this.#last.set(trace, BigInt(this.#end) + 1n);
      this.#end += HEAD + bytes.length;
      pieces.push(head, bytes);
    }
    this.#pending = new Map();
    this.#pendingBytes = 0;
    const all = Buffer.concat(pieces);
    for (let at = 0; at < all.length; ) at += writeSync(this.#fd, all, at, all.length - at);
  }

  /** The spans of a trace, in the order in which they came. */
  read(traceId: string): SourcedSpan[] {
    this.flush();
    const pieces: (readonly SourcedSpan[])[] = [];
    for (let last = this.#last.get(this.#traces.find(traceId)); last > 0n; ) {
      const piece = this.#piece(Number(last - 1n));
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

  #piece(from: number): { before: bigint; spans: SourcedSpan[]; end: number } {
    const head = this.#bytes(from, HEAD);
    const source = head.readUInt32LE(8);
    const length = head.readUInt32LE(12);
    const lines = this.#bytes(from + HEAD, length)
      .toString("utf8")
      .split("\n");
    const spans = lines
      .filter((line) => line !== "")
      .map((line) => ({ span: spanIn(line), source }));
    return { before: head.readBigUInt64LE(), spans, end: from + HEAD + length };
  }

  #bytes(from: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; ) {
      const came = readSync(this.#fd, bytes, at, length - at, from + at);
      if (came === 0) throw new Error(`${this.#path}: expected ${length} bytes at ${from}`);
      at += came;
    }
    return bytes;
  }
}

/** A line that this process wrote. */
function spanIn(line: string): ViewSpan {
  const span: ViewSpan = JSON.parse(line);
  return span;
}
