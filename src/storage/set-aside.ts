import { join } from "node:path";
import type { FileLayer, LogFile } from "./file-layer.ts";
import { writeFully } from "./write-fully.ts";

const CHUNK = 256 * 1024;

export interface SetAsideOptions {
  readonly files: FileLayer;
  /** Folder of the copy; it is made if need be. */
  readonly directory: string;
  /** How the name of the copy begins. */
  readonly stem: string;
}

/**
 * Copies the bytes of a file from `from` to `to` into a new file. Call it before they are removed.
 *
 * A copy gets its name when it is complete. One that fails gives up its room, and the next attempt uses its
 * file: on a full disk a service may try again and again.
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
  const target = await files.open(draft, "create");
  try {
    await copyBytes(file, from, to, target, 0);
    await target.sync();
  } catch (error) {
    await target.truncate(0).catch(() => {});
    throw error;
  } finally {
    await target.close();
  }
  await files.rename(draft, copy);
  await files.syncDirectory(directory);
  return copy;
}

/**
 * Copies the bytes of a file from `from` to `to` into another, at `position`.
 *
 * @returns the position behind them.
 * @throws Error when the file ends before `to`; the system's error.
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
    const came = await file.read(buffer.subarray(0, Math.min(buffer.length, left)), to - left);
    if (came === 0) throw new Error(`expected a file of ${to} bytes, found ${to - left}`);
    at = await writeFully(target, buffer.subarray(0, came), at);
    left -= came;
  }
  return at;
}

/** Never a name that is taken: nothing that was set aside is ever overwritten. */
async function unusedName(files: FileLayer, directory: string, stem: string): Promise<string> {
  const taken = new Set(await files.list(directory));
  for (let attempt = 1; ; attempt += 1) {
    const name = attempt === 1 ? `${stem}.torn` : `${stem}-${attempt}.torn`;
    if (!taken.has(name)) return name;
  }
}
