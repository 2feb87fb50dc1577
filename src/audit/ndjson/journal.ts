import { join } from "node:path";
import { CommitChain } from "./commit-chain.ts";
import type { FileLayer, LogFile } from "./file-layer.ts";
import type { LineChunks } from "./line-chunks.ts";
import { segmentName } from "./log-directory.ts";
import { type Commit, commitText, headerText } from "./log-line.ts";
import { writeFully } from "./write-fully.ts";

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
 * What the last failure has left to repair before anything is written again:
 *
 * - `cut`: bytes may stand behind the last commit.
 * - `replace`: a sync failed. The system may have dropped what it could not write and report success
 *   the next time, so nothing more goes into this file.
 */
type Fault = "cut" | "replace";

/**
 * Writes lines and their commit to the current segment, and leaves the file as it was when that
 * fails. One write at a time: the caller waits for each.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #chain: CommitChain;
  #number: number;
  #file: LogFile;
  #size: number;
  #fault: Fault | undefined;

  constructor(segment: OpenSegment, options: JournalOptions) {
    this.#options = options;
    this.#chain = new CommitChain(segment.last);
    this.#number = segment.number;
    this.#file = segment.file;
    this.#size = segment.size;
  }

  /** Number of the segment being written. */
  get segment(): number {
    return this.#number;
  }

  /** Offset behind the last commit: what stands before it does not change. */
  get size(): number {
    return this.#size;
  }

  /**
   * Writes lines and the commit that covers them.
   *
   * @param hashes of the lines, in order.
   * @throws the system's error; nothing of the lines is in the log then.
   */
  async write(lines: LineChunks, hashes: readonly string[]): Promise<void> {
    await this.#repair();
    if (this.#size >= this.#options.segmentBytes) await this.#startNext();
    for (const hash of hashes) this.#chain.cover(hash);
    const made = this.#chain.next();
    lines.add(commitText(made, hashes.length, false));
    try {
      await this.#put(lines);
    } catch (error) {
      this.#chain.continueFrom(this.#chain.last);
      // Repaired now if it can be, so that a crash does not bring back what was refused.
      await this.#repair().catch(() => {});
      throw error;
    }
    this.#size += lines.bytes;
    this.#chain.continueFrom(made);
  }

  async close(): Promise<void> {
    await this.#repair().catch(() => {});
    await this.#file.close();
  }

  async #put(lines: LineChunks): Promise<void> {
    this.#fault = "cut";
    let position = this.#size;
    for (const part of lines.parts()) position = await writeFully(this.#file, part, position);
    this.#fault = "replace";
    if (this.#options.durable) await this.#file.sync();
    this.#fault = undefined;
  }

  async #repair(): Promise<void> {
    if (this.#fault === undefined) return;
    await this.#file.truncate(this.#size);
    if (this.#fault === "cut") {
      this.#fault = "replace";
      if (this.#options.durable) await this.#file.sync();
    } else {
      await this.#startNext();
    }
    this.#fault = undefined;
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
    const sealed = { number: this.#number, bytes: this.#size, last: this.#chain.last };
    const old = this.#file;
    this.#number = number;
    this.#file = file;
    this.#size = header.length;
    const indexed = onSealed(sealed);
    await old.close().catch(() => {});
    await indexed;
  }
}
