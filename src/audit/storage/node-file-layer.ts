import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { asError, hasCode } from "../../events/door.ts";
import { lockDirectory, lockHolder } from "./directory-lock.ts";
import type { LogFile, OpenMode, RemovingFileLayer } from "./file-layer.ts";
import { openFile as openRegular } from "./open-input.ts";

/** Only the owner may read them: logs hold the input and output of agents. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  update: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
};

/** The disk, through `node:fs`. */
export const nodeFileLayer: RemovingFileLayer = {
  makeDirectory,
  list,
  open: openFile,
  rename,
  remove,
  syncDirectory,
  lock: lockDirectory,
  lockHolder,
};

async function makeDirectory(path: string): Promise<void> {
  const full = resolve(path);
  const first = await makeMissing(full);
  if (first === undefined) return;
  const top = dirname(first);
  for (let above = dirname(full); ; above = dirname(above)) {
    await syncDirectory(above);
    if (above === top || above === dirname(above)) return;
  }
}

/**
 * Makes a directory and its missing parents. The `recursive` option of `mkdir` loops forever below an existing
 * directory that takes none, such as `/proc`.
 *
 * @returns the topmost directory that was made. `undefined` if all existed.
 */
async function makeMissing(path: string): Promise<string | undefined> {
  const failure = await tryMaking(path);
  if (failure === "made") return path;
  if (failure === "there") return undefined;
  const above = dirname(path);
  if (!hasCode(failure, "ENOENT") || above === path) throw failure;
  const first = await makeMissing(above);
  const again = await tryMaking(path);
  if (again === "made") return first ?? path;
  if (again === "there") return first;
  if (!hasCode(again, "ENOENT")) throw again;
  throw coded("ENOENT", `${path}: no folder can be made in ${above}`, again);
}

/** @returns the error if the directory could not be made and does not exist. */
async function tryMaking(path: string): Promise<"made" | "there" | Error> {
  try {
    await mkdir(path, { mode: DIRECTORY_MODE });
    return "made";
  } catch (error) {
    // Systems report different errors for an existing directory.
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) return "there";
    if (!hasCode(error, "EEXIST")) return asError(error);
    return coded("EEXIST", `${path}: expected a directory, got a file`, error);
  }
}

function coded(code: string, message: string, cause: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

async function list(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

async function openFile(path: string, mode: "create"): Promise<LogFile>;
async function openFile(path: string, mode: OpenMode): Promise<LogFile | undefined>;
async function openFile(path: string, mode: OpenMode): Promise<LogFile | undefined> {
  try {
    return new NodeFile(await openRegular(path, FLAGS[mode], FILE_MODE, `${path}: `));
  } catch (error) {
    if (mode !== "create" && hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory as a file, and syncs names by itself.
  if (process.platform === "win32") return;
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

class NodeFile implements LogFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    return (await this.#handle.read(into, 0, into.byteLength, position)).bytesRead;
  }

  async write(bytes: Uint8Array, position: number): Promise<number> {
    return (await this.#handle.write(bytes, 0, bytes.byteLength, position)).bytesWritten;
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size);
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
