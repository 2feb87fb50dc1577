import { defineConfig } from "vitest/config";

/**
 * Tests that need a process of their own: they replace the clock or a module, register something for the process, start
 * programs, or count what their process shares (timers, handles, warnings). All others share processes, since loading the
 * modules anew for each file takes half of the time.
 */
const OWN_PROCESS = [
  "test/{cli,deploy,docs,examples,package,setup}/**/*.test.ts",
  "test/otel/{clock,live-time,progress}.test.ts",
  "test/storage/lock-on-full-disk.test.ts",
  "test/ingest/journal/verified-end.test.ts",
  "test/otel/export/{chunk-span-processor,outage}.test.ts",
  "test/adapters/openai-agents/shutdown.test.ts",
  "test/runtime/calling-off.test.ts",
  "test/service/http/ingest-server.test.ts",
  "test/view/runs/damage.test.ts",
];

export default defineConfig({
  test: {
    // Ends what hangs. A busy machine must not reach it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: "100%",
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: OWN_PROCESS,
        },
      },
      { extends: true, test: { name: "own", include: OWN_PROCESS } },
    ],
  },
});
