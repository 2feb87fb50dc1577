import { isDiskFull } from "../../storage/system-error.ts";
import { safe } from "../terminal/safe-text.ts";

/** What to do where a directory can't be opened; `undefined` where the error says it. */
export function openingHint(error: unknown, directory: string): string | undefined {
  if (!isDiskFull(error)) return undefined;
  return `Free some space on the disk of ${safe(directory)}, then start again: nothing that is there is lost.`;
}
