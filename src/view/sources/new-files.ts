import { stat } from "node:fs/promises";
import { identityOf } from "../../cli/door.ts";
import { waitFor } from "./followed-file.ts";
import { isLog, type SourceFile, sourceFile } from "./operands.ts";
import type { ViewedFolder } from "./viewed-folder.ts";

interface FolderOptions {
  readonly signal: AbortSignal;
  /** Interval between two looks at a folder, in ms. */
  readonly lookMs: number;
  /** Called when the problems of a folder have changed. */
  readonly onChange: () => void;
}

/** A folder that was empty and has become an audit log. */
interface FoundLog {
  readonly log: string;
}

/**
 * Yields new files of folders, until the signal is aborted. An empty file is yielded when it has content, which shows
 * its kind. Other names of a known file, such as links, are skipped. A folder without files may become an audit log.
 *
 * @param known files that are read already.
 */
export async function* newFiles(
  folders: readonly ViewedFolder[],
  known: readonly SourceFile[],
  { lookMs, onChange, signal }: FolderOptions,
): AsyncGenerator<SourceFile | FoundLog, void, undefined> {
  const names = new Set(known.map(({ input }) => input.name));
  const watched = new Set(folders);
  while (watched.size > 0 && !signal.aborted) {
    await waitFor(lookMs, signal);
    for (const folder of watched) {
      const { hasFiles } = folder;
      const before = JSON.stringify(folder.view(true));
      const inputs = await folder.look(names);
      // After listing, which may have found the first segment.
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
        yield await sourceFile(input);
      }
    }
  }
}

/** Whether one of the names is that of the same file now. A rotated file has another name. */
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
