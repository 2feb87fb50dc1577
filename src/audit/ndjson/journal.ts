import { join } from "node:path";
import type { FileLayer, LogFile } from "../../storage/file-layer.ts";
import { GrowingFile } from "../../storage/growing-file.ts";
import type { LineChunks } from "../../storage/line-chunks.ts";
import { asError } from "../../storage/system-error.ts";
import { writeFully } from "../../storage/write-fully.ts";
import type { CommitChain } from "./commit-chain.ts";
import { segmentName } from "./log-directory.ts";
import {
  type Commit,
  commitText,
  headerText,
  LOG_VERSION,
  type LogMark,
  markText,
} from "./log-line.ts";

/** The segment that is being written. */
export interface OpenSegment {
  readonly number: number;
  readonly file: LogFile;
  /** Offset behind the last commit. */
  readonly size: number;
  /** Goes on behind the last commit. */
  readonly chain: CommitChain;
  readonly version: number;
  /** What the segment says last: nothing where it has no marks. */
  readonly mark: LogMark | undefined;
  /** Made by this opening: its header says that the log is open. */
  readonly isNew: boolean;
}

export interface SealedInfo {
  readonly number: number;
  readonly bytes: number;
  readonly last: Commit;
}

export interface JournalOptions {
  readonly files: FileLayer;
  readonly directory: string;
  /** Whether a write is on the disk when it returns, or only with the system. */
  readonly durable: boolean;
  /** A segment of this size or more is sealed before the next write. */
  readonly segmentBytes: number;
  /** Told in the moment a segment was replaced by the next; may go on with work of its own. */
  readonly onSealed: (sealed: SealedInfo) => Promise<void>;
}

/**
 * Writes lines and their commit to the current segment, and leaves the file as it was when that
 * fails. One write at a time: the caller waits for each.
 *
 * The open mark is written before the first row and not at the opening. So whoever opens a log to read it, or dies
 * before a row, leaves it closed as it was, and a disk without room keeps nobody from opening it. It goes into the
 * segment with the close mark even when that one is full: else the log would seem closed there without the next
 * segment. Only where its sync fails, the next segment's header stands for it.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #chain: CommitChain;
  #number: number;
  #file: GrowingFile;
  #version: number;
  /** What the log says last. */
  #mark: LogMark | undefined;
  /** The log says that this opening has it open. */
  #announced: boolean;
  /** The next segment's file is there, perhaps without its header: the log does not end here any more. */
  #nextBegun = false;

  constructor(segment: OpenSegment, options: JournalOptions) {
    this.#options = options;
    this.#chain = segment.chain;
    this.#number = segment.number;
    this.#file = new GrowingFile(segment.file, segment.size, options.durable);
    this.#version = segment.version;
    this.#mark = segment.mark;
    this.#announced = segment.isNew;
  }

  /** Number of the segment being written. */
  get segment(): number {
    return this.#number;
  }

  /** Offset behind the last commit: what stands before it does not change. */
  get size(): number {
    return this.#file.size;
  }

  /**
   * Writes lines and the commit that covers them.
   *
   * @param hashes of the lines, in order.
   * @throws the system's error; nothing of the lines is in the log then.
   */
  async write(lines: LineChunks, hashes: readonly string[]): Promise<void> {
    await this.#makeReady();
    await this.#announce();
    if (this.#file.size >= this.#options.segmentBytes) await this.#startNext();
    else await this.#leaveOldVersion();
    for (const hash of hashes) this.#chain.cover(hash);
    const made = this.#chain.next();
    lines.add(commitText(made, hashes.length, false));
    await this.#append(lines.parts(), made);
  }

  /**
   * Says in the log that it is closed, where it is open, and closes the file.
   *
   * @throws Error when the mark could not be written, with the system's as its cause: the log is as a crash leaves it.
   */
  async close(): Promise<void> {
    try {
      if (this.#mark === "open" || this.#nextBegun) await this.#writeCloseMark();
    } catch (cause) {
      throw closedWithoutMark(this.#options.directory, cause);
    } finally {
      await this.#file.close();
    }
  }

  async #writeCloseMark(): Promise<void> {
    await this.#makeReady();
    // Also without a row: a log that was left open stays known as one that was opened again so.
    await this.#announce();
    await this.#leaveOldVersion();
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
      await this.#file.append(parts);
    } catch (error) {
      this.#chain.forget();
      // Repaired now if it can be, and a file that is not to be trusted any more replaced.
      await this.#makeReady().catch(() => {});
      throw error;
    }
    this.#chain.continueFrom(made);
  }

  /** Makes good what a failure has left; a file of which a sync failed is replaced by the next. */
  async #makeReady(): Promise<void> {
    if (!(await this.#file.repaired()) || this.#nextBegun) await this.#startNext();
  }

  /** Rows go into a segment of which an older version can tell that it does not know the format. */
  async #leaveOldVersion(): Promise<void> {
    if (this.#version < LOG_VERSION) await this.#startNext();
  }

  async #startNext(): Promise<void> {
    const { directory, durable, files, onSealed } = this.#options;
    const number = this.#number + 1;
    const before = this.#chain.last;
    const header = Buffer.from(`${headerText(number, before)}\n`);
    // A file of this name is what an attempt before has left: nothing was ever written behind it.
    const file = await files.open(join(directory, segmentName(number)), "create");
    this.#nextBegun = true;
    try {
      await writeFully(file, header, 0);
      if (durable) {
        await file.sync();
        await files.syncDirectory(directory);
      }
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    const sealed = { number: this.#number, bytes: this.#file.size, last: before };
    const old = this.#file;
    this.#number = number;
    this.#nextBegun = false;
    this.#file = new GrowingFile(file, header.length, durable);
    this.#chain.begin({ segment: number, version: LOG_VERSION, before });
    this.#version = LOG_VERSION;
    this.#mark = "open";
    this.#announced = true;
    const indexed = onSealed(sealed);
    await old.close().catch(() => {});
    await indexed;
  }
}

function closedWithoutMark(directory: string, cause: unknown): Error {
  const { message } = asError(cause);
  const what = `${directory}: the log is closed, but its close mark could not be written`;
  return new Error(`${what}: ${message}. No stored row is lost. Open it and close it again`, {
    cause,
  });
}
