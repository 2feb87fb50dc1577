import { join } from "node:path";

/** The logs of this package, each in a folder of its own, and what the files of each are called. */
const FILES = {
  "an audit log": /^segment-\d{8,16}\.(?:ndjson|index)$/,
  "a journal": /^lines-\d{16}\.v\d+\.log$/,
} as const;

export type LogKind = keyof typeof FILES;

/**
 * Refuses a folder that has the files of another log. Two in one folder would share its lock and hide
 * each other; most likely an option names the wrong folder.
 *
 * @param own what is about to be opened there.
 * @param names what is in the folder.
 * @throws Error naming the first file that is another log's.
 */
export function refuseForeignLog(directory: string, own: LogKind, names: readonly string[]): void {
  for (const [kind, files] of Object.entries(FILES)) {
    const found = kind === own ? undefined : names.filter((name) => files.test(name)).sort()[0];
    if (found === undefined) continue;
    throw new Error(
      `${join(directory, found)}: expected a folder for ${own} alone, found a file of ${kind}`,
    );
  }
}
