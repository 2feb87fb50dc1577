import { readFile } from "node:fs/promises";
import { packageFile } from "../../cli/door.ts";
import type { PageFiles } from "../page-html.ts";

/** @throws (rejects) Error naming the file that is missing: it comes with the package. */
export async function readPageFiles(): Promise<PageFiles> {
  const [script, style] = await Promise.all(
    ["page.js", "page.css"].map((name) => readFile(packageFile("dist", "view", name), "utf8")),
  );
  if (script === undefined || style === undefined) throw new Error("expected two files");
  return { script, style };
}
