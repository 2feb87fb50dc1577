import { urlScheme } from "../../audit/url-scheme.ts";
import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/**
 * Checks what an option says of a directory that is made where there is none: a slip must not become a
 * folder.
 *
 * @throws CliError when it is empty, `-`, or a URL.
 */
export function checkDirectoryOption(option: string, directory: string, urlHint?: string): void {
  // `--audit=$DIR` with nothing in DIR: it would be the folder that the command happens to run in.
  if (directory === "") throw new CliError(`${option}: expected a directory, got nothing`);
  if (directory === "-") {
    throw new CliError(
      `${option}: expected a directory, got -`,
      "A directory can't be written to stdout; one that is called so is ./-",
    );
  }
  const scheme = urlScheme(directory);
  if (scheme !== undefined) {
    // Without the rest of it: a URL may hold a password, and errors are kept in logs.
    throw new CliError(`${option}: expected a directory, got a URL (${safe(scheme)}…)`, urlHint);
  }
}
