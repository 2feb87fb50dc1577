import type { FileLayer, LogFile } from "./file-layer.ts";
import { orClosed, syncFile, writeFully } from "./file-writes.ts";

/** The start of a segment, in the log's format. */
export interface SegmentStart {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Bytes at its end that the first append replaces. */
  readonly trailing: number;
}

/** The parts of a log's format that segments need. The user defines the bytes and their meaning. */
export interface SegmentFormat {
  /** The start of the next segment. */
  nextStart(): SegmentStart;
  /**
   * Called when the next segment has replaced the current one.
   *
   * @param sealedBytes size of the replaced segment.
   * @returns work to wait for. It must not reject.
   */
  started(sealedBytes: number): void | Promise<void>;
}

export interface SegmentedLogOptions {
  readonly files: FileLayer;
  readonly directory: string;
  /** Whether an append is on the disk when it returns, or only in the operating system. */
  readonly durable: boolean;
  /** A segment of this size or more is full. */
  readonly segmentBytes: number;
  readonly format: SegmentFormat;
}

/**
 * The repair that is needed after a failure, before the next write:
 *
 * - `cut`: there may be bytes behind the end.
 * - `spent`: a sync failed. The system may have dropped the bytes and may report success the next time. So nothing
 *   more may be written to this file.
 */
type Fault = "cut" | "spent";

/**
 * Writes to the last segment of a log, and begins the next. A failed append leaves the segment unchanged. The caller
 * waits for each call before the next one.
 */
export class SegmentedLog {
  readonly #options: SegmentedLogOptions;
  #file: LogFile;
  #size: number;
  #fault: Fault | undefined;
  #nextBegun = false;

  /** @param size end of the last segment's content. */
  constructor(file: LogFile, size: number, options: SegmentedLogOptions) {
    this.#options = options;
    this.#file = file;
    this.#size = size;
  }

  /** Offset behind the last successful append. Bytes before it do not change. */
  get size(): number {
    return this.#size;
  }

  /** Whether the segment has reached its size. */
  get isFull(): boolean {
    return this.#size >= this.#options.segmentBytes;
  }

  /** Whether the file of the next segment exists, perhaps without its start. Then the log does not end here. */
  get nextBegun(): boolean {
    return this.#nextBegun;
  }

  /**
   * Adds the parts, all or none. Each is requested when the one before is written, so that not all are in memory
   * together. Call {@link makeReady} before.
   *
   * @param trailing bytes at the end of the parts that the next append replaces.
   * @throws the system's error. Some parts may stand behind the end. Call {@link makeReady} at once, which cuts them
   *   off. Otherwise a crash could bring them back.
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

  /** Repairs after a failure. A file whose sync failed is replaced by the next segment. */
  async makeReady(): Promise<void> {
    const isUsable = this.#fault === undefined || (await this.#repair());
    if (!isUsable || this.#nextBegun) await this.startNext();
  }

  /** Seals the segment and begins the next. Call {@link makeReady} before. */
  async startNext(): Promise<void> {
    const { directory, durable, files, format } = this.#options;
    const { bytes, path, trailing } = format.nextStart();
    // An existing file of this name is from a failed attempt: nothing was written behind its start.
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

  /** @returns whether this file may still be written. `false` forever after a failed sync. */
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
 * The numbers of the files among some names, ascending. A name only counts if `nameOf` makes it of its number.
 * Otherwise one with more zeros would be a second file of the same number.
 */
export function numbersOf(names: readonly string[], nameOf: (number: number) => string): number[] {
  const numbers: number[] = [];
  for (const name of names) {
    const number = Number(/-(\d{1,16})\./.exec(name)?.[1]);
    if (Number.isSafeInteger(number) && nameOf(number) === name) numbers.push(number);
  }
  return numbers.sort((a, b) => a - b);
}
