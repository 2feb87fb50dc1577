import { join } from "node:path";
import type { FileLayer, LogFile } from "../../storage/file-layer.ts";
import { GrowingFile } from "../../storage/growing-file.ts";
import type { LineChunks } from "../../storage/line-chunks.ts";
import { writeFully } from "../../storage/write-fully.ts";
import { CommitChain } from "./commit-chain.ts";
import { segmentName } from "./log-directory.ts";
import { type Commit, commitText, headerText } from "./log-line.ts";

/** The segment that is being written. */
export interface OpenSegment {
  readonly number: number;
  readonly file: LogFile;
  /** Offset behind the last commit. */
  readonly size: number;
  readonly last: Commit;
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
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #chain: CommitChain;
  #number: number;
  #file: GrowingFile;

  constructor(segment: OpenSegment, options: JournalOptions) {
    this.#options = options;
    this.#chain = new CommitChain(segment.last);
    this.#number = segment.number;
    this.#file = new GrowingFile(segment.file, segment.size, options.durable);
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
    if (this.#file.size >= this.#options.segmentBytes) await this.#startNext();
    for (const hash of hashes) this.#chain.cover(hash);
    const made = this.#chain.next();
    lines.add(commitText(made, hashes.length, false));
    try {
      await this.#file.append(lines.parts());
    } catch (error) {
      this.#chain.continueFrom(this.#chain.last);
      // Repaired now if it can be, and a file that is not to be trusted any more replaced.
      await this.#makeReady().catch(() => {});
      throw error;
    }
    this.#chain.continueFrom(made);
  }

  async close(): Promise<void> {
    await this.#makeReady().catch(() => {});
    await this.#file.close();
  }

  /** Makes good what a failure has left; a file of which a sync failed is replaced by the next. */
  async #makeReady(): Promise<void> {
    if (!(await this.#file.repaired())) await this.#startNext();
  }

  async #startNext(): Promise<void> {
    const { directory, durable, files, onSealed } = this.#options;
    const number = this.#number + 1;
    const header = Buffer.from(`${headerText(number, this.#chain.last)}\n`);
    // A file of this name is what an attempt before has left: nothing was ever written behind it.
    const file = await files.open(join(directory, segmentName(number)), "create");
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
    const sealed = { number: this.#number, bytes: this.#file.size, last: this.#chain.last };
    const old = this.#file;
    this.#number = number;
    this.#file = new GrowingFile(file, header.length, durable);
    const indexed = onSealed(sealed);
    await old.close().catch(() => {});
    await indexed;
  }
}
