// Where built servers are kept, and how a folder gets there: whole or not at all.
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** `${XDG_CACHE_HOME:-~/.cache}/entelix-otel/servers`. The XDG rule: a relative path there is not to be used. */
export function cacheFolder(env = process.env) {
  const base = env.XDG_CACHE_HOME?.startsWith("/") ? env.XDG_CACHE_HOME : join(homedir(), ".cache");
  return join(base, "entelix-otel", "servers");
}

/**
 * Lets `fill` write into a scratch folder beside `folder`, then renames it into place. An interrupted `fill`
 * leaves `folder` absent; where another process was faster, its result stands.
 *
 * @param {string} folder
 * @param {(scratch: string) => Promise<void>} fill
 */
export async function fillWhole(folder, fill) {
  await mkdir(cacheFolder(), { recursive: true });
  const scratch = await mkdtemp(join(cacheFolder(), ".building-"));
  try {
    await fill(scratch);
    await rename(scratch, folder).catch((error) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
