import { type BigIntStats, constants, createReadStream, fstatSync } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { SourceReadError } from "../../ingest/read-events.ts";
import { CliError, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { safe } from "../terminal/text.ts";
import type { Progress } from "./progress.ts";

/** Size of the pieces a file is read in, in bytes. */
const READ_CHUNK = 1024 * 1024;

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
  let found: BigIntStats;
  try {
    found = await stat(name, { bigint: true });
    await access(name, constants.R_OK);
  } catch (error) {
    throw new CliError(cannotRead(name, error), undefined, { cause: error });
  }
  if (found.isDirectory()) {
    throw new CliError(`${safe(name)}: expected a file, got a directory`);
  }
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
  stdin: Readable,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path } = file;
  const stream = path === undefined ? stdin : createReadStream(path, { highWaterMark: READ_CHUNK });
  for await (const chunk of stream) {
    const bytes: unknown = chunk;
    if (!(bytes instanceof Uint8Array)) throw new TypeError("expected bytes");
    onBytes(bytes.length);
    yield bytes;
  }
}

function cannotRead(name: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return `${safe(name)}: no such file`;
  if (code === "EACCES") return `${safe(name)}: no permission to read it`;
  return safe(messageOf(error));
}

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
      const bytes = bytesOf(input, io.stdin, (count) => progress.addBytes(count));
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
