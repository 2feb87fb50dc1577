import { checkWhole, MOST_LINE_BYTES } from "../../events/door.ts";
import { type ByteSource, BYTE_ORDER_MARK as MARK, startsWith, textBytes } from "./byte-source.ts";
import { type Charset, charsetOf, NdjsonLine, type OversizedPart } from "./ndjson-line.ts";

/** Longest line, in bytes without its line end: 16 MiB. */
export const DEFAULT_MAX_LINE_BYTES = MOST_LINE_BYTES;

export interface NdjsonReaderOptions {
  /** Longest line, in bytes. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined;
}

const NOTHING = Buffer.alloc(0);
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

type Part = NdjsonLine | OversizedPart;

/**
 * Reads lines that end with LF or CRLF; the last one needs no end. Blank lines are skipped but counted. A byte order
 * mark before any line is skipped: concatenated files have some in the middle. Gzip is decompressed. A line over the
 * limit comes as {@link OversizedPart}s.
 *
 * Lines come in one batch for each piece of the source, because awaiting every line costs more than reading it. Lines
 * are views. Only a line that is cut by a boundary of pieces is copied.
 *
 * @throws RangeError if `maxLineBytes` is not a whole number from 1; the errors of the source.
 *
 * @example
 * for await (const batch of readNdjson(process.stdin)) {
 *   for (const line of batch) if (!line.oversized) console.log(line.line, line.text);
 * }
 */
export function readNdjson(
  source: ByteSource,
  options: NdjsonReaderOptions = {},
): AsyncGenerator<readonly Part[], void, undefined> {
  return splitLines(textBytes(source), options);
}

/**
 * Splits text into lines as {@link readNdjson} does, without decompressing it.
 *
 * @param chunks UTF-8 text without a byte order mark, as from `textBytes`.
 * @param onLines called after each chunk with the number of lines that have ended, including blank lines.
 * @throws RangeError if `maxLineBytes` is not a whole number from 1; the errors of the source and of `onLines`.
 */
export function splitLines(
  chunks: AsyncIterable<Buffer>,
  options: NdjsonReaderOptions = {},
  onLines?: (ended: number) => void,
): AsyncGenerator<readonly Part[], void, undefined> {
  const splitter = new LineSplitter(options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES);
  return batches(chunks, splitter, onLines);
}

async function* batches(
  chunks: AsyncIterable<Buffer>,
  splitter: LineSplitter,
  onLines: ((ended: number) => void) | undefined,
): AsyncGenerator<readonly Part[], void, undefined> {
  for await (const chunk of chunks) {
    const batch = splitter.take(chunk);
    if (batch.length > 0) yield batch;
    onLines?.(splitter.ended);
  }
  const rest = splitter.end();
  if (rest.length > 0) yield rest;
}

class LineSplitter {
  readonly #maxLineBytes: number;
  #line = 1;
  /** The first `#begunBytes` bytes of a line that has not ended. */
  #begun = NOTHING;
  #begunBytes = 0;
  /** Whether the line that has begun is over the limit and its start was already given out. */
  #oversized = false;

  constructor(maxLineBytes: number) {
    checkWhole(maxLineBytes, "maxLineBytes", 1);
    this.#maxLineBytes = maxLineBytes;
  }

  /** Number of lines that have ended. */
  get ended(): number {
    return this.#line - 1;
  }

  take(chunk: Buffer): Part[] {
    const parts: Part[] = [];
    let end = chunk.indexOf(LINE_FEED);
    if (end === -1) {
      this.#begin(chunk, parts);
      return parts;
    }
    let start = 0;
    if (this.#begunBytes > 0 || this.#oversized) {
      this.#finish(chunk.subarray(0, end + 1), parts);
      start = end + 1;
      end = chunk.indexOf(LINE_FEED, start);
    }
    const whole = chunk.subarray(start, chunk.lastIndexOf(LINE_FEED) + 1);
    const charset = charsetOf(whole);
    for (; end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#give(chunk, start, end + 1, charset, parts);
      start = end + 1;
    }
    if (start < chunk.length) this.#begin(chunk.subarray(start), parts);
    return parts;
  }

  /** The last line, if it has no line end. */
  end(): Part[] {
    const parts: Part[] = [];
    if (this.#begunBytes > 0 || this.#oversized) this.#finish(NOTHING, parts);
    return parts;
  }

  #begin(bytes: Buffer, parts: Part[]): void {
    if (this.#oversized) {
      parts.push({ oversized: true, line: this.#line, bytes, last: false });
      return;
    }
    this.#append(bytes);
    // The bytes may include a line end of two bytes.
    if (this.#begunBytes <= this.#maxLineBytes + 1) return;
    parts.push({ oversized: true, line: this.#line, bytes: this.#takeBegun(), last: false });
    this.#oversized = true;
  }

  #append(bytes: Buffer): void {
    const needed = this.#begunBytes + bytes.length;
    if (needed > this.#begun.length) {
      // Twice the need: tiny pieces would otherwise copy the start each time.
      const larger = Buffer.allocUnsafe(this.#begunBytes === 0 ? needed : needed * 2);
      this.#begun.copy(larger, 0, 0, this.#begunBytes);
      this.#begun = larger;
    }
    bytes.copy(this.#begun, this.#begunBytes);
    this.#begunBytes = needed;
  }

  #takeBegun(): Buffer {
    const begun = this.#begun.subarray(0, this.#begunBytes);
    this.#begun = NOTHING;
    this.#begunBytes = 0;
    return begun;
  }

  /** @param bytes the rest of the line, with its line end. */
  #finish(bytes: Buffer, parts: Part[]): void {
    if (this.#oversized) {
      parts.push({ oversized: true, line: this.#line, bytes, last: true });
      this.#oversized = false;
      this.#line += 1;
      return;
    }
    this.#append(bytes);
    const line = this.#takeBegun();
    this.#give(line, 0, line.length, charsetOf(line), parts);
  }

  /** @param next index behind the line end. The last line may lack one. */
  #give(chunk: Buffer, from: number, next: number, charset: Charset, parts: Part[]): void {
    const marked = chunk[from] === MARK[0] && startsWith(chunk, MARK, from);
    const start = marked ? from + MARK.length : from;
    let end = next;
    if (end > start && chunk[end - 1] === LINE_FEED) end -= 1;
    if (end > start && chunk[end - 1] === CARRIAGE_RETURN) end -= 1;
    const line = this.#line;
    this.#line += 1;
    if (end - start > this.#maxLineBytes) {
      parts.push({ oversized: true, line, bytes: chunk.subarray(start, next), last: true });
    } else if (!isBlank(chunk, start, end)) {
      parts.push(new NdjsonLine(line, chunk, start, end, next, charset));
    }
  }
}

function isBlank(chunk: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = chunk[at];
    if (byte !== SPACE && byte !== TAB && byte !== CARRIAGE_RETURN) return false;
  }
  return true;
}
