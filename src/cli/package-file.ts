import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Path of a file of this package, from the built command as well as from the sources. */
export function packageFile(...names: string[]): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, "package.json")) && directory !== dirname(directory)) {
    directory = dirname(directory);
  }
  return join(directory, ...names);
}
