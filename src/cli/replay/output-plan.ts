import { type BigIntStats, constants, fstatSync } from "node:fs";
import { access, lstat, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { logThatOwns } from "../../audit/door.ts";
import { hasCode } from "../../events/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import type { Output } from "../terminal/output.ts";
import { safe } from "../terminal/text.ts";
import type { InputFile } from "./input-files.ts";
import { identityOf } from "./input-files.ts";

/** For the help of commands with output files. */
export const OUTPUTS_NOTE =
  "An output file appears when the command has ended. If the command fails or is interrupted, the previous file stays. Pipes and devices are written directly. The command refuses to overwrite its inputs and files of an audit log or journal.";

/** Other files of the command, which an output must not destroy. */
interface OtherFiles {
  readonly inputs: readonly InputFile[];
  /** Directory of `--audit`. */
  readonly audit?: string | undefined;
}

/** The target of an option. It is not open yet. */
export interface OutputPlan {
  readonly option: string;
  /** The name in the arguments. */
  readonly name: string;
  readonly to:
    | { readonly kind: "stdout" }
    /** An open file descriptor, for example `/dev/fd/3`. */
    | { readonly kind: "descriptor"; readonly fd: number }
    /** A named pipe or device, written directly. */
    | { readonly kind: "special" }
    /** A file that replaces `existing`, or a new one. `path` contains no links. */
    | { readonly kind: "file"; readonly path: string; readonly existing: BigIntStats | undefined };
  readonly identity: string | undefined;
}

/**
 * Finds the target of an option. Opens nothing.
 *
 * @throws CliError if it cannot be written, or if writing would destroy an input or a file of an audit log or journal.
 */
export async function planOutput(
  option: string,
  name: string,
  { audit, inputs }: OtherFiles,
): Promise<OutputPlan> {
  const plan = await targetOf(option, name).catch((error: unknown) => {
    throw error instanceof CliError
      ? error
      : new CliError(`${option}: ${safe(messageOf(error))}`, undefined, { cause: error });
  });
  const { identity, to } = plan;
  const input = inputs.find((each) => identity !== undefined && each.identity === identity);
  if (input !== undefined) {
    const which = input.name === name ? "" : `, as ${safe(input.name)}`;
    throw new CliError(`${option}: ${safe(name)} is one of the files to read${which}`);
  }
  // Also for special files: the lock of a log is a socket, and "a file of a log" is the better error.
  const path = to.kind === "file" ? to.path : await realpath(name).catch(() => undefined);
  if (path !== undefined) await refuseLogFile(plan, path, audit);
  if (to.kind !== "file") return plan;
  for (const [fd, stream] of [
    [1, "output"],
    [2, "error"],
  ] as const) {
    if (identity === undefined || identity !== identityOfDescriptor(fd)) continue;
    throw new CliError(`${option}: ${safe(name)} is where standard ${stream} goes`, USE_STDOUT);
  }
  return plan;
}

/** @throws CliError if two options write to the same file. */
export function checkApart(one: OutputPlan, other: OutputPlan): void {
  const isSame =
    one.to.kind === "file" && other.to.kind === "file"
      ? one.to.path === other.to.path
      : resolve(one.name) === resolve(other.name) && one.to.kind !== "stdout";
  if (isSame || (one.identity !== undefined && one.identity === other.identity)) {
    throw new CliError(`${one.option} and ${other.option}: expected two different files`);
  }
}

const USE_STDOUT = "Expected another file; - writes to standard output.";

async function targetOf(option: string, name: string): Promise<OutputPlan> {
  const plan = { option, name, identity: undefined };
  if (isStdout(name)) return { ...plan, to: { kind: "stdout" } };
  const fd = descriptorOf(name);
  if (fd !== undefined) {
    return { ...plan, to: { kind: "descriptor", fd }, identity: identityOfDescriptor(fd) };
  }
  const existing = await statOf(name);
  if (existing === undefined) {
    // Only a directory has a name with a separator at its end.
    if (/(?:^|[\\/])$/.test(name)) {
      throw new CliError(`${option}: expected a file, got ${name === "" ? "nothing" : safe(name)}`);
    }
    const path = await pathOfNew(name);
    return { ...plan, to: { kind: "file", path, existing } };
  }
  const identity = identityOf(existing);
  if (!existing.isFile()) return { ...plan, to: { kind: "special" }, identity };
  // Replacing a read-only file would succeed, so check its permission here.
  await access(name, constants.W_OK);
  return { ...plan, to: { kind: "file", path: await realpath(name), existing }, identity };
}

function descriptorOf(name: string): number | undefined {
  if (name === "/dev/stderr") return 2;
  const [, digits] = /^\/(?:dev|proc\/self)\/fd\/(\d{1,9})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function identityOfDescriptor(fd: number): string | undefined {
  return identityOf(fstatSync(fd, { bigint: true }));
}

async function statOf(name: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(name, { bigint: true });
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The path of a new file. Follows links whose target does not exist. */
async function pathOfNew(name: string): Promise<string> {
  const folder = await realpath(dirname(resolve(name))).catch((cause: unknown) => {
    throw hasCode(cause, "ENOENT")
      ? new Error(`ENOENT: no such file or directory, open '${name}'`, { cause })
      : cause;
  });
  const path = join(folder, basename(name));
  try {
    if (!(await lstat(path)).isSymbolicLink()) return path;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return path;
    throw error;
  }
  // This ends: a loop of links has failed in `stat` before.
  return pathOfNew(resolve(dirname(path), await readlink(path)));
}

/** The real path, also of a directory that does not exist yet. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const above = dirname(path);
    if (above === path || !hasCode(error, "ENOENT")) return path;
    return join(await realPathOf(above), basename(path));
  }
}

async function refuseLogFile(
  { name, option }: OutputPlan,
  path: string,
  audit: string | undefined,
): Promise<void> {
  const log = audit === undefined ? undefined : await realPathOf(resolve(audit));
  if (log !== undefined && `${log}${sep}`.startsWith(`${path}${sep}`)) {
    throw new CliError(`${option} and --audit: expected a file outside the log, got ${safe(name)}`);
  }
  const owner = await logThatOwns(path, log);
  if (owner === undefined) return;
  throw new CliError(
    `${option}: ${safe(name)} is a file of ${owner.kind}, in ${safe(owner.directory)}`,
    "Use a file in another directory.",
  );
}

/** Whether a file name means standard output. */
function isStdout(name: string | undefined): boolean {
  return name === "-" || /^\/(?:dev\/stdout|(?:dev|proc\/self)\/fd\/1)$/.test(name ?? "");
}

/** Options that can write to standard output. */
interface StdoutOptions {
  readonly out?: string | undefined;
  readonly rejects?: string | undefined;
  readonly "chrome-trace"?: string | undefined;
  readonly json?: boolean | undefined;
}

/**
 * The output for the summary: standard output, or standard error if an option writes to standard output.
 *
 * @throws CliError if more than one option writes to standard output.
 */
export function summaryOutput(options: StdoutOptions, io: Io): Output {
  const files = (["out", "rejects", "chrome-trace"] as const)
    .filter((option) => isStdout(options[option]))
    .map((option) => `--${option} -`);
  const takers = options.json === true ? [...files, "--json"] : files;
  if (takers.length > 1) {
    const which = takers.length === 2 ? "both" : "all";
    throw new CliError(
      `${takers.join(" and ")}: expected only one of them, ${which} write to stdout`,
    );
  }
  return files.length > 0 ? io.err : io.out;
}
