import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Document, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import { scaleDurations } from "./scale-durations.ts";

/**
 * Copies a shipped YAML file to where a test's server reads it: its durations divided, then edited by
 * `edit`, and nothing else changed.
 */
export async function copyScaled(
  from: string,
  to: string,
  factor: number,
  edit: (document: Document) => void = () => {},
): Promise<void> {
  const document = parseDocument(await readFile(from, "utf8"));
  const [error] = document.errors;
  if (error !== undefined) throw error;
  scaleDurations(document, factor);
  edit(document);
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, document.toString({ lineWidth: 0 }));
}

/** {@link copyScaled} for all YAML files of a folder. */
export async function copyFolderScaled(
  from: string,
  to: string,
  factor: number,
  edit?: (document: Document) => void,
): Promise<void> {
  const files = (await readdir(from)).filter((file) => /\.ya?ml$/.test(file));
  if (files.length === 0) throw new Error(`${from}: expected YAML files`);
  for (const file of files)
    await copyScaled(join(from, file), join(to, basename(file)), factor, edit);
}

/**
 * Replaces all texts that stand at a key (or in a list at it).
 *
 * @param replace answers what stands there instead.
 * @throws Error when nothing stands at such a key: the file is not what the test believes.
 */
export function replaceTexts(
  document: Document,
  key: string,
  replace: (text: string) => string,
): void {
  let found = 0;
  const one = (value: unknown) => {
    if (!isScalar(value) || typeof value.value !== "string") return;
    found++;
    value.value = replace(value.value);
  };
  visit(document, {
    Pair(_, pair) {
      if (!isScalar(pair.key) || pair.key.value !== key) return;
      if (isSeq(pair.value)) pair.value.items.forEach(one);
      else if (!isMap(pair.value)) one(pair.value);
    },
  });
  if (found === 0) throw new Error(`expected a text at ${key}`);
}
