import type { FileLayer, LogFile } from "./file-layer.ts";
import { orClosed, syncFile, writeFully } from "./file-writes.ts";

/** How a segment begins, in the format of the log. */
export interface SegmentStart {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** This many bytes at the end are replaced by the first append. */
  readonly trailing: number;
}

/** What a log's format defines for its segments; bytes and their meaning are the user's own. */
export interface SegmentFormat {
  /** The start of the segment behind the current one. */
  nextStart(): SegmentStart;
  /**
   * Called when the next segment has replaced the current one.
   *
   * @param sealedBytes size of the one before.
   * @returns work to wait for, which must not reject.
   */
  started(sealedBytes: number): void | Promise<void>;
}

export interface SegmentedLogOptions {
  readonly files: FileLayer;
  readonly directory: string;
  /** Whether an append is on the disk when it returns, or only with the system. */
  readonly durable: boolean;
  /** A segment of this size or more is full. */
  readonly segmentBytes: number;
  readonly format: SegmentFormat;
}

/**
 * What the last failure has left to repair before anything is written again:
 *
 * - `cut`: bytes may stand behind the end.
 * - `spent`: a sync failed. The system may have dropped what it could not write and report success the
 *   next time, so nothing more may go into this file.
 */
type Fault = "cut" | "spent";

/**
 * Writes to the last segment of a log, and begins the next. An append that fails leaves the segment as it was. One
 * call at a time: the caller waits for each.
 */
export class SegmentedLog {
  readonly #options: SegmentedLogOptions;
  #file: LogFile;
  #size: number;
  #fault: Fault | undefined;
  #nextBegun = false;

  /** @param size where the content of the last segment ends. */
  constructor(file: LogFile, size: number, options: SegmentedLogOptions) {
    this.#options = options;
    this.#file = file;
    this.#size = size;
  }

  /** Offset behind the last append that succeeded: what stands before it does not change. */
  get size(): number {
    return this.#size;
  }

  /** The segment has reached its size. */
  get isFull(): boolean {
    return this.#size >= this.#options.segmentBytes;
  }

  /** The file of the next segment exists, perhaps without its start: the log does not end here any more. */
  get nextBegun(): boolean {
    return this.#nextBegun;
  }

  /**
   * Adds the parts, all or none. Each is asked for once the one before is written, so that they need
   * not be in memory together. Call {@link makeReady} before.
   *
   * @param trailing bytes at the end of the parts that the next append replaces.
   * @throws the system's error. What was written of the parts stands behind the end until
   *   {@link makeReady} has cut it off. Call it at once, so that a crash does not bring back what was
   *   refused.
   */
  async append(parts: Iterable<Uint8Array>, trailing = 0): Promise<void> {
    this.#fault = "cut";
    let position = this.#size;
    for (const part of parts) position = await writeFully(this.#file, part, position);
    this.#fault = "spent";
    if (this.#options.durable) await this.#file.sync();
    this.#size = position - trailing;
    this.#fault = undefined;
  }

  /** Repairs what a failure has left. A file of which a sync failed is replaced by the next. */
  async makeReady(): Promise<void> {
    const isUsable = this.#fault === undefined || (await this.#repair());
    if (!isUsable || this.#nextBegun) await this.startNext();
  }

  /** Seals the segment, which {@link makeReady} has left without a fault behind its end, and begins the next. */
  async startNext(): Promise<void> {
    const { directory, durable, files, format } = this.#options;
    const { bytes, path, trailing } = format.nextStart();
    // A file of this name is what an attempt before has left: nothing was ever written behind its start.
    const file = await files.open(path, "create");
    this.#nextBegun = true;
    await orClosed(file, writeFully(file, bytes, 0));
    if (durable) await orClosed(file, syncFile(file, files, directory));
    const old = this.#file;
    const sealedBytes = this.#size;
    this.#file = file;
    this.#size = bytes.length - trailing;
    this.#fault = undefined;
    this.#nextBegun = false;
    const started = format.started(sealedBytes);
    await old.close().catch(() => {});
    await started;
  }

  async close(): Promise<void> {
    if (this.#fault !== undefined) await this.#repair().catch(() => {});
    await this.#file.close();
  }

  /** @returns whether more may be written to this file; `false` for ever after a sync has failed. */
  async #repair(): Promise<boolean> {
    await this.#file.truncate(this.#size);
    if (this.#fault === "spent") return false;
    this.#fault = "spent";
    if (this.#options.durable) await this.#file.sync();
    this.#fault = undefined;
    return true;
  }
}

/**
 * The numbers of the files among some names, ascending. Only names that `nameOf` makes of their number
 * count: one with more zeros would be a second file of the same number.
 */
export function numbersOf(names: readonly string[], nameOf: (number: number) => string): number[] {
  const numbers: number[] = [];
  for (const name of names) {
    const number = Number(/-(\d{1,16})\./.exec(name)?.[1]);
    if (Number.isSafeInteger(number) && nameOf(number) === name) numbers.push(number);
  }
  return numbers.sort((a, b) => a - b);
}
