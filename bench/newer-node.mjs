// The newer Node that the end-to-end tests install: it reads TypeScript, and some frameworks ask for it.
import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** @returns its path; installed if it is missing. */
export function newerNode() {
  const install = [at("../scripts/servers/install.mjs"), "newer-node"];
  const [, , ...node] = execFileSync(process.execPath, install, { encoding: "utf8" })
    .trim()
    .split(" ");
  return node.join(" ");
}

/** @param path of the program, from this folder; it gets this process's arguments. */
export function runWithNewerNode(path) {
  const program = [at(path), ...process.argv.slice(2)];
  process.exitCode = spawnSync(newerNode(), program, { stdio: "inherit" }).status ?? 1;
}
