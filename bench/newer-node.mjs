// Runs a TypeScript program of the end-to-end tests with the newer Node that they install: it reads TypeScript.
import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** @param path of the program, from this folder; it gets this process's arguments. */
export function runWithNewerNode(path) {
  const install = [at("../scripts/servers/install.mjs"), "newer-node"];
  const [, , ...node] = execFileSync(process.execPath, install, { encoding: "utf8" })
    .trim()
    .split(" ");
  const program = [at(path), ...process.argv.slice(2)];
  process.exitCode = spawnSync(node.join(" "), program, { stdio: "inherit" }).status ?? 1;
}
