import { join } from "node:path";
import type { FileLayer, LogFile } from "./file-layer.ts";

/**
 * Writes all the bytes.
 *
 * @returns the offset behind them.
 * @throws the system's error, or one with the code `EIO` when the file takes no more bytes.
 */
export async function writeFully(
  file: LogFile,
  bytes: Uint8Array,
  position: number,
): Promise<number> {
  let written = 0;
  while (written < bytes.byteLength) {
    const taken = await file.write(bytes.subarray(written), position + written);
    if (taken <= 0) {
      const left = bytes.byteLength - written;
      throw Object.assign(new Error(`EIO: short write, ${left} bytes left`), { code: "EIO" });
    }
    written += taken;
  }
  return position + written;
}

/** The result of `work` on an open file. Closes the file if it fails. */
export async function orClosed<T>(file: LogFile, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
}

/** Returns when the content of a file and its name in the directory are on the disk. */
export async function syncFile(file: LogFile, files: FileLayer, directory: string): Promise<void> {
  await file.sync();
  await files.syncDirectory(directory);
}

/**
 * Writes a file under a draft's name, and renames it when it is complete and on the disk. A failed draft is emptied,
 * because a full disk may let it be tried again and again.
 *
 * @returns the result of `write`.
 */
export async function writeThroughDraft<T>(
  files: FileLayer,
  { draft, path }: { readonly draft: string; readonly path: string },
  write: (file: LogFile) => Promise<T>,
): Promise<T> {
  const file = await files.open(draft, "create");
  let written: T;
  try {
    written = await write(file);
    await file.sync();
  } catch (error) {
    await file.truncate(0).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
  await files.rename(draft, path);
  return written;
}

/** Opens a file unchanged, or a new one. Emptying it would give up its reserved room. */
export async function openAsIs(files: FileLayer, path: string): Promise<LogFile> {
  return (await files.open(path, "update")) ?? files.open(path, "create");
}

/**
 * Fills a file, so that overwriting it later needs no more room on the disk.
 *
 * @param durable whether the room must survive a power failure.
 */
export async function takeRoom(
  files: FileLayer,
  path: string,
  filling: Uint8Array,
  durable = false,
): Promise<void> {
  const file = await openAsIs(files, path);
  try {
    await writeFully(file, filling, 0);
    if (durable) await file.sync();
  } finally {
    await file.close();
  }
}

const CHUNK = 256 * 1024;

export interface SetAsideOptions {
  readonly files: FileLayer;
  /** Directory of the copy. It is made if it is missing. */
  readonly directory: string;
  /** Start of the copy's name. */
  readonly stem: string;
}

/**
 * Copies the bytes of a file from `from` to `to` into a new file. Call it before they are removed.
 *
 * @returns path of the copy, which is on the disk.
 */
export async function setAside(
  file: LogFile,
  from: number,
  to: number,
  { directory, files, stem }: SetAsideOptions,
): Promise<string> {
  await files.makeDirectory(directory);
  const copy = join(directory, await unusedName(files, directory, stem));
  const draft = join(directory, "draft.tmp");
  await writeThroughDraft(files, { draft, path: copy }, (target) =>
    copyBytes(file, from, to, target, 0),
  );
  await files.syncDirectory(directory);
  return copy;
}

/**
 * Copies the bytes of a file from `from` to `to` into another file at `position`.
 *
 * @returns the position behind them.
 * @throws Error if the file ends before `to`; the system's error.
 */
export async function copyBytes(
  file: LogFile,
  from: number,
  to: number,
  target: LogFile,
  position: number,
): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, to - from));
  let at = position;
  for (let left = to - from; left > 0; ) {
    const count = await file.read(buffer.subarray(0, Math.min(buffer.length, left)), to - left);
    if (count === 0) throw new Error(`expected a file of ${to} bytes, found ${to - left}`);
    at = await writeFully(target, buffer.subarray(0, count), at);
    left -= count;
  }
  return at;
}

/** A name that is not in use, so that a copy never overwrites another. */
async function unusedName(files: FileLayer, directory: string, stem: string): Promise<string> {
  const taken = new Set(await files.list(directory));
  for (let attempt = 1; ; attempt += 1) {
    const name = attempt === 1 ? `${stem}.torn` : `${stem}-${attempt}.torn`;
    if (!taken.has(name)) return name;
  }
}
