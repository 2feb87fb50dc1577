// Cargo on a crate of this repository, and a program of it that is kept by a hash of what it was built from.
import { createHash } from "node:crypto";
import { copyFile, readdir, readFile, rm } from "node:fs/promises";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, fillWhole } from "./cache.mjs";
import { compareChecksum, writeChecksum } from "./checksum.mjs";
import { firstLine, run } from "./command.mjs";

/**
 * @typedef {object} CargoExample
 * @property {string} name
 * @property {string} version
 * @property {URL} crate folder with Cargo.toml and Cargo.lock, with a slash at its end
 * @property {string} example the program: a file of the crate's `examples`
 */

/** Beside the kept programs, so that the crates below are compiled once for builds and tests. */
const targetFolder = () => join(cacheFolder(), "cargo-target");

/**
 * Runs cargo in the crate, with the versions of its lock file; two jobs, so that a small machine stays usable.
 *
 * @param {URL} crate
 * @param {string} command
 * @param {...string} args
 * @returns {Promise<string>} what it said
 * @throws {Error} when there is no cargo, or it fails
 */
export function cargo(crate, command, ...args) {
  const env = { ...process.env, CARGO_TARGET_DIR: targetFolder(), CARGO_TERM_COLOR: "never" };
  return run("nice", ["-n", "10", "cargo", command, "--locked", "--jobs", "2", ...args], {
    cwd: fileURLToPath(crate),
    env,
  });
}

/** @param {CargoExample} program @param {string} rust */
async function buildInputs({ crate, example }, rust) {
  const hash = createHash("sha256").update(JSON.stringify([example, rust, platform(), arch()]));
  const files = (await readdir(crate, { recursive: true })).map((file) =>
    file.replaceAll("\\", "/"),
  );
  for (const file of files.sort()) {
    if (/^(?:Cargo\.(?:toml|lock)|(?:src|examples)\/.*\.rs)$/.test(file)) {
      hash.update(JSON.stringify([file, await readFile(new URL(file, crate), "utf8")]));
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/**
 * The program's path in the cache; built when it is absent or no longer what was built.
 *
 * @param {CargoExample} program
 * @param {(line: string) => void} tell
 * @throws {Error} when there is no Rust, or it can't build the program
 */
export async function cargoExample(program, tell) {
  const { name, version, crate, example } = program;
  const rust = await firstLine("rustc", "--version");
  if (rust === undefined) {
    throw new Error("it has to be built, and there is no Rust: put cargo 1.95 or newer on PATH");
  }
  const folder = join(cacheFolder(), `${name}-${version}-${await buildInputs(program, rust)}`);
  const binary = join(folder, example);
  const state = await compareChecksum(binary);
  if (state === "good") return binary;
  if (state === "changed") tell(`${name}: not what was built, so it is built again`);
  await rm(folder, { recursive: true, force: true });

  tell(`${name} ${version}: building with ${rust}; the first time takes minutes`);
  await cargo(crate, "build", "--example", example);
  await fillWhole(folder, async (scratch) => {
    const built = join(scratch, example);
    await copyFile(join(targetFolder(), "debug", "examples", example), built);
    await writeChecksum(built);
  });
  return binary;
}
