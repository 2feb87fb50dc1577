import { defineConfig } from "vitest/config";

/**
 * Tests that need a process of their own: they replace the clock or a module, register something for the process, or
 * start programs and count what is left of them, as timers are. All others share processes, since loading the modules anew for each file
 * takes half of the time.
 */
const OWN_PROCESS = [
  "test/{cli,deploy,docs,examples,package,setup}/**/*.test.ts",
  "test/otel/{clock,live-time,progress}.test.ts",
  "test/storage/lock-on-full-disk.test.ts",
  "test/ingest/journal/verified-end.test.ts",
];

export default defineConfig({
  test: {
    testTimeout: 30_000,
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
