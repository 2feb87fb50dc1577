import { stat } from "node:fs/promises";
import { identityOf } from "../replay/input-files.ts";
import { waitFor } from "./followed-file.ts";
import { filesIn, type PlacedFile, placedFiles } from "./places.ts";

interface FolderOptions {
  readonly signal: AbortSignal;
  /** Interval between two looks at a folder, in ms. */
  readonly lookMs: number;
}

/**
 * Yields files that appear in folders, until the signal comes. An empty file is yielded when it has content, because the
 * content says what it is. Another name of a known file, such as a link, is skipped.
 *
 * @param known files that are read already.
 */
export async function* newFiles(
  folders: readonly string[],
  known: readonly PlacedFile[],
  { lookMs, signal }: FolderOptions,
): AsyncGenerator<PlacedFile, void, undefined> {
  const names = new Set(known.map(({ input }) => input.name));
  while (folders.length > 0 && !signal.aborted) {
    await waitFor(lookMs, signal);
    for (const folder of folders) {
      // A folder that is gone may come back.
      const found = await filesIn(folder).catch(() => []);
      for (const name of found) {
        if (signal.aborted) return;
        if (names.has(name) || (await isOneOf(names, name))) continue;
        // A file that cannot be read now is tried again.
        const [file] = await placedFiles([name]).catch(() => []);
        if (file === undefined || file.input.size === 0) continue;
        names.add(name);
        yield file;
      }
    }
  }
}

/** Whether one of the names leads to the same file now. A rotated file has left its name. */
async function isOneOf(names: Iterable<string>, name: string): Promise<boolean> {
  const identity = await identityAt(name);
  if (identity === undefined) return false;
  for (const known of names) if ((await identityAt(known)) === identity) return true;
  return false;
}

async function identityAt(name: string): Promise<string | undefined> {
  const found = await stat(name, { bigint: true }).catch(() => undefined);
  return found && identityOf(found);
}
