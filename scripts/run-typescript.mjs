// node scripts/run-typescript.mjs FILE.ts [ARGUMENT …]: runs a TypeScript program of this repository, which Node 20
// can't by itself. The program and what it imports are bundled into one file in a folder that is removed again.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "tsdown";

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new TypeError("expected the path of a TypeScript program");

/** Modules that look for files beside themselves find them: each keeps its own address in the bundle. */
const ownAddress = {
  name: "own-address",
  transform(code, id) {
    if (!id.endsWith(".ts") || !code.includes("import.meta.")) return undefined;
    return code
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)));
  },
};

const place = mkdtempSync(join(tmpdir(), "entelix-otel-program-"));
try {
  await build({
    config: false,
    entry: { program: resolve(program) },
    outDir: place,
    format: "esm",
    platform: "node",
    target: "node20.19",
    dts: false,
    clean: false,
    logLevel: "error",
    plugins: [ownAddress],
    deps: { alwaysBundle: [/./], onlyBundle: false },
    // The packages' ESM builds: the bundler's CommonJS wrappers get into each other.
    inputOptions: { resolve: { mainFields: ["module", "main"] } },
    outExtensions: () => ({ js: ".mjs" }),
  });
  const { error, status } = spawnSync(process.execPath, [join(place, "program.mjs"), ...args], {
    stdio: "inherit",
  });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
