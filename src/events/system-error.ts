import type { BigIntStats, Stats } from "node:fs";

/** Whether an error is the system's, with one of these codes (`ENOENT`, `EEXIST` …). */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = codeOf(error);
  return code !== undefined && codes.includes(code);
}

/** Whether an error says that the disk, or the user's quota on it, is full. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, "ENOSPC", "EDQUOT");
}

/** The system's code of an error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** A thrown value as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The type of a file, for an error's text, such as `a named pipe`. */
export function kindOf(found: Stats | BigIntStats): string {
  if (found.isFile()) return "a file";
  if (found.isDirectory()) return "a directory";
  if (found.isFIFO()) return "a named pipe";
  if (found.isSocket()) return "a socket";
  if (found.isSymbolicLink()) return "a symbolic link";
  return "a device";
}
