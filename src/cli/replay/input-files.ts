import { type BigIntStats, constants, fstatSync } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { checkFile, checkInput, fileBytes, inputBytes } from "../../audit/door.ts";
import { codeOf } from "../../events/door.ts";
import { SourceReadError } from "../../replay/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { sayWaiting } from "../services/say-waiting.ts";
import { safe } from "../terminal/text.ts";
import type { Progress } from "./progress.ts";

/** One of the sources to replay: a file, or standard input. */
export interface InputFile {
  /** As the user named it; `stdin` for `-`. */
  readonly name: string;
  /** Real path of the file, where it has one; `undefined` for standard input. */
  readonly path: string | undefined;
  /** What tells its content from any other, see `identityOf`. */
  readonly identity: string | undefined;
  /** Size in bytes, where it is known before reading. */
  readonly size: number | undefined;
}

/**
 * Looks at every file before the first one is read, so that a slip in the last name does not show
 * after the others were sent.
 *
 * @throws CliError naming the file that can't be read.
 */
export async function inputFiles(names: readonly string[]): Promise<InputFile[]> {
  if (names.filter((name) => name === "-").length > 1) {
    throw new CliError("expected - (standard input) only once");
  }
  return Promise.all(names.map(inputFile));
}

async function inputFile(name: string): Promise<InputFile> {
  if (name === "-") return standardInput();
  return lookAt(name, checkInput).catch((error: unknown) => {
    throw new CliError(`${safe(name)}: ${safe(messageOf(error))}`, undefined, { cause: error });
  });
}

/**
 * Looks at an entry of a folder, which nobody has named: it must be a file. Of a pipe or device, nothing says that it
 * ever ends.
 *
 * @throws (rejects) Error that says what is wrong with it, without its name.
 */
export function folderEntry(path: string): Promise<InputFile> {
  return lookAt(path, (_, found) => checkFile(found));
}

async function lookAt(
  name: string,
  check: (name: string, found: BigIntStats) => Promise<void> | void,
): Promise<InputFile> {
  const found = await stat(name, { bigint: true }).catch((error: unknown) => unreadable(error));
  await check(name, found);
  await access(name, constants.R_OK).catch((error: unknown) => unreadable(error));
  // The pipe behind /dev/stdin, or the shell's <(…), can be opened, but has no path of its own.
  const path = await realpath(name).catch(() => resolve(name));
  const size = found.isFile() ? Number(found.size) : undefined;
  return { name, path, identity: identityOf(found), size };
}

function standardInput(): InputFile {
  // Node reads nothing of a directory there, and has no error for it.
  const found = fstatSync(0, { bigint: true });
  if (found.isDirectory()) {
    throw new CliError("standard input: expected a file, got a directory");
  }
  return { name: "stdin", path: undefined, identity: identityOf(found), size: undefined };
}

/** The bytes of a source; `onBytes` is told how many came. */
export async function* bytesOf(
  file: InputFile,
  io: Pick<Io, "stdin" | "err">,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path } = file;
  // What was a file must still be one: a pipe in its place might never end.
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

function unreadable(cause: unknown): never {
  const said = SAID.get(codeOf(cause) ?? "") ?? messageOf(cause);
  throw new Error(said, { cause });
}

const SAID: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file"],
  ["EACCES", "no permission to read it"],
  ["ELOOP", "expected a file, got a ring of links"],
]);

/**
 * What tells a file from every other, whatever names lead to it: its device and its number there.
 * `undefined` for what has no content of its own to destroy: a terminal, `/dev/null`.
 */
export function identityOf(found: BigIntStats): string | undefined {
  return found.isCharacterDevice() ? undefined : `${found.dev}:${found.ino}`;
}

/** Takes one source after the other. */
interface SourceReader {
  /** @throws SourceReadError when it can't be read to its end; what came before is taken. */
  read(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
}

/**
 * Reads the sources in turn.
 *
 * @param say told of each source that can't be read to its end.
 * @returns the names of those.
 */
export async function readSources(
  reader: SourceReader,
  inputs: readonly InputFile[],
  progress: Progress,
  io: Io,
  say: (text: string) => void,
): Promise<string[]> {
  const unreadable: string[] = [];
  for (const input of inputs) {
    try {
      const bytes = bytesOf(input, io, (count) => progress.addBytes(count));
      await reader.read(input.name, bytes);
    } catch (error) {
      if (!(error instanceof SourceReadError)) throw error;
      unreadable.push(input.name);
      say(error.message);
    }
  }
  return unreadable;
}

/** Bytes of all sources; `undefined` where one has no size before it is read. */
export function totalSize(inputs: readonly InputFile[]): number | undefined {
  let total = 0;
  for (const { size } of inputs) {
    if (size === undefined) return undefined;
    total += size;
  }
  return total;
}
