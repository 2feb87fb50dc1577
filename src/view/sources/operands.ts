import { stat } from "node:fs/promises";
import {
  fileBytes,
  isPostgresUrl,
  logPaths,
  nodeFileLayer,
  segmentFiles,
  urlScheme,
} from "../../audit/door.ts";
import {
  BEGINNING_BYTES,
  begun,
  CliError,
  type InputFile,
  inputFiles,
  safe,
} from "../../cli/door.ts";
import { GZIP_MAGIC } from "../../replay/door.ts";
import { ViewedFolder } from "./viewed-folder.ts";

/** A file to read, and the kind of its content. */
export interface SourceFile {
  readonly input: InputFile;
  readonly kind: "recording" | "spans";
  /** Whether it can be followed as it grows. */
  readonly grows: boolean;
}

/** The sources that the operands of a command name. */
export interface OperandSources {
  readonly files: readonly SourceFile[];
  /** Folders of files. Their files are in `files`. */
  readonly folders: readonly ViewedFolder[];
  /** Audit logs: directories, and URLs of databases. */
  readonly logs: readonly string[];
}

/**
 * Finds out what each operand names, before anything is read.
 *
 * @throws CliError naming an operand that is not a source.
 */
export async function sourcesOf(operands: readonly string[]): Promise<OperandSources> {
  const inputs: InputFile[] = [];
  const logs: string[] = [];
  const folders: ViewedFolder[] = [];
  await inputFiles(operands.filter((operand) => operand === "-"));
  for (const operand of new Set(operands)) {
    if (urlScheme(operand) !== undefined) logs.push(checkedUrl(operand));
    else if (operand === "-" || !(await isDirectory(operand)))
      for (const file of await inputFiles([operand])) inputs.push(file);
    else if (await isLog(operand)) logs.push(operand);
    else {
      const folder = new ViewedFolder(operand);
      for (const file of await folder.look()) inputs.push(file);
      folders.push(folder);
    }
  }
  return { files: await Promise.all(distinct(inputs).map(sourceFile)), folders, logs };
}

/**
 * @throws CliError when it is not the URL of a database, or has a password: all users of the machine can see arguments.
 */
function checkedUrl(operand: string): string {
  if (!isPostgresUrl(operand)) {
    // Without the rest of the URL: it may have a password, and errors are stored in logs.
    const scheme = safe(urlScheme(operand) ?? "");
    throw new CliError(`expected a file, a directory or postgres://…, got a URL (${scheme}…)`);
  }
  let url: URL;
  try {
    url = new URL(operand);
  } catch {
    throw new CliError("expected postgres://USER@HOST/DATABASE, got a URL that can't be read");
  }
  if (url.password !== "" || url.searchParams.has("password")) {
    throw new CliError(
      "expected a URL without a password",
      "The variable PGPASSWORD, or the file that PGPASSFILE names, gives the password.",
    );
  }
  return operand;
}

async function isDirectory(operand: string): Promise<boolean> {
  return (await stat(operand).catch(() => undefined))?.isDirectory() === true;
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

/** @param input a file, or a pipe that the user named. */
export async function sourceFile(input: InputFile): Promise<SourceFile> {
  const { path, size } = input;
  // A pipe can be read only once, so its content is not inspected first.
  if (path === undefined || size === undefined) return { input, kind: "recording", grows: false };
  const { isGzip, isSpans } = await beginOf(path);
  return { input, kind: isSpans ? "spans" : "recording", grows: !isGzip };
}

async function beginOf(path: string): Promise<{ isSpans: boolean; isGzip: boolean }> {
  const magic = Buffer.alloc(GZIP_MAGIC.length);
  let seen = 0;
  async function* noted(): AsyncGenerator<Buffer, void, undefined> {
    for await (const bytes of fileBytes(path, BEGINNING_BYTES)) {
      if (seen < magic.length) bytes.copy(magic, seen);
      seen += bytes.length;
      yield bytes;
    }
  }
  const { isSpans, text } = await begun(noted());
  try {
    // One step, so that the file is closed.
    await text.next();
    await text.return();
  } catch {
    // Damaged: reading it reports the problem.
  }
  return { isSpans, isGzip: GZIP_MAGIC.every((byte, at) => magic[at] === byte) };
}
