// A folder in which the built package, the frameworks and the peers are one application, with one copy of each.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Installs what is missing.
 *
 * @param others name to the folder of another checkout, built: its package is there under that name.
 * @returns the folder; it is gone when the process exits.
 */
export function makeProject(others = {}) {
  const install = [join(ROOT, "scripts/servers/install.mjs"), "peers"];
  const stdio = ["ignore", "pipe", "inherit"];
  const said = execFileSync(process.execPath, install, { encoding: "utf8", stdio });
  const modules = said.trim().split(" ").slice(2).join(" ");
  // Inside the installation: what is not in the folder itself is found one `node_modules` up.
  const folder = mkdtempSync(join(dirname(modules), "project-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  for (const [name, root] of Object.entries({ "entelix-otel": ROOT, ...others })) {
    const copy = join(folder, "node_modules", name);
    mkdirSync(copy, { recursive: true });
    cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
    cpSync(join(root, "package.json"), join(copy, "package.json"));
  }
  cpSync(HERE, folder, { recursive: true });
  return folder;
}
