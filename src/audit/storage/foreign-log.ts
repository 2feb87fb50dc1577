import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export type LogKind = "an audit log" | "a journal";

/** The logs of this package, each in a folder of its own, and what the files of each are called. */
const FILES: ReadonlyMap<LogKind, RegExp> = new Map([
  ["an audit log", /^segment-\d{8,16}\.(?:ndjson|index)$/],
  ["a journal", /^lines-\d{16}\.v\d+\.log$/],
]);

/** Names in the folder of a log that only the log writes to. */
const OWN = /^(?:segment-\d{8,16}\.|lines-\d{16}\.|checkpoint(?:\.tmp)?$|lock-|sock-)/;
/** Folders in it that are the log's as a whole. */
const OWN_FOLDERS = ["archive", "torn"];

/**
 * Refuses a folder that has the files of another log. Two in one folder would share its lock and hide
 * each other; most likely an option names the wrong folder.
 *
 * @param own what is about to be opened there.
 * @param names what is in the folder.
 * @throws Error naming the first file that is another log's.
 */
export function refuseForeignLog(directory: string, own: LogKind, names: readonly string[]): void {
  for (const [kind, files] of FILES) {
    const found = kind === own ? undefined : names.filter((name) => files.test(name)).sort()[0];
    if (found === undefined) continue;
    throw new Error(
      `${join(directory, found)}: expected a folder for ${own} alone, found a file of ${kind}`,
    );
  }
}

/**
 * The log that a file belongs to, or would belong to if it were there. The content of its folder decides, so that a
 * file which only has a log's name belongs to none.
 *
 * @param path no part of it is a link.
 * @param audit the folder of an audit log that may hold nothing yet.
 */
export async function logThatOwns(
  path: string,
  audit: string | undefined,
): Promise<{ readonly kind: LogKind; readonly directory: string } | undefined> {
  const folder = dirname(path);
  const above = dirname(folder);
  const candidates = [
    ...(OWN.test(basename(path)) ? [folder] : []),
    ...(OWN_FOLDERS.includes(basename(folder)) ? [above] : []),
  ];
  for (const directory of candidates) {
    const names = await readdir(directory).catch(() => []);
    const kind = directory === audit ? "an audit log" : kindOfLog(names);
    if (kind !== undefined) return { kind, directory };
  }
  return undefined;
}

/** Paths of what a log has in its folder: none where there is no log. */
export async function logFilesIn(directory: string): Promise<string[]> {
  const own = await readdir(directory).catch(() => []);
  const paths = own.filter((name) => OWN.test(name)).map((name) => join(directory, name));
  for (const folder of OWN_FOLDERS) {
    const names = await readdir(join(directory, folder)).catch(() => []);
    for (const name of names) paths.push(join(directory, folder, name));
  }
  return kindOfLog(own) === undefined ? [] : paths;
}

function kindOfLog(names: readonly string[]): LogKind | undefined {
  for (const [kind, files] of FILES) if (names.some((name) => files.test(name))) return kind;
  return undefined;
}
