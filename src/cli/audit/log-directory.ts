import { stat } from "node:fs/promises";
import { urlScheme } from "../../audit/url-scheme.ts";
import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/** @throws CliError when there is no such directory: a log that is not there is not a whole one. */
export async function checkLogDirectory(directory: string): Promise<void> {
  const scheme = urlScheme(directory);
  if (scheme !== undefined) {
    // Without the rest of it: a URL may hold a password, and errors are kept in logs.
    throw new CliError(`expected a directory or postgres://…, got a URL (${safe(scheme)}…)`);
  }
  const found = await stat(directory).catch(() => undefined);
  if (found === undefined) throw new CliError(`${safe(directory)}: no such directory`);
  if (!found.isDirectory()) {
    throw new CliError(`${safe(directory)}: expected the directory of an audit log, got a file`);
  }
}
