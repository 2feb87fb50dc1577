import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PageFiles } from "../page-html.ts";

/** @throws (rejects) Error naming the file that is missing: it comes with the package. */
export async function readPageFiles(): Promise<PageFiles> {
  const [script, style] = await Promise.all(
    ["page.js", "page.css"].map((name) => readFile(packageFile("dist", "view", name), "utf8")),
  );
  if (script === undefined || style === undefined) throw new Error("expected two files");
  return { script, style };
}

/** Path of a file of this package, from the built command as well as from the sources. */
export function packageFile(...names: string[]): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, "package.json")) && directory !== dirname(directory)) {
    directory = dirname(directory);
  }
  return join(directory, ...names);
}
