import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import type { ViewSpan } from "../format.ts";
import { CountColumn, NumberColumn } from "./columns.ts";
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

/**
 * Spans in one file, as JSON lines. In memory is only where the pieces of each trace are: 20 bytes a piece.
 *
 * It is written and read synchronously: in pieces of a few MB, to a file that the system keeps in its cache.
 */
export class SpanSpool {
  readonly #path: string;
  readonly #fd: number;
  readonly #traces: TextTable;
  #end = 0;
  #pieces = 0;
  readonly #offset = new NumberColumn();
  readonly #length = new CountColumn();
  readonly #source = new CountColumn();
  /** Piece of the same trace before it, plus 1. */
  readonly #before = new CountColumn();
  /** Last piece of each trace, plus 1. */
  readonly #last = new CountColumn();
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
      this.#note(key.slice(key.indexOf(" ") + 1), bytes.length, source);
      pieces.push(bytes);
    }
    this.#pending = new Map();
    this.#pendingBytes = 0;
    const all = Buffer.concat(pieces);
    for (let at = 0; at < all.length; ) at += writeSync(this.#fd, all, at, all.length - at);
  }

  /** The spans of a trace, in the order in which they came. */
  read(traceId: string): SourcedSpan[] {
    this.flush();
    const pieces: number[] = [];
    let piece = this.#last.get(this.#traces.find(traceId));
    for (; piece > 0; piece = this.#before.get(piece)) pieces.push(piece);
    return pieces.reverse().flatMap((number) => this.#spansOf(number));
  }

  /** All spans, in the order in which they came. */
  *all(): Generator<SourcedSpan> {
    this.flush();
    for (let piece = 1; piece <= this.#pieces; piece += 1) yield* this.#spansOf(piece);
  }

  close(): void {
    closeSync(this.#fd);
    rmSync(this.#path, { force: true });
  }

  #note(traceId: string, length: number, source: number): void {
    const trace = this.#traces.idOf(traceId);
    this.#pieces += 1;
    this.#offset.set(this.#pieces, this.#end);
    this.#length.set(this.#pieces, length);
    this.#source.set(this.#pieces, source);
    this.#before.set(this.#pieces, this.#last.get(trace));
    this.#last.set(trace, this.#pieces);
    this.#end += length;
  }

  #spansOf(piece: number): SourcedSpan[] {
    const bytes = Buffer.alloc(this.#length.get(piece));
    const from = this.#offset.get(piece) ?? 0;
    for (let at = 0; at < bytes.length; ) {
      const came = readSync(this.#fd, bytes, at, bytes.length - at, from + at);
      if (came === 0) throw new Error(`${this.#path}: expected ${bytes.length} bytes at ${from}`);
      at += came;
    }
    const source = this.#source.get(piece);
    return bytes
      .toString("utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({ span: spanIn(line), source }));
  }
}

/** A line that this process wrote. */
function spanIn(line: string): ViewSpan {
  const span: ViewSpan = JSON.parse(line);
  return span;
}
