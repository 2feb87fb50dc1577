import { join } from "node:path";
import { asError } from "../../events/door.ts";
import type { FileLayer, LogFile } from "../storage/file-layer.ts";
import type { LineChunks } from "../storage/line-chunks.ts";
import { SegmentedLog, type SegmentStart } from "../storage/segmented-log.ts";
import {
  type Commit,
  type CommitChain,
  commitText,
  headerText,
  type LogMark,
  markText,
} from "./commit-chain.ts";
import type { SegmentScan } from "./segment-scan.ts";
import { segmentName } from "./segment-store.ts";

/** The segment that is being written. */
export interface OpenSegment {
  readonly number: number;
  readonly file: LogFile;
  /** Offset behind the last commit. */
  readonly size: number;
  readonly scan: SegmentScan;
  /** This opening made the segment. Its header says that the log is open. */
  readonly isNew: boolean;
}

export interface SealedInfo {
  readonly number: number;
  readonly bytes: number;
  readonly last: Commit;
}

export interface LogWriterOptions {
  readonly files: FileLayer;
  readonly directory: string;
  /** Whether a write is on the disk when it returns, or only in the operating system. */
  readonly durable: boolean;
  /** A segment of this size or more is sealed before the next write. */
  readonly segmentBytes: number;
  /** Called when the next segment has replaced one. The writer waits for it. */
  readonly onSealed: (sealed: SealedInfo) => Promise<void>;
}

/**
 * Writes lines with the commit that covers them, and the marks. The caller waits for each call before the next one.
 *
 * The open mark is written before the first row, not at the opening. So a closed log stays closed if a process opens
 * it only to read, or dies before its first row. And a log opens on a full disk. The mark goes into the segment with
 * the close mark, even if that segment is full. Otherwise the log would look closed if the next segment were lost. If
 * the sync of the mark fails, the header of the next segment replaces it.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #chain: CommitChain;
  readonly #log: SegmentedLog;
  #number: number;
  /** The last mark of the log. */
  #mark: LogMark;
  /** The log has an open mark or a header of this opening. */
  #announced: boolean;

  constructor(segment: OpenSegment, options: LogWriterOptions) {
    this.#options = options;
    this.#chain = segment.scan.chain;
    const format = { nextStart: () => this.#nextStart(), started: this.#started.bind(this) };
    this.#log = new SegmentedLog(segment.file, segment.size, { ...options, format });
    this.#number = segment.number;
    this.#mark = segment.scan.mark;
    this.#announced = segment.isNew;
  }

  /** Number of the segment being written. */
  get segment(): number {
    return this.#number;
  }

  /** Offset behind the last commit. Bytes before it do not change. */
  get size(): number {
    return this.#log.size;
  }

  /**
   * Writes lines and the commit that covers them.
   *
   * @param hashes of the lines, in order.
   * @throws the system's error. Then none of the lines is in the log.
   */
  async write(lines: LineChunks, hashes: readonly string[]): Promise<void> {
    await this.#log.makeReady();
    await this.#announce();
    if (this.#log.isFull) await this.#log.startNext();
    for (const hash of hashes) this.#chain.cover(hash);
    const made = this.#chain.next();
    lines.add(commitText(made, hashes.length, false));
    await this.#append(lines.parts(), made);
  }

  /**
   * Writes the close mark if the log is open, and closes the file.
   *
   * @throws Error with the system's error as its cause, if the mark could not be written. The log is as after a
   *   crash.
   */
  async close(): Promise<void> {
    try {
      if (this.#mark === "open" || this.#log.nextBegun) await this.#writeCloseMark();
    } catch (cause) {
      throw closedWithoutMark(this.#options.directory, cause);
    } finally {
      await this.#log.close();
    }
  }

  async #writeCloseMark(): Promise<void> {
    await this.#log.makeReady();
    // Also without a row: it shows that the log was left open and opened again.
    await this.#announce();
    await this.#writeMark("closed");
  }

  async #announce(): Promise<void> {
    if (this.#announced) return;
    await this.#writeMark("open");
    this.#announced = true;
  }

  async #writeMark(mark: LogMark): Promise<void> {
    const made = this.#chain.next(mark);
    await this.#append([Buffer.from(`${markText(made, mark)}\n`)], made);
    this.#mark = mark;
  }

  async #append(parts: Iterable<Uint8Array>, made: Commit): Promise<void> {
    try {
      await this.#log.append(parts);
    } catch (error) {
      this.#chain.forget();
      await this.#log.makeReady().catch(() => {});
      throw error;
    }
    this.#chain.continueFrom(made);
  }

  #nextStart(): SegmentStart {
    const number = this.#number + 1;
    const bytes = Buffer.from(`${headerText(number, this.#chain.last)}\n`);
    return { path: join(this.#options.directory, segmentName(number)), bytes, trailing: 0 };
  }

  #started(bytes: number): Promise<void> {
    const last = this.#chain.last;
    const sealed = { number: this.#number, bytes, last };
    this.#number += 1;
    this.#chain.begin({ segment: this.#number, before: last });
    this.#mark = "open";
    this.#announced = true;
    return this.#options.onSealed(sealed);
  }
}

function closedWithoutMark(directory: string, cause: unknown): Error {
  const { message } = asError(cause);
  const what = `${directory}: the log is closed, but its close mark could not be written`;
  return new Error(`${what}: ${message}. No stored row is lost. Open it and close it again`, {
    cause,
  });
}
