import { waitFor } from "./followed-file.ts";
import { filesIn, type PlacedFile, placedFiles } from "./places.ts";

interface FolderOptions {
  readonly signal: AbortSignal;
  /** How often a folder is looked at, in ms. */
  readonly lookMs: number;
}

/**
 * Files that appear in folders, until the signal comes. An empty one is given when it holds something: its content says
 * what it is.
 *
 * @param known files that are read already.
 */
export async function* newFiles(
  folders: readonly string[],
  known: readonly PlacedFile[],
  { lookMs, signal }: FolderOptions,
): AsyncGenerator<PlacedFile, void, undefined> {
  const names = new Set(known.map(({ input }) => input.name));
  while (folders.length > 0) {
    await waitFor(lookMs, signal);
    for (const folder of folders) {
      // One that is gone may come back.
      const found = await filesIn(folder).catch(() => []);
      for (const name of found) {
        if (signal.aborted) return;
        if (names.has(name)) continue;
        // One that can't be read now is tried again.
        const [file] = await placedFiles([name]).catch(() => []);
        if (file === undefined || file.input.size === 0) continue;
        names.add(name);
        yield file;
      }
    }
    if (signal.aborted) return;
  }
}
