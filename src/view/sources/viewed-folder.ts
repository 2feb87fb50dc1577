import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { folderEntry, type InputFile, messageOf } from "../../cli/door.ts";
import type { ViewSource } from "../format.ts";
import { MOST_PROBLEMS } from "./source-state.ts";

/** Files of a folder that are read. */
const READ = /\.(?:ndjson|jsonl|json)(?:\.gz)?$/;

/**
 * A folder whose files are read. Entries with a name of a recording that are not files are problems while they exist.
 */
export class ViewedFolder {
  /** As the user named it. */
  readonly path: string;
  /** Whether a file with content was found in it. */
  hasFiles = false;
  /** By path. */
  #problems: ReadonlyMap<string, string> = new Map();

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Lists the folder. It does not reject, because a missing folder may come back.
   *
   * @param known paths of files that were found before. They are skipped.
   * @returns new files, in the order of their names.
   */
  async look(known: ReadonlySet<string> = new Set()): Promise<readonly InputFile[]> {
    const files: InputFile[] = [];
    const problems = new Map<string, string>();
    const names = await readdir(this.path).catch((error: unknown) => {
      problems.set(this.path, `the folder can't be read: ${messageOf(error)}`);
      return [];
    });
    for (const name of names.sort()) {
      const path = join(this.path, name);
      if (!READ.test(name) || known.has(path)) continue;
      try {
        files.push(await folderEntry(path));
      } catch (error) {
        if (await isThere(path)) problems.set(path, messageOf(error));
      }
    }
    this.hasFiles ||= files.some(({ size }) => size !== 0);
    this.#problems = problems;
    return files;
  }

  /** It is listed as a source with its problems. */
  becomesLog(): void {
    this.hasFiles = true;
    this.#problems = new Map();
  }

  /** The folder as a source if it has problems or no files yet, else `undefined`. */
  view(followed: boolean): ViewSource | undefined {
    if (this.hasFiles && this.#problems.size === 0) return undefined;
    const problems = [...this.#problems].map(([place, problem]) => ({ place, problem }));
    return {
      name: this.path,
      kind: "folder",
      followed,
      read: 1,
      problem_count: problems.length,
      problems: problems.slice(0, MOST_PROBLEMS),
    };
  }
}

/** Whether an entry with this name exists, also a broken link. It may be gone since the folder was listed. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
