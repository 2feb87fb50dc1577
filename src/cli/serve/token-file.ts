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

/** Has `reread` called at each SIGHUP, one call after the other. @returns ends that. */
export function onHangUp(reread: () => Promise<void>): () => void {
  let last: Promise<void> = Promise.resolve();
  const again = () => {
    last = last.then(reread);
  };
  process.on("SIGHUP", again);
  return () => void process.off("SIGHUP", again);
}
