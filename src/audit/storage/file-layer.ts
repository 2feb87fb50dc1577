/** Held while a log is open for writing. */
export interface DirectoryLock {
  /** Releases the directory. A second call does nothing. */
  release(): Promise<void>;
}

/**
 * The holder of a directory's lock. `alive`: a living process. `none`: no living process. `unknown`: the system gave
 * no clear answer.
 */
export type LockHolder = "alive" | "none" | "unknown";

/** An open file. Positions and sizes are in bytes; every method rejects with the system's error. */
export interface LogFile {
  /** Reads at most the buffer's length and returns the number of bytes: 0 at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Writes and returns the number of bytes written, which may be fewer than given. */
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
 * - `create`: a new file, to read and write. An existing file is emptied.
 */
export type OpenMode = "read" | "update" | "create";

/**
 * All disk access of a log. The default is Node's file system. A test can replace it by one that fails or loses bytes
 * that were not synced.
 */
export interface FileLayer {
  /** Makes the directory and its missing parents. They are on the disk when it returns. */
  makeDirectory(path: string): Promise<void>;
  /** Names in a directory, in any order. None if it does not exist. */
  list(directory: string): Promise<readonly string[]>;
  /** `undefined` if the file to `read` or `update` does not exist. */
  open(path: string, mode: "create"): Promise<LogFile>;
  open(path: string, mode: OpenMode): Promise<LogFile | undefined>;
  rename(from: string, to: string): Promise<void>;
  /** Returns once the names in the directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
  /** @throws Error if another log has the directory locked. */
  lock(directory: string): Promise<DirectoryLock>;
  /** The holder of the directory's lock. Changes nothing, and never rejects. */
  lockHolder(directory: string): Promise<LockHolder>;
}

/** A file layer for logs that delete old files. An audit log never does. */
export interface RemovingFileLayer extends FileLayer {
  /** Removes a file. Does nothing if it does not exist. */
  remove(path: string): Promise<void>;
}
