import { checkWhole, MOST_LINE_BYTES } from "../../events/door.ts";
import { type ByteSource, BYTE_ORDER_MARK as MARK, startsWith, textBytes } from "./byte-source.ts";
import { type Charset, charsetOf, NdjsonLine, type OversizedPart } from "./ndjson-line.ts";

/** Longest line that is read whole, in bytes without its line end: 16 MiB. */
export const DEFAULT_MAX_LINE_BYTES = MOST_LINE_BYTES;

export interface NdjsonReaderOptions {
  /** Longest line that is read whole, in bytes. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined;
}

const NOTHING = Buffer.alloc(0);
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

type Part = NdjsonLine | OversizedPart;

/**
 * Reads lines: ended by LF or CRLF, the last with or without an end. Blank lines are left out, but
 * count; a byte order mark before a line is left out, as it stands in the middle of files that were put
 * together; gzip is decompressed. A line over the limit comes as {@link OversizedPart}s.
 *
 * Lines come in batches, one for each piece that the source gives, since waiting for every line costs
 * more than reading it. The lines are views: no byte is copied but those of a line cut by a boundary.
 *
 * @throws RangeError when `maxLineBytes` is no whole number from 1; what the source throws.
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
 * What {@link readNdjson} does once the bytes are text: for who has them so, or counts them.
 *
 * @param chunks text in UTF-8, as `textBytes` gives it.
 * @param onLines told after each chunk how many lines have ended, blank ones too, which come in no batch.
 * @throws RangeError when `maxLineBytes` is no whole number from 1; what the source or `onLines` throws.
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
  /** The start of a line whose end has not come: its first `#begunBytes` bytes. */
  #begun = NOTHING;
  #begunBytes = 0;
  /** Whether the line that has begun is over the limit, and its start was given away. */
  #oversized = false;

  constructor(maxLineBytes: number) {
    checkWhole(maxLineBytes, "maxLineBytes", 1);
    this.#maxLineBytes = maxLineBytes;
  }

  /** Lines that have ended. */
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

  /** The last line, where it has no line end. */
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
    // A line end of two bytes may be among them.
    if (this.#begunBytes <= this.#maxLineBytes + 1) return;
    parts.push({ oversized: true, line: this.#line, bytes: this.#takeBegun(), last: false });
    this.#oversized = true;
  }

  #append(bytes: Buffer): void {
    const needed = this.#begunBytes + bytes.length;
    if (needed > this.#begun.length) {
      // Twice the need, so that a source of tiny pieces does not copy the start for each.
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

  /** @param bytes the rest of the line that has begun, with its line end. */
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

  /** @param next index behind the line end, which the line may lack. */
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
