import type { LogFile } from "./file-layer.ts";

const CHUNK = 256 * 1024;
const NEWLINE = 0x0a;

/**
 * The first whole line that begins with these bytes, without its newline. Lines are not looked at one by one:
 * to search the bytes for their beginning takes a tenth of the time.
 *
 * @param maxLineBytes what a line may have at most: longer ones are not found, nor what is behind them.
 */
export async function findLine(
  file: LogFile,
  prefix: string,
  maxLineBytes: number,
): Promise<Buffer | undefined> {
  const wanted = Buffer.from(`\n${prefix}`);
  const until = await file.size();
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK, until + 1));
  // As if one stood before the first line as well.
  buffer[0] = NEWLINE;
  let held = 1;
  let position = 0;
  while (position < until) {
    if (held === buffer.length) {
      if (held > maxLineBytes) return undefined;
      buffer = Buffer.concat([buffer], held * 2);
    }
    const came = await file.read(buffer.subarray(held), position);
    if (came === 0) return undefined;
    position += came;
    const there = buffer.subarray(0, held + came);
    const at = there.indexOf(wanted);
    const end = at < 0 ? -1 : there.indexOf(NEWLINE, at + 1);
    if (end >= 0) return there.subarray(at + 1, end);
    // From the newline before the line that is cut.
    const cut = there.lastIndexOf(NEWLINE);
    there.copyWithin(0, cut);
    held = there.length - cut;
  }
  return undefined;
}
