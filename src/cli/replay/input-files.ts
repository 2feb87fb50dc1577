import { type BigIntStats, constants, fstatSync } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { checkFile, checkInput, fileBytes, inputBytes } from "../../audit/door.ts";
import { codeOf } from "../../events/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { sayWaiting } from "../services/say-waiting.ts";
import { safe } from "../terminal/text.ts";

/** A source to replay: a file or standard input. */
export interface InputFile {
  /** The name in the arguments; `stdin` for `-`. */
  readonly name: string;
  /** Real path of the file; `undefined` for standard input. */
  readonly path: string | undefined;
  /** See `identityOf`. */
  readonly identity: string | undefined;
  /** Bytes; `undefined` if not known before reading. */
  readonly size: number | undefined;
}

/**
 * Checks all files before the first one is read, so that no spans are sent if a name is wrong.
 *
 * @throws CliError with the file that cannot be read.
 */
export async function inputFiles(names: readonly string[]): Promise<InputFile[]> {
  if (names.filter((name) => name === "-").length > 1) {
    throw new CliError("expected - (standard input) only once");
  }
  return Promise.all(names.map(inputFile));
}

async function inputFile(name: string): Promise<InputFile> {
  if (name === "-") return standardInput();
  return checked(name, checkInput).catch((error: unknown) => {
    throw new CliError(`${safe(name)}: ${safe(messageOf(error))}`, undefined, { cause: error });
  });
}

/**
 * Checks an entry of a directory. It must be a file: a pipe or device might never end.
 *
 * @throws (rejects) Error without the name of the entry.
 */
export function folderEntry(path: string): Promise<InputFile> {
  return checked(path, (_, found) => checkFile(found));
}

async function checked(
  name: string,
  check: (name: string, found: BigIntStats) => Promise<void> | void,
): Promise<InputFile> {
  const found = await stat(name, { bigint: true }).catch((error: unknown) => unreadable(error));
  await check(name, found);
  await access(name, constants.R_OK).catch((error: unknown) => unreadable(error));
  // A pipe such as /dev/stdin or the shell's <(…) can be opened, but has no real path.
  const path = await realpath(name).catch(() => resolve(name));
  const size = found.isFile() ? Number(found.size) : undefined;
  return { name, path, identity: identityOf(found), size };
}

function standardInput(): InputFile {
  // Node would read nothing from a directory, without an error.
  const found = fstatSync(0, { bigint: true });
  if (found.isDirectory()) {
    throw new CliError("standard input: expected a file, got a directory");
  }
  return { name: "stdin", path: undefined, identity: identityOf(found), size: undefined };
}

/** The bytes of a source. Calls `onBytes` with the length of each chunk. */
export async function* bytesOf(
  file: InputFile,
  io: Pick<Io, "stdin" | "err">,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path } = file;
  // A file must still be a file: a pipe in its place might never end.
  const named = (at: string) =>
    file.size === undefined ? inputBytes(at, sayWaiting(io)) : fileBytes(at);
  const stream = path === undefined ? io.stdin : named(path);
  for await (const chunk of stream) {
    const bytes: unknown = chunk;
    if (!(bytes instanceof Uint8Array)) throw new TypeError("expected bytes");
    onBytes(bytes.length);
    yield bytes;
  }
}

/** The first bytes of a file; `undefined` for a pipe, which can be read only once. */
export function inputStart(
  { path, size }: InputFile,
  bytes: number,
): AsyncGenerator<Buffer, void, undefined> | undefined {
  return path === undefined || size === undefined ? undefined : fileBytes(path, bytes);
}

function unreadable(cause: unknown): never {
  const message = MESSAGES.get(codeOf(cause) ?? "") ?? messageOf(cause);
  throw new Error(message, { cause });
}

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file"],
  ["EACCES", "no permission to read it"],
  ["ELOOP", "expected a file, got a loop of links"],
]);

/**
 * The same text for all names of a file: its device and inode. `undefined` for a character device such as a terminal
 * or `/dev/null`, which has no content to destroy.
 */
export function identityOf(found: BigIntStats): string | undefined {
  return found.isCharacterDevice() ? undefined : `${found.dev}:${found.ino}`;
}

/** Bytes of all sources; `undefined` if the size of one is not known. */
export function totalSize(inputs: readonly InputFile[]): number | undefined {
  let total = 0;
  for (const { size } of inputs) {
    if (size === undefined) return undefined;
    total += size;
  }
  return total;
}
