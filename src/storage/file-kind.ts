import type { BigIntStats, Stats } from "node:fs";

/** What stands behind a name, for an error: `a named pipe`, say. */
export function kindOf(found: Stats | BigIntStats): string {
  if (found.isFile()) return "a file";
  if (found.isDirectory()) return "a directory";
  if (found.isFIFO()) return "a named pipe";
  if (found.isSocket()) return "a socket";
  if (found.isSymbolicLink()) return "a symbolic link";
  return "a device";
}
