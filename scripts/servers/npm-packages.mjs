// npm packages in a folder of their own, kept by a hash of their lock file.
import { createHash } from "node:crypto";
import { access, copyFile, readFile } from "node:fs/promises";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { cacheFolder, fillWhole } from "./cache.mjs";
import { run } from "./command.mjs";

/**
 * @typedef {object} NpmPackages
 * @property {string} name
 * @property {string} version
 * @property {URL} manifest folder with package.json and package-lock.json
 * @property {string} path what is answered, below the folder they are installed in
 */

/**
 * The path of what was installed; installed when it is absent.
 *
 * @param {NpmPackages} packages
 * @param {(line: string) => void} tell
 * @throws {Error} when npm can't install them
 */
export async function npmPackages({ name, version, manifest, path }, tell) {
  const files = ["package.json", "package-lock.json"];
  const hash = createHash("sha256").update(`${platform()} ${arch()}`);
  for (const file of files) hash.update(await readFile(new URL(file, manifest)));
  const folder = join(cacheFolder(), `${name}-${version}-${hash.digest("hex").slice(0, 16)}`);
  const wanted = join(folder, path);
  const there = await access(wanted).then(
    () => true,
    () => false,
  );
  if (there) return wanted;
  tell(`${name} ${version}: installing with npm`);
  await fillWhole(folder, async (scratch) => {
    for (const file of files) await copyFile(new URL(file, manifest), join(scratch, file));
    // The packages may ask for a newer Node than the one that installs them.
    const quiet = ["--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error"];
    await run("npm", ["ci", ...quiet], { cwd: scratch });
    await access(join(scratch, path));
  });
  return wanted;
}
