import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { urlScheme } from "../../audit/ndjson/ndjson-options.ts";
import { logPaths } from "../../audit/ndjson/segment-store.ts";
import { isPostgresUrl } from "../../audit/postgres/postgres-options.ts";
import { segmentFiles } from "../../audit/verify/segment-files.ts";
import { textBytes } from "../../ingest/byte-source.ts";
import { GZIP_MAGIC } from "../../ingest/gunzip.ts";
import { nodeFileLayer } from "../../storage/node-file-layer.ts";
import { CliError } from "../cli-error.ts";
import { type InputFile, inputFiles } from "../replay/input-files.ts";
import { safe } from "../terminal/text.ts";

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
  /** Folders that some of the files are in. */
  readonly folders: readonly string[];
  /** Audit logs: directories, and URLs of databases. */
  readonly logs: readonly string[];
}

/** Files of a folder that are read. */
const READ = /\.(?:ndjson|jsonl|json)(?:\.gz)?$/;

/**
 * Finds out what each place is, before anything is read.
 *
 * @throws CliError naming the place that is nothing of the kind.
 */
export async function placesOf(places: readonly string[]): Promise<Places> {
  const names: string[] = [];
  const logs: string[] = [];
  const folders: string[] = [];
  for (const place of places) {
    if (urlScheme(place) !== undefined) logs.push(checkedUrl(place));
    else if (place === "-" || !(await isDirectory(place))) names.push(place);
    else if (await isLog(place)) logs.push(place);
    else {
      const found = await filesIn(place);
      if (found.length === 0) throw new CliError(`${safe(place)}: ${EXPECTED}`);
      names.push(...found);
      folders.push(place);
    }
  }
  return { files: await placedFiles(names), folders, logs: [...new Set(logs)] };
}

const EXPECTED =
  "expected an audit log, or files *.ndjson, *.jsonl or *.json (also .gz), found none";

/**
 * The files of these names; one that was named twice is there once.
 *
 * @throws CliError naming the file that can't be read.
 */
export async function placedFiles(names: readonly string[]): Promise<readonly PlacedFile[]> {
  return Promise.all(distinct(await inputFiles(names)).map(placedFile));
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

async function isLog(directory: string): Promise<boolean> {
  return (await segmentFiles(nodeFileLayer, logPaths(directory))).last > 0;
}

/** Names of the files of a folder that are read, in their order. */
export async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && READ.test(entry.name))
    .map(({ name }) => join(directory, name))
    .sort();
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

async function placedFile(input: InputFile): Promise<PlacedFile> {
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
    for await (const chunk of createReadStream(path, { highWaterMark: SHOWN })) {
      const bytes = Buffer.from(chunk);
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
