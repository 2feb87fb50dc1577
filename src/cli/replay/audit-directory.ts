import { stat } from "node:fs/promises";
import { logFilesIn, NdjsonSessionLog } from "../../audit/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { openingHint } from "../services/opening-failed.ts";
import { checkDirectoryOption } from "../services/options.ts";
import { safe } from "../terminal/text.ts";
import type { InputFile } from "./input-files.ts";
import { identityOf } from "./input-files.ts";

const POSTGRES_HINT =
  "Rows are written to PostgreSQL by serve, by consume, and by the bridge with a PostgresSessionLog.";

/** Memory for the search of earlier rows, in bytes. Enough for millions of rows. */
const LOOK_UP_BYTES = 512 * 1024 * 1024;

/**
 * Opens the audit log of `--audit`. Creates it if it does not exist.
 *
 * @throws CliError if the directory cannot be written, is open in another process, or is a URL, `-` or empty; or if an
 *   input is a file of the log.
 */
export async function openAuditLog(
  directory: string,
  inputs: readonly InputFile[],
): Promise<NdjsonSessionLog> {
  checkDirectoryOption("--audit", directory, POSTGRES_HINT);
  for (const path of await logFilesIn(directory)) {
    const found = await stat(path, { bigint: true }).catch(() => undefined);
    const identity = found && identityOf(found);
    const input = inputs.find((each) => identity !== undefined && each.identity === identity);
    if (input === undefined) continue;
    // Each row that is read would be written, and then read again.
    throw new CliError(
      `--audit: expected a log that is not an input, got ${safe(input.name)} of ${safe(directory)}`,
    );
  }
  try {
    return await NdjsonSessionLog.open(directory, { lookUpBytes: LOOK_UP_BYTES });
  } catch (error) {
    const hint = openingHint(error, directory);
    throw new CliError(`--audit: ${safe(messageOf(error))}`, hint, { cause: error });
  }
}

/**
 * Closes a log before the summary is printed.
 *
 * @param say called with the error if the log could not be closed.
 * @returns whether it was closed.
 */
export async function closeAuditLog(
  log: NdjsonSessionLog,
  say: (text: string) => void,
): Promise<boolean> {
  try {
    await log.close();
    return true;
  } catch (error) {
    say(`--audit: ${messageOf(error)}`);
    return false;
  }
}
