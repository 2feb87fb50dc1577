// npm run build: builds dist, unless dist is what was built of the same files before. Every command that needs the
// build asks for it, which would be seven builds in CI. `npm run build -- --force` builds in any case.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Below node_modules, so that other dependencies are another build. */
const RECORD = join(root, "node_modules/.cache/entelix-otel/build");
const INPUTS = [
  "src",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsdown.config.ts",
  "scripts/reached-files.ts",
];

/** Files below a folder, or the file itself, by path from the root. */
function filesOf(name) {
  const path = join(root, name);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [name];
  return readdirSync(path, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

/** What dist was built of, and what it was then: a file that was changed or removed since needs a build. */
function state() {
  const hash = createHash("sha256").update(process.version);
  for (const name of INPUTS.flatMap(filesOf)) {
    hash.update(`\0${name}\0`).update(readFileSync(join(root, name)));
  }
  for (const name of filesOf("dist")) {
    const { mtimeMs, size } = statSync(join(root, name));
    hash.update(`\0${name}\0${size}\0${mtimeMs}`);
  }
  return hash.digest("hex");
}

function recorded() {
  try {
    return readFileSync(RECORD, "utf8");
  } catch {
    return undefined;
  }
}

if (process.argv.includes("--force") || recorded() !== state()) {
  rmSync(RECORD, { force: true });
  const tsdown = join(root, "node_modules/tsdown/dist/run.mjs");
  const build = spawnSync(process.execPath, [tsdown, "--logLevel", "error"], {
    cwd: root,
    stdio: "inherit",
  });
  if (build.error !== undefined) throw build.error;
  process.exitCode = build.status ?? 1;
  if (process.exitCode === 0) {
    mkdirSync(dirname(RECORD), { recursive: true });
    writeFileSync(RECORD, state());
  }
}
