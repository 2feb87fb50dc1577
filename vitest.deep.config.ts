import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** What takes long: tests that kill and wait, and each property that `npm test` draws a tenth of. */
const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => `test/${name.replaceAll("\\", "/")}`)
  .filter(
    (file) =>
      file.endsWith(".deep.ts") ||
      (file.endsWith(".test.ts") && readFileSync(file, "utf8").includes("support/runs.ts")),
  );

export default defineConfig({
  test: {
    include: files,
    testTimeout: 120_000,
    setupFiles: process.env.ENTELIX_SAME_DRAWS === "1" ? ["test/support/fixed-seed.ts"] : [],
    pool: "forks",
    maxWorkers: "100%",
    env: { ENTELIX_DEEP_TESTS: "1" },
  },
});
