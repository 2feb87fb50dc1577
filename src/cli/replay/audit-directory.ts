import { NdjsonSessionLog } from "../../audit/ndjson/ndjson-session-log.ts";
import { urlScheme } from "../../audit/url-scheme.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/**
 * Opens the audit log that `--audit` named, making it where there is none.
 *
 * @throws CliError when the directory can't be written, or is open elsewhere; when it is a URL,
 *   or empty.
 */
export async function openAuditLog(directory: string): Promise<NdjsonSessionLog> {
  // `--audit=$DIR` with nothing in DIR: it would be the folder that the command happens to run in.
  if (directory === "") throw new CliError("--audit: expected a directory, got nothing");
  const scheme = urlScheme(directory);
  if (scheme !== undefined) {
    throw new CliError(
      `--audit: expected a directory, got a URL (${safe(scheme)}…)`,
      "Rows are written to PostgreSQL by serve, by consume, and by the bridge with a PostgresSessionLog.",
    );
  }
  try {
    return await NdjsonSessionLog.open(directory);
  } catch (error) {
    throw new CliError(`--audit: ${safe(messageOf(error))}`, undefined, { cause: error });
  }
}
