// A server that is a set of jars from a Maven repository, kept by a hash of the file that names them.
import { createHash } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, fillWhole } from "./cache.mjs";
import { firstLine, run } from "./command.mjs";

/**
 * @typedef {object} MavenJars
 * @property {string} name
 * @property {string} version
 * @property {URL} pom the project whose dependencies are the jars
 */

/**
 * The folder of the jars; filled when it is absent.
 *
 * @param {MavenJars} jars
 * @param {(line: string) => void} tell
 * @throws {Error} when there is no Java or no Maven, or the jars can't be had
 */
export async function mavenJars({ name, version, pom }, tell) {
  const hash = createHash("sha256").update(await readFile(pom));
  const folder = join(cacheFolder(), `${name}-${version}-${hash.digest("hex").slice(0, 16)}`);
  const there = await access(folder).then(
    () => true,
    () => false,
  );
  if (there) return folder;
  if ((await firstLine("java", "-version")) === undefined) {
    throw new Error(`${version} runs on Java 17 or newer, and there is no java on PATH`);
  }
  const maven = await firstLine("mvn", "--batch-mode", "--version");
  if (maven === undefined)
    throw new Error(`${version} comes by Maven, and there is no mvn on PATH`);
  tell(`${name} ${version}: fetching its jars with ${maven}`);
  await fillWhole(folder, async (scratch) => {
    const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${scratch}`];
    await run("mvn", ["--batch-mode", "--quiet", "--file", fileURLToPath(pom), ...goal]);
  });
  return folder;
}
