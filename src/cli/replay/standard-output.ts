import { CliError } from "../cli-error.ts";
import type { Io } from "../command.ts";
import type { Output } from "../terminal/output.ts";

/** Whether a name of a file means the command's own standard output. */
export function isStdout(name: string | undefined): boolean {
  return name === "-" || /^\/(?:dev\/stdout|(?:dev|proc\/self)\/fd\/1)$/.test(name ?? "");
}

/** The options that can have standard output for what they write. */
export interface StdoutOptions {
  readonly out?: string | undefined;
  readonly rejects?: string | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Where the summary for a person goes: standard output, or standard error where an option has the other
 * for itself, so that what it writes can be piped on.
 *
 * @throws CliError when more than one of them writes to standard output.
 */
export function summaryOutput({ json, out, rejects }: StdoutOptions, io: Io): Output {
  const files = [
    ...(isStdout(out) ? ["--out -"] : []),
    ...(isStdout(rejects) ? ["--rejects -"] : []),
  ];
  const takers = json === true ? [...files, "--json"] : files;
  if (takers.length > 1) {
    const which = takers.length === 2 ? "both" : "all";
    throw new CliError(
      `${takers.join(" and ")}: expected only one of them, ${which} write to stdout`,
    );
  }
  return files.length > 0 ? io.err : io.out;
}
