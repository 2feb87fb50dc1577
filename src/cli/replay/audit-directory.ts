import { NdjsonSessionLog } from "../../audit/ndjson/ndjson-session-log.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/**
 * Opens the audit log that `--audit` named, making it where there is none.
 *
 * @throws CliError when the directory can't be written, or is open elsewhere.
 */
export async function openAuditLog(directory: string): Promise<NdjsonSessionLog> {
  try {
    return await NdjsonSessionLog.open(directory);
  } catch (error) {
    throw new CliError(`--audit: ${safe(messageOf(error))}`, undefined, { cause: error });
  }
}
