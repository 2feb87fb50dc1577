import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export type LogKind = "an audit log" | "a journal";

/** The logs of this package, each in a directory of its own, and the names of their files. */
const FILES: ReadonlyMap<LogKind, RegExp> = new Map([
  ["an audit log", /^segment-\d{8,16}\.(?:ndjson|index)$/],
  ["a journal", /^lines-\d{16}\.v\d+\.log$/],
]);

/** Names in a log's directory that only the log writes to. */
const OWN = /^(?:segment-\d{8,16}\.|lines-\d{16}\.|checkpoint(?:\.tmp)?$|lock-|sock-)/;
/** Directories in it that belong to the log. */
const OWN_FOLDERS = ["archive", "torn"];

/**
 * Refuses a directory with files of another log. Two logs in one directory would share its lock and hide each other's
 * files. Usually an option names the wrong directory.
 *
 * @param own the log to be opened there.
 * @param names the names in the directory.
 * @throws Error naming the first file of another log.
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
 * The log that a file belongs to, or would belong to if it existed. The content of its directory decides: a file with
 * only a log's name belongs to none.
 *
 * @param path without symbolic links.
 * @param audit the directory of an audit log, which may be empty.
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

/** Paths of a log's files in its directory. Empty if there is no log. */
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
