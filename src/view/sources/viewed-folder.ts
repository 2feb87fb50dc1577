import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { folderEntry, type InputFile, messageOf } from "../../cli/door.ts";
import type { ViewSource } from "../format.ts";
import { MOST_PROBLEMS } from "./source-state.ts";

/** Files of a folder that are read. */
const READ = /\.(?:ndjson|jsonl|json)(?:\.gz)?$/;

/** A folder whose files are read. What else has such a name is a problem, as long as it is there. */
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
   * Looks at what is in it. It does not reject: a folder that is gone may come back.
   *
   * @param known paths of files that were found before, which are not looked at.
   * @returns further files, in the order of their names.
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

  /** It is a source of its own now. */
  becomesLog(): void {
    this.hasFiles = true;
    this.#problems = new Map();
  }

  /** What is to be said of it: which entries are no files, or that it has none yet. Else nothing. */
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

/** Whether something has this name, though it leads nowhere. It may have gone since the folder was listed. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
