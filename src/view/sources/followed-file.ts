import { type FileHandle, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { openFile } from "../../audit/door.ts";
import { messageOf } from "../../cli/door.ts";

/** A file is quiet when it has not grown for this number of polls. */
const QUIET_LOOKS = 2;

const CHUNK = 1024 * 1024;

/** Bytes at the start that are compared to detect a replaced file. */
const HEAD = 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Longest last line without a line end that is checked for a complete JSON object, in bytes. */
const MOST_TAIL = 16 * 1024 * 1024;

/** The file was replaced, or is shorter than before. */
export class ReplacedError extends Error {
  override readonly name = "ReplacedError";
}

/** Callbacks and limits of following a file. */
export interface FollowHooks {
  /** Ends reading. */
  readonly signal: AbortSignal;
  /** Called with the number of bytes that were read. */
  readonly onBytes: (count: number) => void;
  /** How often the file is polled, in ms. */
  readonly pollMs: number;
  /**
   * Called when all bytes were read and taken: the first time at once, later when the file has been quiet for some
   * polls.
   */
  readonly onQuiet: () => Promise<void>;
  /** Called with the reason if the file cannot be opened. Opening is tried again. `undefined`: it is open. */
  readonly onOpen: (problem: string | undefined) => void;
  /** Called at the end of the file, which may still grow. Default: not called. */
  readonly onLook?: () => Promise<void>;
}

/**
 * The bytes of a file, and those that are appended, until the signal is aborted. If the file is quiet and its last line
 * without a line end is a complete JSON object, a line end is added: such a line cannot be the begin of a longer one.
 *
 * @throws ReplacedError when the file was truncated or replaced.
 */
export async function* followedBytes(
  path: string,
  hooks: FollowHooks,
): AsyncGenerator<Buffer, void, undefined> {
  const { onBytes, onLook, onQuiet, pollMs, signal } = hooks;
  const file = await opened(path, hooks);
  if (file === undefined) return;
  try {
    const begun = new LineTail();
    let position = 0;
    let head = Buffer.alloc(0);
    // The first end counts as quiet at once.
    let isFirst = true;
    let quiet = QUIET_LOOKS;
    while (!signal.aborted) {
      const chunk = await readAt(file, position);
      if (chunk.length > 0) {
        if (position > 0) await checkUnchanged(file, head);
        if (head.length < HEAD) head = Buffer.concat([head, chunk]).subarray(0, HEAD);
        position += chunk.length;
        onBytes(chunk.length);
        const lines = begun.take(chunk);
        if (lines.length > 0) yield lines;
        quiet = isFirst ? QUIET_LOOKS : 0;
        continue;
      }
      if (quiet === QUIET_LOOKS) {
        if (begun.isWhole()) yield begun.end();
        await onQuiet();
        isFirst = false;
      } else await onLook?.();
      quiet += 1;
      await waitFor(pollMs, signal);
      await checkThere(path, file, position);
    }
  } finally {
    await file.close();
  }
}

/**
 * Opens the file when its name leads to a file: it may lead to a pipe now, or not exist. @returns `undefined` if the
 * signal is aborted.
 */
async function opened(
  path: string,
  { onOpen, onQuiet, pollMs, signal }: FollowHooks,
): Promise<FileHandle | undefined> {
  let reported: string | undefined;
  while (!signal.aborted) {
    try {
      const file = await openFile(path);
      onOpen(undefined);
      return file;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== reported) onOpen(problem);
      // Errors of closing are not important.
      if (reported === undefined) await onQuiet();
      reported = problem;
      await waitFor(pollMs, signal);
    }
  }
  return undefined;
}

/** The last line that was read, which has no line end yet. */
class LineTail {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The line end was already added. */
  #isEnded = false;

  /** @returns the bytes to pass on. */
  take(chunk: Buffer): Buffer {
    const bytes = this.#isEnded ? withoutLineEnd(chunk) : chunk;
    this.#isEnded = false;
    const end = bytes.lastIndexOf(LINE_FEED);
    if (end >= 0) {
      this.#pieces = [];
      this.#bytes = 0;
    }
    const rest = bytes.subarray(end + 1);
    this.#bytes += rest.length;
    if (this.#bytes > MOST_TAIL) this.#pieces = [];
    else if (rest.length > 0) this.#pieces.push(rest);
    return bytes;
  }

  /** Whether the line is a complete JSON object. */
  isWhole(): boolean {
    if (this.#bytes === 0 || this.#bytes > MOST_TAIL) return false;
    const text = Buffer.concat(this.#pieces).toString("utf8").trim();
    if (!text.startsWith("{") || !text.endsWith("}")) return false;
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  }

  end(): Buffer {
    this.#pieces = [];
    this.#bytes = 0;
    this.#isEnded = true;
    return Buffer.of(LINE_FEED);
  }
}

/** Without the line end that was already added. */
function withoutLineEnd(chunk: Buffer): Buffer {
  if (chunk[0] === LINE_FEED) return chunk.subarray(1);
  return chunk[0] === CARRIAGE_RETURN && chunk[1] === LINE_FEED ? chunk.subarray(2) : chunk;
}

async function readAt(file: FileHandle, position: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
  return buffer.subarray(0, bytesRead);
}

/** @throws ReplacedError when the file was overwritten. */
async function checkUnchanged(file: FileHandle, head: Buffer): Promise<void> {
  const now = Buffer.alloc(head.length);
  const { bytesRead } = await file.read(now, 0, now.length, 0);
  if (bytesRead < head.length || !now.equals(head))
    throw new ReplacedError("it has other content now");
}

/** @throws ReplacedError when the file is shorter, or another file has its name. */
async function checkThere(path: string, file: FileHandle, position: number): Promise<void> {
  const [own, named] = [await file.stat(), await stat(path).catch(() => undefined)];
  if (own.size < position) throw new ReplacedError("it is shorter now");
  // The file was moved, and there is no new one. The runs that were read stay.
  if (named !== undefined && (named.ino !== own.ino || named.dev !== own.dev)) {
    throw new ReplacedError("another file has its name now");
  }
}

/** Waits until the time is over or the signal is aborted. Does not keep the process alive. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}
