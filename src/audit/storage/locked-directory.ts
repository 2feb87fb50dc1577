import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { DirectoryLock, FileLayer } from "./file-layer.ts";
import { takeRoom } from "./file-writes.ts";

/** More than opening a log writes, but for copies of what a crash left half written. In bytes. */
const RESERVE_BYTES = 64 * 1024;

/** Backups skip this name, as they skip locks, and no file of a log has it. */
export function reservePath(directory: string): string {
  return join(directory, "lock-reserve");
}

/**
 * The directory of a log that only this log writes to, with a reserve: a file that takes room on the disk
 * for the next start. Opening a log writes a little, so without a reserve a full disk would keep it from
 * starting after a crash.
 */
export class LockedDirectory {
  readonly #directory: string;
  readonly #files: FileLayer;
  readonly #lock: DirectoryLock;
  /** Nothing is reserved yet in what may be another log's directory. */
  #isMissing = false;

  private constructor(files: FileLayer, directory: string, lock: DirectoryLock) {
    this.#directory = directory;
    this.#files = files;
    this.#lock = lock;
  }

  /** @throws Error when another log has the directory locked; the system's error. */
  static async lock(files: FileLayer, directory: string): Promise<LockedDirectory> {
    return new LockedDirectory(files, directory, await files.lock(directory));
  }

  /** Opens the log. It may use the reserve's room, which is taken again as far as it is left. */
  async whileOpening<T>(open: () => Promise<T>): Promise<T> {
    this.#isMissing = await this.#giveUp();
    try {
      const opened = await open();
      this.#isMissing = true;
      return opened;
    } finally {
      await this.reserve();
    }
  }

  /** Takes what is missing of the reserve's room. Call it where there may be room again. */
  async reserve(): Promise<void> {
    if (!this.#isMissing) return;
    const path = reservePath(this.#directory);
    try {
      // Random, so that no file system stores it in less room than it has.
      await takeRoom(this.#files, path, randomBytes(RESERVE_BYTES), true);
      await this.#files.syncDirectory(this.#directory);
      this.#isMissing = false;
    } catch {
      // What there was room for stays: a part of it may do for the next start.
    }
  }

  /** Gives the directory free. Does nothing the second time. */
  async release(): Promise<void> {
    await this.reserve();
    await this.#lock.release();
  }

  /** @returns whether there was a reserve. Its name stays: a disk may have no room for further names. */
  async #giveUp(): Promise<boolean> {
    try {
      const file = await this.#files.open(reservePath(this.#directory), "update");
      if (file === undefined) return false;
      try {
        await file.truncate(0);
      } finally {
        await file.close();
      }
      return true;
    } catch {
      // The reserve is a help only: where there is room, the log opens without it.
      return false;
    }
  }
}
