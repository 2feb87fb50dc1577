// The main entry in one minified file, from the sources; its two packages stay outside.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "tsdown";

/** @returns bytes of the main entry, minified, and of that with gzip. */
export async function entrySize() {
  const place = mkdtempSync(join(tmpdir(), "entelix-otel-bench-"));
  try {
    await build({
      config: false,
      entry: { index: fileURLToPath(new URL("../../src/index.ts", import.meta.url)) },
      outDir: place,
      format: "esm",
      platform: "node",
      target: "node20.19",
      dts: false,
      clean: false,
      minify: true,
      logLevel: "error",
      outExtensions: () => ({ js: ".mjs" }),
    });
    const minified = readFileSync(join(place, "index.mjs"));
    return { minified: minified.length, gzip: gzipSync(minified, { level: 9 }).length };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
