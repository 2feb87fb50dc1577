import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { DirectoryLock, FileLayer } from "./file-layer.ts";
import { takeRoom } from "./file-writes.ts";

/** More bytes than opening a log writes, apart from copies of incomplete writes. */
const RESERVE_BYTES = 64 * 1024;

/** Backups skip this name, as they skip locks. No file of a log has it. */
export function reservePath(directory: string): string {
  return join(directory, "lock-reserve");
}

/**
 * A locked directory of a log, with a reserve: a file that holds room on the disk for the next start. Opening a log
 * writes a little. Without a reserve, a full disk would prevent the start after a crash.
 */
export class LockedDirectory {
  readonly #directory: string;
  readonly #files: FileLayer;
  readonly #lock: DirectoryLock;
  /** Whether the reserve is missing or too small. False at first: the directory may be another log's. */
  #isMissing = false;

  private constructor(files: FileLayer, directory: string, lock: DirectoryLock) {
    this.#directory = directory;
    this.#files = files;
    this.#lock = lock;
  }

  /** @throws Error if another log has the directory locked; the system's error. */
  static async lock(files: FileLayer, directory: string): Promise<LockedDirectory> {
    return new LockedDirectory(files, directory, await files.lock(directory));
  }

  /** Opens the log. It may use the reserve's room, which is reserved again afterwards if possible. */
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

  /** Reserves room that is missing. Call it when there may be room again. */
  async reserve(): Promise<void> {
    if (!this.#isMissing) return;
    const path = reservePath(this.#directory);
    try {
      // Random bytes, so that no file system compresses them.
      await takeRoom(this.#files, path, randomBytes(RESERVE_BYTES), true);
      await this.#files.syncDirectory(this.#directory);
      this.#isMissing = false;
    } catch {
      // A partial reserve stays. It may be enough for the next start.
    }
  }

  /** Releases the directory. A second call does nothing. */
  async release(): Promise<void> {
    await this.reserve();
    await this.#lock.release();
  }

  /** @returns whether there was a reserve. Its name stays, because a full disk may have no room for a new name. */
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
      // If there is room, the log opens without its reserve.
      return false;
    }
  }
}
