import type { CommitBatch } from "../../storage/commit-queue.ts";
import type { JournalWriter } from "./journal-writer.ts";
import type { NewLine } from "./log-line.ts";

/** Longest text of a line that the journal takes, in bytes of UTF-8: 64 MiB. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Longest tenant, dialect and key, in UTF-16 units. */
const MAX_NAME = 64 * 1024;

/** A line's share of a write besides its text, about. */
const AROUND = 128;

/**
 * @throws RangeError naming the line, from 0, and the field, when the journal could not give a line
 *   back as it came.
 */
export function checkLines(lines: readonly NewLine[]): void {
  for (const [index, { dialect, key, tenant, text }] of lines.entries()) {
    const place = `lines[${index}]`;
    if (text.includes("\n")) throw new RangeError(`${place}.text: expected no line feed in it`);
    // A UTF-16 unit takes at most three bytes: only very long lines are measured.
    if (text.length * 3 > MAX_TEXT_BYTES && Buffer.byteLength(text) > MAX_TEXT_BYTES) {
      throw new RangeError(`${place}.text: expected at most ${MAX_TEXT_BYTES} bytes`);
    }
    for (const [field, value] of Object.entries({ dialect, key, tenant })) {
      if (value === undefined || value.length <= MAX_NAME) continue;
      throw new RangeError(`${place}.${field}: expected at most ${MAX_NAME} characters`);
    }
  }
}

/** Lines of one append. */
export interface LineCall {
  readonly lines: readonly NewLine[];
  readonly arrivedMs: number;
  /** Offset of the first line, once it is written. */
  first: number;
}

export interface LineBatchOptions {
  readonly writer: JournalWriter;
  /** Each call gets a write and a sync of its own. */
  readonly each: boolean;
  /** Called after each successful write, before its calls resolve. */
  readonly onWritten: () => void;
}

/** Calls go together into one write up to this many bytes. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Appends of one write. */
export class LineBatch implements CommitBatch<LineCall> {
  readonly #options: LineBatchOptions;
  readonly #calls: LineCall[] = [];
  #bytes = 0;

  constructor(options: LineBatchOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  hasRoomFor(): boolean {
    return !this.#options.each && this.#bytes < BATCH_BYTES;
  }

  add(call: LineCall): void {
    this.#calls.push(call);
    for (const { text } of call.lines) this.#bytes += text.length + AROUND;
  }

  async write(): Promise<void> {
    let first = await this.#options.writer.write(this.#calls);
    for (const call of this.#calls) {
      call.first = first;
      first += call.lines.length;
    }
    this.#options.onWritten();
  }
}
