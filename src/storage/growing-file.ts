import type { LogFile } from "./file-layer.ts";
import { writeFully } from "./write-fully.ts";

/**
 * What the last failure has left to repair before anything is written again:
 *
 * - `cut`: bytes may stand behind the end.
 * - `spent`: a sync failed. The system may have dropped what it could not write and report success the
 *   next time, so nothing more may go into this file.
 */
type Fault = "cut" | "spent";

/** A file that only grows, and is made again what it was when that fails. One call at a time. */
export class GrowingFile {
  readonly #file: LogFile;
  readonly #durable: boolean;
  #size: number;
  #fault: Fault | undefined;

  /**
   * @param size where its content ends.
   * @param durable whether a write is on the disk when it returns, or only with the system.
   */
  constructor(file: LogFile, size: number, durable: boolean) {
    this.#file = file;
    this.#size = size;
    this.#durable = durable;
  }

  /** Offset behind the last write that succeeded: what stands before it does not change. */
  get size(): number {
    return this.#size;
  }

  /**
   * Adds the parts, all or none. They are asked for one after the other, each once the one before
   * is written, so that they need not be in memory together.
   *
   * @param trailing bytes at the end of the parts in whose place the next parts come.
   * @throws the system's error. What was written of the parts stands behind the end until
   *   {@link repaired} has cut it off, best at once, so that a crash does not bring back what was
   *   refused.
   */
  async append(parts: Iterable<Uint8Array>, trailing = 0): Promise<void> {
    this.#fault = "cut";
    let position = this.#size;
    for (const part of parts) position = await writeFully(this.#file, part, position);
    this.#fault = "spent";
    if (this.#durable) await this.#file.sync();
    this.#size = position - trailing;
    this.#fault = undefined;
  }

  /**
   * To be asked before each {@link append}: makes good what a failure has left.
   *
   * @returns whether more may be written to this file; `false` for ever after a sync has failed.
   */
  async repaired(): Promise<boolean> {
    if (this.#fault === undefined) return true;
    await this.#file.truncate(this.#size);
    if (this.#fault === "spent") return false;
    this.#fault = "spent";
    if (this.#durable) await this.#file.sync();
    this.#fault = undefined;
    return true;
  }

  async close(): Promise<void> {
    await this.repaired().catch(() => {});
    await this.#file.close();
  }
}
