// Python packages in an environment of their own, kept by a hash of what was asked for.
import { createHash } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, fillWhole } from "./cache.mjs";
import { firstLine, run } from "./command.mjs";

/**
 * @typedef {object} PythonEnvironment
 * @property {string} name
 * @property {string} version
 * @property {URL} requirements file with the pinned packages
 */

/**
 * The path of the environment's Python; made when it is absent.
 *
 * @param {PythonEnvironment} environment
 * @param {(line: string) => void} tell
 * @throws {Error} when there is no Python 3, or the packages can't be installed
 */
export async function pythonEnvironment({ name, version, requirements }, tell) {
  const python = await firstLine("python3", "--version");
  if (python === undefined) throw new Error("there is no python3 on PATH");
  const wanted = createHash("sha256")
    .update(python)
    .update(await readFile(requirements));
  const folder = join(cacheFolder(), `${name}-${version}-${wanted.digest("hex").slice(0, 16)}`);
  const program = join(folder, "bin", "python");
  const there = await access(program).then(
    () => true,
    () => false,
  );
  if (there) return program;
  tell(`${name} ${version}: installing for ${python}`);
  await fillWhole(folder, async (scratch) => {
    await run("python3", ["-m", "venv", scratch]);
    const install = ["-m", "pip", "install", "--quiet", "--requirement", requirements.pathname];
    await run(join(scratch, "bin", "python"), install);
  });
  return program;
}
