import { readFileSync, writeFileSync } from "node:fs";
import { esmExternalRequirePlugin } from "rolldown/plugins";
import { defineConfig } from "tsdown";
import { reachedFiles } from "./scripts/reached-files.ts";

/** The source files that the root entry needs. */
const { files: reachedByRoot } = reachedFiles("src/index.ts");

/** The page's styles in one file, in this order. */
const STYLES = ["base", "list", "run", "overview", "timeline", "details", "graph", "talk"].map(
  (name) => `src/view/page/styles/${name}.css`,
);

/** Packages that the library entries carry. */
const BUNDLED = [
  "@opentelemetry/context-async-hooks",
  "@opentelemetry/core",
  "@opentelemetry/exporter-metrics-otlp-http",
  "@opentelemetry/otlp-exporter-base",
  "@opentelemetry/otlp-transformer",
];

export default defineConfig([
  {
    // What users import. The API and the SDK are the application's own copies. Bundled in are only the parts of
    // OpenTelemetry that the SDK does not export in both of its lines, and its encoders: otherwise users had to
    // install their packages.
    entry: {
      index: "src/index.ts",
      "ai-sdk": "src/entries/ai-sdk.ts",
      audit: "src/entries/audit.ts",
      "claude-agent": "src/entries/claude-agent.ts",
      context: "src/entries/context.ts",
      events: "src/entries/events.ts",
      langchain: "src/entries/langchain.ts",
      mcp: "src/entries/mcp.ts",
      mastra: "src/entries/mastra.ts",
      "openai-agents": "src/entries/openai-agents.ts",
      postgres: "src/entries/postgres.ts",
      prices: "src/entries/prices.ts",
      register: "src/entries/register.ts",
      replay: "src/entries/replay.ts",
      runtime: "src/entries/runtime.ts",
      setup: "src/entries/setup.ts",
      sinks: "src/entries/sinks.ts",
      telemetry: "src/entries/telemetry.ts",
    },
    format: ["esm", "cjs"],
    platform: "node",
    target: "node20.19",
    dts: true,
    clean: true,
    // So that a door brings no more than what is asked of it, types too.
    inputOptions: {
      treeshake: {
        moduleSideEffects: (id) => id.includes("/register/") || id.includes("/entries/register"),
      },
      // The packages' ESM builds: smaller, and free of the bundler's CommonJS wrappers.
      resolve: { mainFields: ["module", "main"] },
    },
    deps: { onlyBundle: BUNDLED },
    // A `require` of them in ESM would become `createRequire(import.meta.url)`, which Workers do not have.
    plugins: [
      esmExternalRequirePlugin({ external: ["@opentelemetry/api", "async_hooks", "events"] }),
    ],
    // "Go to definition" leads to names that can be read.
    outputOptions: {
      minifyInternalExports: false,
      comments: { jsdoc: false },
      // One file for what the root entry needs: each further one costs its import time.
      codeSplitting: { groups: [{ name: "bridge-core", test: (id) => reachedByRoot.has(id) }] },
    },
    hash: false,
    outExtensions: ({ format }) =>
      format === "cjs" ? { js: ".cjs", dts: ".d.cts" } : { js: ".mjs", dts: ".d.mts" },
  },
  {
    // The command carries its own SDK, so that it runs in any project, whatever SDK is there.
    entry: { "cli/main": "src/main.ts", "cli/doctor-setup": "src/cli/doctor/setup-program.ts" },
    format: ["esm"],
    platform: "node",
    target: "node20.19",
    dts: false,
    clean: false,
    minify: true,
    deps: { alwaysBundle: [/^@opentelemetry\//, "uuid"], onlyBundle: false },
    inputOptions: {
      // A command's file brings no more of a door than what is asked of it.
      treeshake: { moduleSideEffects: false },
      // The packages' ESM builds: smaller, and free of the bundler's CommonJS wrappers.
      resolve: { mainFields: ["module", "main"] },
    },
    outputOptions: { chunkFileNames: "cli/[name]-[hash].mjs" },
    outExtensions: () => ({ js: ".mjs" }),
  },
  {
    // The page of `view` and `report`, with its framework: the command serves it or writes it into a file.
    entry: { "view/page": "src/view/page/main.tsx" },
    format: ["esm"],
    platform: "browser",
    target: "es2022",
    tsconfig: "src/view/page/tsconfig.json",
    dts: false,
    clean: false,
    minify: true,
    deps: { alwaysBundle: [/./], onlyBundle: false },
    outExtensions: () => ({ js: ".js" }),
    hooks: {
      "build:done": () => {
        writeFileSync(
          "dist/view/page.css",
          STYLES.map((file) => readFileSync(file, "utf8")).join("\n"),
        );
      },
    },
  },
]);
