import {
  type BigIntStats,
  close,
  constants,
  createReadStream,
  fstat,
  open,
  type Stats,
} from "node:fs";
import { type FileHandle, open as openHandle, stat } from "node:fs/promises";
import { Socket } from "node:net";
import { devNull } from "node:os";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { kindOf } from "../../events/door.ts";

/** Otherwise opening a named pipe would block until its other end opens, and nothing could interrupt it. */
const AT_ONCE = constants.O_NONBLOCK ?? 0;
const READ = constants.O_RDONLY | AT_ONCE | (constants.O_NOCTTY ?? 0);

/** How long to wait for the first byte of a pipe before `onWait` is called, in ms. */
const WAIT_MS = 1_000;

/** Size of one read, in bytes. */
const READ_CHUNK = 1024 * 1024;

const openFd = promisify(open);
const closeFd = promisify(close);
const statFd = promisify<number, { bigint: true }, BigIntStats>(fstat);

/**
 * Opens a file that the user did not name, such as one in a directory. It never blocks. It checks the opened file,
 * because another file may have got the name meanwhile.
 *
 * @param where start of an error's text. Default: empty.
 * @throws (rejects) Error if it is not a file; the system's error if it cannot be opened.
 */
export async function openFile(
  path: string,
  flags = READ,
  mode?: number,
  where = "",
): Promise<FileHandle> {
  const handle = await openHandle(path, flags | AT_ONCE, mode);
  try {
    checkFile(await handle.stat(), where);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The bytes of a file. @throws (rejects) as {@link openFile}, and the system's errors. */
export async function* fileBytes(
  path: string,
  chunk = READ_CHUNK,
): AsyncGenerator<Buffer, void, undefined> {
  const handle = await openFile(path);
  for await (const piece of handle.createReadStream({ highWaterMark: chunk })) yield piece;
}

/** @throws Error if it is not a file. */
export function checkFile(found: Stats | BigIntStats, where = ""): void {
  if (!found.isFile()) throw new Error(`${where}expected a file, got ${kindOf(found)}`);
}

/**
 * Checks an input that the user named. Allowed are a file, a pipe (the shell's `<(…)`, `/dev/stdin`), a terminal and
 * the null device. Other devices such as `/dev/zero` may never end.
 *
 * @throws (rejects) Error for anything else.
 */
export async function checkInput(path: string, found: BigIntStats): Promise<void> {
  if (found.isFile() || found.isFIFO()) return;
  if (found.isCharacterDevice()) {
    const nothing = await stat(devNull, { bigint: true }).catch(() => undefined);
    if (found.rdev === nothing?.rdev) return;
    const fd = await openFd(path, READ);
    const isTerminal = isatty(fd);
    await closeFd(fd);
    if (isTerminal) return;
  }
  checkFile(found);
}

/** Called with a text if no byte has come from a pipe for a while. Reading goes on waiting. */
export type OnWait = (text: string) => void;

/**
 * The bytes of an input that the user named, see {@link checkInput}. A named pipe without a writer blocks no thread,
 * so a signal ends the process as usual.
 *
 * @throws as `checkInput`, and the system's errors.
 */
export async function* inputBytes(
  path: string | URL,
  onWait: OnWait = () => {},
): AsyncGenerator<Buffer, void, undefined> {
  const name = typeof path === "string" ? path : fileURLToPath(path);
  const stream = await openInput(name);
  const isPipe = stream instanceof Socket;
  const timer = isPipe ? setTimeout(() => onWait(`${name}: ${NO_WRITER}`), WAIT_MS) : undefined;
  timer?.unref();
  try {
    for await (const chunk of stream) {
      clearTimeout(timer);
      if (!(chunk instanceof Buffer)) throw new TypeError("expected bytes");
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
    stream.destroy();
  }
}

const NO_WRITER = "waiting, since nothing has been written to this pipe yet";

/** The text of a small file that the user named. @throws as {@link inputBytes}. */
export async function inputText(path: string, onWait?: OnWait): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of inputBytes(path, onWait)) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

async function openInput(path: string): Promise<Readable> {
  await checkInput(path, await stat(path, { bigint: true }));
  const fd = await openFd(path, READ);
  try {
    const found = await statFd(fd, { bigint: true });
    if (found.isFIFO()) return new Socket({ fd, readable: true, writable: false });
    if (found.isFile()) return createReadStream(path, { fd, highWaterMark: READ_CHUNK });
    await checkInput(path, found);
  } catch (error) {
    await closeFd(fd);
    throw error;
  }
  // A terminal has no input yet: a thread waits for it.
  await closeFd(fd);
  return createReadStream(path);
}
