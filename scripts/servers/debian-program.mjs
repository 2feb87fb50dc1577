// A server that Debian has: the one on PATH, or else installed by apt-get where this process may.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { firstLine, run } from "./command.mjs";

const PACKAGES = ["prometheus", "prometheus-alertmanager"];

/** One installation for all that ask at once. @type {Promise<void> | undefined} */
let installing;

/**
 * @typedef {object} DebianProgram
 * @property {string} name
 * @property {readonly string[]} programs its names on PATH, Debian's own among them
 */

/** @param {string} program that was just run by its name */
function pathOf(program) {
  const files = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, program));
  return files.find((file) => existsSync(file)) ?? program;
}

/** @param {DebianProgram} program */
async function find({ programs }) {
  for (const program of programs) {
    const line = await firstLine(program, "--version");
    const version = /version (\S+)/.exec(line ?? "")?.[1];
    if (version !== undefined) return { version, path: pathOf(program) };
  }
  return undefined;
}

/**
 * @param {DebianProgram} program
 * @param {(line: string) => void} tell
 * @returns {Promise<{ version: string, path: string }>}
 * @throws {Error} when it is not on PATH and can't be installed
 */
export async function debianProgram(program, tell) {
  const there = await find(program);
  if (there !== undefined) return there;
  installing ??= install(program.name, tell);
  await installing;
  const installed = await find(program);
  if (installed === undefined) {
    throw new Error(`${PACKAGES.join(" ")} are installed, and it is not on PATH`);
  }
  return installed;
}

/**
 * @param {string} name
 * @param {(line: string) => void} tell
 */
async function install(name, tell) {
  const wanted = `apt-get install --no-install-recommends ${PACKAGES.join(" ")}`;
  if ((await firstLine("apt-get", "--version")) === undefined) {
    throw new Error(`not on PATH, and there is no apt-get to install it with`);
  }
  if (process.getuid?.() !== 0) {
    throw new Error(`not on PATH, and only root may install it: ${wanted}`);
  }
  tell(`${name}: ${wanted}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update"], { env });
  await run("apt-get", ["install", "--yes", "--no-install-recommends", ...PACKAGES], { env });
}
