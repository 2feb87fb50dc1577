// A program in one file, built as the command is: its modules are no part of the package.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";

/**
 * Calls `use` with the path of the bundle, which is gone afterwards.
 *
 * @param program the URL of its source.
 */
export async function withBundle(program, use) {
  const place = mkdtempSync(join(tmpdir(), "entelix-otel-bench-"));
  try {
    await build({
      config: false,
      entry: { program: fileURLToPath(program) },
      outDir: place,
      format: "esm",
      platform: "node",
      target: "node20.19",
      dts: false,
      clean: false,
      logLevel: "error",
      deps: { alwaysBundle: [/./], onlyBundle: false },
      inputOptions: { resolve: { mainFields: ["module", "main"] } },
      outExtensions: () => ({ js: ".mjs" }),
    });
    return await use(join(place, "program.mjs"));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
