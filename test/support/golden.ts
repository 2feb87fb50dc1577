import { readFileSync } from "node:fs";

const ROOT = new URL("../", import.meta.url);

export function readText(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** The lines of a file of `test/`, without the last empty one. */
export function readLines(path: string): string[] {
  return readText(path)
    .split("\n")
    .filter((line) => line !== "");
}
