import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "tsdown";

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

/**
 * Bundles a TypeScript file of this repository, which Node 20 can't run by itself, and what it imports into
 * one file, in a folder that is removed again.
 *
 * @param file its path, or its URL.
 * @param use gets the path of that file. Returns what it does.
 */
export async function withBundle(file, use) {
  const place = mkdtempSync(join(tmpdir(), "entelix-otel-program-"));
  try {
    await build({
      config: false,
      entry: { program: file instanceof URL ? fileURLToPath(file) : resolve(file) },
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
    return await use(join(place, "program.mjs"));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
