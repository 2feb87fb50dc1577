import type { LogFile } from "./file-layer.ts";

/** One line of a file. */
export interface FileLine {
  /** From 1 at the position where reading began. */
  readonly number: number;
  /** Offset of its first byte. */
  readonly start: number;
  /** Offset behind its newline. */
  readonly end: number;
  /** Without the newline. Valid until more lines are requested. Empty if `tooLong`. */
  readonly bytes: Uint8Array;
  /** Whether it ends with a newline. Only the last line may lack one. */
  readonly ended: boolean;
  readonly tooLong: boolean;
}

/** Lines up to this many bytes are read. Much longer ones are skipped, so that they do not fill the memory. */
export const MAX_LINE_BYTES = 96 * 1024 * 1024;

const CHUNK = 256 * 1024;
const NEWLINE = 0x0a;

/** The text of a line's bytes, read as UTF-8. */
export function lineText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** The lines of a file from its start up to the offset `until`. */
export async function* fileLines(
  file: LogFile,
  until: number,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<FileLine, void, void> {
  for await (const lines of fileLineBatches(file, 0, until, maxLineBytes)) yield* lines;
}

/**
 * The lines of a file from offset `from`, where a line must begin, to offset `until`. It yields the lines of one read
 * together, because awaiting each line costs more than reading it.
 */
export async function* fileLineBatches(
  file: LogFile,
  from: number,
  until: number,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<readonly FileLine[], void, void> {
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK, until - from + 1));
  let held = 0;
  let position = from;
  let start = from;
  let number = 1;
  let tooLong = false;
  while (position < until) {
    if (held === buffer.length) {
      if (buffer.length > maxLineBytes) {
        tooLong = true;
        held = 0;
      } else {
        buffer = Buffer.concat([buffer], buffer.length * 2);
      }
    }
    const room = buffer.subarray(held, Math.min(buffer.length, held + until - position));
    const count = await file.read(room, position);
    if (count === 0) break;
    position += count;
    const filled = held + count;
    const lines: FileLine[] = [];
    let first = 0;
    let newline = buffer.subarray(0, filled).indexOf(NEWLINE, held);
    while (newline >= 0) {
      const bytes = tooLong ? buffer.subarray(0, 0) : buffer.subarray(first, newline);
      const end = position - filled + newline + 1;
      lines.push({ number, start, end, bytes, ended: true, tooLong });
      number += 1;
      start = end;
      first = newline + 1;
      tooLong = false;
      newline = buffer.subarray(0, filled).indexOf(NEWLINE, first);
    }
    if (lines.length > 0) yield lines;
    buffer.copy(buffer, 0, first, filled);
    held = filled - first;
  }
  if (start < position) {
    const bytes = tooLong ? buffer.subarray(0, 0) : buffer.subarray(0, held);
    yield [{ number, start, end: position, bytes, ended: false, tooLong }];
  }
}

/**
 * The first complete line that begins with these bytes, without its newline. Searching the bytes takes a tenth of the
 * time of splitting lines.
 *
 * @param maxLineBytes most bytes of a line. A longer one, and lines behind it, are not found.
 */
export async function findLine(
  file: LogFile,
  prefix: string,
  maxLineBytes: number,
): Promise<Buffer | undefined> {
  const wanted = Buffer.from(`\n${prefix}`);
  const until = await file.size();
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK, until + 1));
  // A newline before the first line, as before every other.
  buffer[0] = NEWLINE;
  let held = 1;
  let position = 0;
  while (position < until) {
    if (held === buffer.length) {
      if (held > maxLineBytes) return undefined;
      buffer = Buffer.concat([buffer], held * 2);
    }
    const count = await file.read(buffer.subarray(held), position);
    if (count === 0) return undefined;
    position += count;
    const there = buffer.subarray(0, held + count);
    const at = there.indexOf(wanted);
    const end = at < 0 ? -1 : there.indexOf(NEWLINE, at + 1);
    if (end >= 0) return there.subarray(at + 1, end);
    // Keeps the cut line with the newline before it.
    const cut = there.lastIndexOf(NEWLINE);
    there.copyWithin(0, cut);
    held = there.length - cut;
  }
  return undefined;
}
