import {
  ChunkPool,
  type CommitBatch,
  type FileLayer,
  LineChunks,
  type LogFile,
  SegmentedLog,
  type SegmentStart,
} from "../../audit/door.ts";
import { type NewLine, sharesFields } from "./log-line.ts";
import { holeText, recordText, sharedFields } from "./record.ts";
import { type Segment, type SegmentList, segmentPath } from "./segment-list.ts";

/** Lines of one append. */
export interface LineCall {
  readonly lines: readonly NewLine[];
  readonly arrivedMs: number;
  /** Offset of the first line after the write. */
  first: number;
}

export interface JournalWriterOptions {
  readonly files: FileLayer;
  readonly directory: string;
  readonly segments: SegmentList;
  /** A segment of this size or more is sealed before the next write. */
  readonly segmentBytes: number;
}

/** Encoded bytes in memory at a time. Longer lines exceed it. */
const ENCODED = 1024 * 1024;

/** Writes lines as records, followed by the end mark. One call at a time. */
export class JournalWriter {
  readonly #options: JournalWriterOptions;
  readonly #pool = new ChunkPool();
  readonly #log: SegmentedLog;
  #segment: Segment;

  constructor(active: Segment, file: LogFile, options: JournalWriterOptions) {
    this.#options = options;
    this.#segment = active;
    const format = { nextStart: () => this.#nextStart(), started: () => this.#started() };
    this.#log = new SegmentedLog(file, active.size, { ...options, durable: true, format });
  }

  /**
   * Writes lines with one sync, and returns when they are on the disk.
   *
   * @returns the offset of the first line.
   * @throws the system's error. None of the lines is in the journal then.
   */
  async write(calls: readonly LineCall[]): Promise<number> {
    await this.#log.makeReady();
    if (this.#log.isFull) await this.#log.startNext();
    const segment = this.#segment;
    const first = segment.end;
    const end = calls.reduce((sum, { lines }) => sum + lines.length, first);
    const mark = endMark(segment.first, end);
    try {
      await this.#log.append(this.#encoded(calls, first, mark), mark.length + 1);
    } catch (error) {
      await this.#markAgain().catch(() => {});
      throw error;
    }
    segment.size = this.#log.size;
    segment.end = end;
    return first;
  }

  /**
   * Writes the end mark if it is missing.
   *
   * @throws the system's error. Later writes work without the mark.
   */
  mark(): Promise<void> {
    const { end, first } = this.#segment;
    const line = Buffer.from(`${endMark(first, end)}\n`);
    return this.#log.append([line], line.length);
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  async #markAgain(): Promise<void> {
    await this.#log.makeReady();
    await this.mark();
  }

  *#encoded(
    calls: readonly LineCall[],
    write: number,
    mark: string,
  ): Generator<Uint8Array, void, void> {
    const chunks = new LineChunks(this.#pool);
    let before: NewLine | undefined;
    let shared = "";
    let offset = write;
    try {
      for (const { arrivedMs, lines } of calls) {
        for (const line of lines) {
          if (before === undefined || !sharesFields(line, before)) shared = sharedFields(line);
          before = line;
          chunks.add(recordText({ offset, write, arrivedMs }, shared, line.text));
          offset += 1;
          if (chunks.bytes < ENCODED) continue;
          yield* chunks.parts();
          chunks.release();
        }
      }
      chunks.add(mark);
      yield* chunks.parts();
    } finally {
      chunks.release();
    }
  }

  #nextStart(): SegmentStart {
    const { end } = this.#segment;
    const bytes = Buffer.from(`${endMark(end, end)}\n`);
    return { path: segmentPath(this.#options.directory, end), bytes, trailing: bytes.length };
  }

  #started(): void {
    const { end } = this.#segment;
    const path = segmentPath(this.#options.directory, end);
    this.#segment = { first: end, path, size: 0, end };
    this.#options.segments.add(this.#segment);
  }
}

export interface LineBatchOptions {
  readonly writer: JournalWriter;
  /** Whether each call gets its own write and sync. */
  readonly each: boolean;
  /** Called after each successful write, before its calls resolve. */
  readonly onWritten: (calls: readonly LineCall[]) => void;
}

/** Approximate memory of a line beside its text, in bytes. */
const AROUND = 128;

/** Maximum size of calls that share one write, in bytes. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** The appends of one write. */
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
    this.#options.onWritten(this.#calls);
  }
}

/** The mark states only that everything before the segment was on the disk when it was written. */
function endMark(first: number, end: number): string {
  return holeText(end, 0, first);
}
