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

/** Without it, opening a named pipe would wait for the pipe's other end, and nothing could end that wait. */
const AT_ONCE = constants.O_NONBLOCK ?? 0;
const READ = constants.O_RDONLY | AT_ONCE | (constants.O_NOCTTY ?? 0);

/** How long the first byte of a pipe is waited for before it is said, in ms. */
const WAIT_MS = 1_000;

/** Size of the pieces that are read, in bytes. */
const READ_CHUNK = 1024 * 1024;

const openFd = promisify(open);
const closeFd = promisify(close);
const statFd = promisify<number, { bigint: true }, BigIntStats>(fstat);

/**
 * Opens what must be a file: of a folder, where nobody has named it. It never waits, and looks at what was opened, since
 * another thing can have got the name meanwhile.
 *
 * @param where what an error begins with. Default: nothing.
 * @throws (rejects) Error where it is no file; the error of the system where it can't be opened.
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

/** The bytes of a file. @throws (rejects) as {@link openFile} does, and errors of the system. */
export async function* fileBytes(
  path: string,
  chunk = READ_CHUNK,
): AsyncGenerator<Buffer, void, undefined> {
  const handle = await openFile(path);
  for await (const piece of handle.createReadStream({ highWaterMark: chunk })) yield piece;
}

/** @throws Error where it is no file. */
export function checkFile(found: Stats | BigIntStats, where = ""): void {
  if (!found.isFile()) throw new Error(`${where}expected a file, got ${kindOf(found)}`);
}

/**
 * Checks that what a user has named has an end: a file, a pipe (the shell's `<(…)`, `/dev/stdin`), a terminal, the null
 * device. Any other device is refused: `/dev/zero`, say, never ends.
 *
 * @throws (rejects) Error where it is something else.
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

/** Told of a pipe that nothing has come from for a while, which is waited for all the same. */
export type OnWait = (text: string) => void;

/**
 * The bytes of what a user has named, see {@link checkInput}. A named pipe that nobody writes to holds up no thread, and
 * so a signal ends the process as usual.
 *
 * @throws what `checkInput` throws, and errors of the system.
 */
export async function* inputBytes(
  path: string | URL,
  onWait: OnWait = () => {},
): AsyncGenerator<Buffer, void, undefined> {
  const name = typeof path === "string" ? path : fileURLToPath(path);
  const stream = await openInput(name);
  const isPipe = stream instanceof Socket;
  const timer = isPipe ? setTimeout(() => onWait(`${name}: ${NOBODY_WRITES}`), WAIT_MS) : undefined;
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

const NOBODY_WRITES = "waiting, since nothing has been written to this pipe yet";

/** The text of a small file that a user has named. @throws as {@link inputBytes} does. */
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
  // A terminal has nothing at once: a thread waits for what is typed.
  await closeFd(fd);
  return createReadStream(path);
}
