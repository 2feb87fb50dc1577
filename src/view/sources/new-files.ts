import { stat } from "node:fs/promises";
import { identityOf } from "../../cli/door.ts";
import { waitFor } from "./followed-file.ts";
import { isLog, type PlacedFile, placedFile } from "./places.ts";
import type { ViewedFolder } from "./viewed-folder.ts";

interface FolderOptions {
  readonly signal: AbortSignal;
  /** Interval between two looks at a folder, in ms. */
  readonly lookMs: number;
  /** Called when something else is to be said of a folder. */
  readonly onChange: () => void;
}

/** A folder that has become an audit log: it was empty before. */
interface FoundLog {
  readonly log: string;
}

/**
 * Yields files that appear in folders, until the signal comes. An empty file is yielded when it has content, because the
 * content says what it is. Another name of a known file, such as a link, is skipped. A folder without files may become an
 * audit log.
 *
 * @param known files that are read already.
 */
export async function* newFiles(
  folders: readonly ViewedFolder[],
  known: readonly PlacedFile[],
  { lookMs, onChange, signal }: FolderOptions,
): AsyncGenerator<PlacedFile | FoundLog, void, undefined> {
  const names = new Set(known.map(({ input }) => input.name));
  const watched = new Set(folders);
  while (watched.size > 0 && !signal.aborted) {
    await waitFor(lookMs, signal);
    for (const folder of watched) {
      const { hasFiles } = folder;
      const before = JSON.stringify(folder.view(true));
      const inputs = await folder.look(names);
      // After the look, which may have found its first segment.
      if (!hasFiles && (await isLog(folder.path).catch(() => false))) {
        watched.delete(folder);
        folder.becomesLog();
        yield { log: folder.path };
        continue;
      }
      if (JSON.stringify(folder.view(true)) !== before) onChange();
      for (const input of inputs) {
        if (signal.aborted) return;
        if (input.size === 0 || (await isOneOf(names, input.name))) continue;
        names.add(input.name);
        yield await placedFile(input);
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
