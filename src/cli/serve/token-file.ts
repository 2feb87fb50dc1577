import { readTokenFile } from "../../service/http/tokens/read-token-file.ts";
import type { TokenEntry } from "../../service/http/tokens/token-entry.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/**
 * The entries of the tokens file.
 *
 * @throws CliError naming the file and what is wrong with it.
 */
export async function tokenEntries(path: string): Promise<readonly TokenEntry[]> {
  try {
    return await readTokenFile(path);
  } catch (error) {
    throw new CliError(`--tokens: ${safe(path)}: ${safe(messageOf(error))}`, undefined, {
      cause: error,
    });
  }
}
