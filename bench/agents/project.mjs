// A folder in which the built package, the frameworks and the peers are one application, with one copy of each.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Installs what is missing.
 *
 * @param before folder of another version of the package, built; it is `entelix-otel-before` in the project.
 * @returns the folder, which is removed when the process exits, and `versionOf` a package in it.
 */
export function makeProject(before) {
  const install = [join(ROOT, "scripts/servers/install.mjs"), "peers"];
  const stdio = ["ignore", "pipe", "inherit"];
  const said = execFileSync(process.execPath, install, { encoding: "utf8", stdio });
  const modules = said.trim().split(" ").slice(2).join(" ");
  // Inside the installation: what is not in the folder itself is found one `node_modules` up.
  const folder = mkdtempSync(join(dirname(modules), "project-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  const packages = { "entelix-otel": ROOT };
  if (before !== undefined) packages["entelix-otel-before"] = before;
  for (const [name, root] of Object.entries(packages)) {
    const copy = join(folder, "node_modules", name);
    mkdirSync(copy, { recursive: true });
    cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
    cpSync(join(root, "package.json"), join(copy, "package.json"));
  }
  cpSync(HERE, folder, { recursive: true });
  const versionOf = (name) =>
    JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version;
  return { folder, versionOf };
}
