/** Held for as long as a log is open for writing. */
export interface DirectoryLock {
  /** Gives the directory free. Does nothing the second time. */
  release(): Promise<void>;
}

/**
 * The holder of a directory's lock: `alive`, a living process; `none`, no process or one that is gone; `unknown`, where
 * the system did not say.
 */
export type LockHolder = "alive" | "none" | "unknown";

/** An open file. Positions and sizes are in bytes; every method rejects with the system's error. */
export interface LogFile {
  /** Reads at most the buffer's length and returns how many bytes came: 0 at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Writes and returns how many bytes were taken, which may be fewer than given. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** Returns once everything written is on the disk (`fdatasync`). */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/**
 * - `read`: an existing file, read only.
 * - `update`: an existing file, to read and write.
 * - `create`: a new file, to read and write; what was there before is gone.
 */
export type OpenMode = "read" | "update" | "create";

/**
 * Every access of a log to the disk. The default is Node's own file system; a test can put one in
 * its place that fails, or forgets what was not synced.
 */
export interface FileLayer {
  /** Makes the directory and those above it, on the disk when it returns. Existing ones are fine. */
  makeDirectory(path: string): Promise<void>;
  /** Names in a directory, in any order; none when it does not exist. */
  list(directory: string): Promise<readonly string[]>;
  /** `undefined` when the file to `read` or `update` does not exist. */
  open(path: string, mode: "create"): Promise<LogFile>;
  open(path: string, mode: OpenMode): Promise<LogFile | undefined>;
  rename(from: string, to: string): Promise<void>;
  /** Returns once the names in the directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
  /** @throws Error when another log has the directory locked. */
  lock(directory: string): Promise<DirectoryLock>;
  /** The holder of the directory's lock. Changes nothing, and never rejects. */
  lockHolder(directory: string): Promise<LockHolder>;
}

/** A layer for logs that may be forgotten in time. An audit log is given none: it never removes. */
export interface RemovingFileLayer extends FileLayer {
  /** Removes a file; one that is not there is fine. */
  remove(path: string): Promise<void>;
}
