import { stat } from "node:fs/promises";
import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/** @throws CliError when there is no such directory: a log that is not there is not a whole one. */
export async function checkLogDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined);
  if (found === undefined) throw new CliError(`${safe(directory)}: no such directory`);
  if (!found.isDirectory()) {
    throw new CliError(`${safe(directory)}: expected the directory of an audit log, got a file`);
  }
}
