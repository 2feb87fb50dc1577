import { fstatSync, readSync } from "node:fs";

/**
 * Whether a file ends in a line without its end, as a process leaves it that was killed while it wrote.
 *
 * @param fd open for reading.
 */
export function endsInsideLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}
