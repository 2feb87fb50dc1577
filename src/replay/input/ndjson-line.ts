import { isAscii, isUtf8 } from "node:buffer";

/** The known charset of a line's bytes. */
export type Charset = "ascii" | "utf-8" | "not checked";

/** The charset of a piece of bytes: one check for many lines. */
export function charsetOf(bytes: Buffer): Charset {
  if (isAscii(bytes)) return "ascii";
  return isUtf8(bytes) ? "utf-8" : "not checked";
}

/** One line: a view of the bytes that were read. */
export class NdjsonLine {
  readonly oversized = false;
  /** Number of the line, from 1. Blank lines count. */
  readonly line: number;
  readonly #chunk: Buffer;
  readonly #start: number;
  readonly #end: number;
  readonly #next: number;
  readonly #charset: Charset;

  /**
   * @param end index behind the line's own bytes in `chunk`.
   * @param next index behind its line end. Equals `end` if it has none.
   */
  constructor(
    line: number,
    chunk: Buffer,
    start: number,
    end: number,
    next: number,
    charset: Charset,
  ) {
    this.line = line;
    this.#chunk = chunk;
    this.#start = start;
    this.#end = end;
    this.#next = next;
    this.#charset = charset;
  }

  /** The line as text without its line end. `undefined` if it is not valid UTF-8. */
  get text(): string | undefined {
    // Latin-1 is the fastest, and equals ASCII below 128.
    if (this.#charset === "ascii") return this.#chunk.toString("latin1", this.#start, this.#end);
    if (this.#charset === "utf-8" || isUtf8(this.#chunk.subarray(this.#start, this.#end))) {
      return this.#chunk.toString("utf8", this.#start, this.#end);
    }
    return undefined;
  }

  /** The unchanged line, with its line end. */
  get bytes(): Buffer {
    return this.#chunk.subarray(this.#start, this.#next);
  }
}

/**
 * A part of a line over the limit. Such a line is not held in memory. Its bytes come in parts, so that they can be
 * copied.
 */
export interface OversizedPart {
  readonly oversized: true;
  readonly line: number;
  /** The part's bytes. The last part includes the line end. May be empty. */
  readonly bytes: Buffer;
  readonly last: boolean;
}
