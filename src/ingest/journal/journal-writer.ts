import type { FileLayer, LogFile } from "../../storage/file-layer.ts";
import { GrowingFile } from "../../storage/growing-file.ts";
import { ChunkPool, LineChunks } from "../../storage/line-chunks.ts";
import { orClosed } from "../../storage/or-closed.ts";
import { writeFully } from "../../storage/write-fully.ts";
import type { LineCall } from "./line-batch.ts";
import type { NewLine } from "./log-line.ts";
import { holeText, recordText, sharedFields } from "./record.ts";
import { type Segment, segmentPath } from "./segment.ts";
import type { SegmentList } from "./segment-list.ts";

export interface JournalWriterOptions {
  readonly files: FileLayer;
  readonly directory: string;
  readonly segments: SegmentList;
  /** A segment of this size or more is sealed before the next write. */
  readonly segmentBytes: number;
}

/** Encoded bytes in memory at a time, but for a longer line. */
const ENCODED = 1024 * 1024;

/** Writes to the last segment, and begins the next. One write at a time. */
export class JournalWriter {
  readonly #options: JournalWriterOptions;
  readonly #pool = new ChunkPool();
  #segment: Segment;
  #file: GrowingFile;

  constructor(active: Segment, file: LogFile, options: JournalWriterOptions) {
    this.#options = options;
    this.#segment = active;
    this.#file = new GrowingFile(file, active.size, true);
  }

  /**
   * Writes lines with one sync, and returns when they are on the disk.
   *
   * @returns the offset of the first.
   * @throws the system's error; nothing of the lines is in the journal then.
   */
  async write(arrivals: readonly LineCall[]): Promise<number> {
    await this.#makeReady();
    if (this.#file.size >= this.#options.segmentBytes) await this.#startNext();
    const segment = this.#segment;
    const first = segment.end;
    const end = arrivals.reduce((sum, { lines }) => sum + lines.length, first);
    const mark = endMark(segment.first, end);
    try {
      await this.#file.append(this.#encoded(arrivals, first, mark), mark.length + 1);
    } catch (error) {
      await this.#markAgain().catch(() => {});
      throw error;
    }
    segment.size = this.#file.size;
    segment.end = end;
    return first;
  }

  /**
   * Writes the end mark where it is missing.
   *
   * @throws the system's error; the next write is none the worse for it.
   */
  mark(): Promise<void> {
    const { end, first } = this.#segment;
    const line = Buffer.from(`${endMark(first, end)}\n`);
    return this.#file.append([line], line.length);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Makes good what a failure has left; a file of which a sync failed is replaced by the next. */
  async #makeReady(): Promise<void> {
    if (!(await this.#file.repaired())) await this.#startNext();
  }

  async #markAgain(): Promise<void> {
    await this.#makeReady();
    await this.mark();
  }

  *#encoded(
    arrivals: readonly LineCall[],
    write: number,
    mark: string,
  ): Generator<Uint8Array, void, void> {
    const chunks = new LineChunks(this.#pool);
    let before: NewLine | undefined;
    let shared = "";
    let offset = write;
    try {
      for (const { arrivedMs, lines } of arrivals) {
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

  async #startNext(): Promise<void> {
    const { directory, files, segments } = this.#options;
    const first = this.#segment.end;
    const path = segmentPath(directory, first);
    // A file of this name is empty: an attempt before has left it, or nothing came into it.
    const file = await files.open(path, "create");
    await orClosed(file, writeFully(file, Buffer.from(`${endMark(first, first)}\n`), 0));
    await orClosed(file, file.sync());
    await orClosed(file, files.syncDirectory(directory));
    const old = this.#file;
    this.#segment = { first, path, size: 0, end: first };
    this.#file = new GrowingFile(file, 0, true);
    segments.add(this.#segment);
    await old.close().catch(() => {});
  }
}

/** It claims no more than that all before the segment was on the disk when it was written. */
function endMark(first: number, end: number): string {
  return holeText(end, 0, first);
}

function sharesFields(a: NewLine, b: NewLine): boolean {
  return (
    a.tenant === b.tenant && a.dialect === b.dialect && a.key === b.key && a.trusted === b.trusted
  );
}
