import { defineConfig } from "tsdown";

export default defineConfig([
  {
    // What users import. Nothing is bundled in: the API must be the application's own copy.
    entry: {
      index: "src/index.ts",
      setup: "src/otel/setup/index.ts",
      telemetry: "src/otel/setup/metrics/index.ts",
      postgres: "src/audit/postgres/index.ts",
      runtime: "src/runtime/index.ts",
      langchain: "src/adapters/langchain/index.ts",
      "openai-agents": "src/adapters/openai-agents/index.ts",
    },
    format: ["esm", "cjs"],
    platform: "node",
    target: "node20.19",
    dts: true,
    clean: true,
    outExtensions: ({ format }) =>
      format === "cjs" ? { js: ".cjs", dts: ".d.cts" } : { js: ".mjs", dts: ".d.mts" },
  },
  {
    // The command carries its own SDK, so that it runs in any project, whatever SDK is there.
    entry: { "cli/main": "src/cli/main.ts", "cli/doctor-setup": "src/cli/doctor/setup-program.ts" },
    format: ["esm"],
    platform: "node",
    target: "node20.19",
    dts: false,
    clean: false,
    deps: { alwaysBundle: [/^@opentelemetry\//, "uuid"], onlyBundle: false },
    // The packages' ESM builds: smaller, and free of the bundler's CommonJS wrappers.
    inputOptions: { resolve: { mainFields: ["module", "main"] } },
    outputOptions: { chunkFileNames: "cli/[name]-[hash].mjs" },
    outExtensions: () => ({ js: ".mjs" }),
  },
]);
