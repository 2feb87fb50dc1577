import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * Makes a folder for projects that see no packages but their own: with a `node_modules` anywhere
 * above it, a package that was never installed would be found all the same.
 */
export async function emptyPlace() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  for (const parent of [tmpdir(), cache]) {
    await mkdir(parent, { recursive: true });
    const place = await realpath(parent);
    if (!hasPackagesAbove(place)) return mkdtemp(join(place, "entelix-otel-package-"));
  }
  throw new Error(`TMPDIR: expected a folder with no node_modules in it or above, got ${tmpdir()}`);
}

function hasPackagesAbove(folder) {
  if (existsSync(join(folder, "node_modules"))) return true;
  const parent = dirname(folder);
  return parent !== folder && hasPackagesAbove(parent);
}
