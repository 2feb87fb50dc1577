import { stat } from "node:fs/promises";
import {
  fileBytes,
  isPostgresUrl,
  logPaths,
  nodeFileLayer,
  segmentFiles,
  urlScheme,
} from "../../audit/door.ts";
import { CliError, type InputFile, inputFiles, safe } from "../../cli/door.ts";
import { GZIP_MAGIC, textBytes } from "../../replay/door.ts";
import { ViewedFolder } from "./viewed-folder.ts";

/** A file to read, and what the begin of its content shows. */
export interface PlacedFile {
  readonly input: InputFile;
  readonly kind: "recording" | "spans";
  /** Whether it can be read on as it grows. */
  readonly grows: boolean;
}

/** What the operands of a command name. */
export interface Places {
  readonly files: readonly PlacedFile[];
  /** Folders of files. The files that they have are among `files`. */
  readonly folders: readonly ViewedFolder[];
  /** Audit logs: directories, and URLs of databases. */
  readonly logs: readonly string[];
}

/**
 * Finds out what each place is, before anything is read.
 *
 * @throws CliError naming the place that is nothing of the kind.
 */
export async function placesOf(places: readonly string[]): Promise<Places> {
  const inputs: InputFile[] = [];
  const logs: string[] = [];
  const folders: ViewedFolder[] = [];
  await inputFiles(places.filter((place) => place === "-"));
  for (const place of new Set(places)) {
    if (urlScheme(place) !== undefined) logs.push(checkedUrl(place));
    else if (place === "-" || !(await isDirectory(place)))
      for (const file of await inputFiles([place])) inputs.push(file);
    else if (await isLog(place)) logs.push(place);
    else {
      const folder = new ViewedFolder(place);
      for (const file of await folder.look()) inputs.push(file);
      folders.push(folder);
    }
  }
  return { files: await Promise.all(distinct(inputs).map(placedFile)), folders, logs };
}

/** @throws CliError when it is no database's, or holds a password: arguments are seen by everybody on the machine. */
function checkedUrl(place: string): string {
  if (!isPostgresUrl(place)) {
    // Without the rest of it: a URL may hold a password, and errors are kept in logs.
    const scheme = safe(urlScheme(place) ?? "");
    throw new CliError(`expected a file, a directory or postgres://…, got a URL (${scheme}…)`);
  }
  let url: URL;
  try {
    url = new URL(place);
  } catch {
    throw new CliError("expected postgres://USER@HOST/DATABASE, got a URL that can't be read");
  }
  if (url.password !== "" || url.searchParams.has("password")) {
    throw new CliError(
      "expected a URL without a password",
      "The variable PGPASSWORD, or the file that PGPASSFILE names, gives the password.",
    );
  }
  return place;
}

async function isDirectory(place: string): Promise<boolean> {
  return (await stat(place).catch(() => undefined))?.isDirectory() === true;
}

/** Whether a folder is an audit log. */
export async function isLog(directory: string): Promise<boolean> {
  return (await segmentFiles(nodeFileLayer, logPaths(directory))).last > 0;
}

function distinct(inputs: readonly InputFile[]): InputFile[] {
  return inputs.filter(
    ({ identity }, at) =>
      identity === undefined || inputs.findIndex((each) => each.identity === identity) === at,
  );
}

/** So many bytes show what a file holds. */
const SHOWN = 64 * 1024;

const SPANS = /^\s*\{\s*"resourceSpans"\s*:/;

/** @param input of a file, or of a pipe that the user has named. */
export async function placedFile(input: InputFile): Promise<PlacedFile> {
  const { path, size } = input;
  // A pipe can be read only once, so its content is not inspected first.
  if (path === undefined || size === undefined) return { input, kind: "recording", grows: false };
  const { isGzip, text } = await beginOf(path);
  return { input, kind: SPANS.test(text) ? "spans" : "recording", grows: !isGzip };
}

async function beginOf(path: string): Promise<{ text: string; isGzip: boolean }> {
  const magic = Buffer.alloc(GZIP_MAGIC.length);
  let pieces = Buffer.alloc(0);
  let seen = 0;
  async function* noted(): AsyncGenerator<Buffer, void, undefined> {
    for await (const bytes of fileBytes(path, SHOWN)) {
      if (seen < magic.length) bytes.copy(magic, seen);
      seen += bytes.length;
      yield bytes;
    }
  }
  try {
    for await (const chunk of textBytes(noted())) {
      pieces = Buffer.concat([pieces, chunk]);
      if (pieces.length >= SHOWN) break;
    }
  } catch {
    // Damaged: reading it reports the problem.
  }
  const isGzip = GZIP_MAGIC.every((byte, at) => magic[at] === byte);
  return { isGzip, text: pieces.toString("utf8", 0, SHOWN) };
}
