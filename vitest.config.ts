import { defineConfig } from "vitest/config";

/**
 * Tests that need a process of their own: they replace the clock or a module, register something for the process,
 * count what their process shares (timers, handles, warnings), or parse all of the source, which would stay in memory.
 * All others share processes, since loading the modules anew for each file takes half of the time.
 */
const OWN_PROCESS = [
  "test/bridge/setup/**/*.test.ts",
  "test/docs/{argument-lists,plain-words,typescript}.test.ts",
  "test/package/{entry-size,expressions,wrong-arguments}.test.ts",
  "test/bridge/spans/{call-details,clock,live-time,progress,subject}.test.ts",
  "test/cli/hang-ups.test.ts",
  "test/audit/storage/lock-on-full-disk.test.ts",
  "test/service/journal/verified-end.test.ts",
  "test/bridge/export/{chunk-span-processor,connections,outage}.test.ts",
  "test/events/{context/fetch,errors/agent-error,errors/classify-warning,sinks/broadcast-sink}.test.ts",
  "test/agents/openai-agents/shutdown.test.ts",
  "test/agents/runtime/{calling-off,unknown-options}.test.ts",
  "test/agents/core/{allocated-bytes,refusals}.test.ts",
  "test/bridge/{notices,polluted-prototype}.test.ts",
  "test/events/{option-places,unknown-options,messages/kept-conversations}.test.ts",
  "test/service/http/ingest-server.test.ts",
  "test/view/runs/damage.test.ts",
];

export default defineConfig({
  test: {
    // Ends what hangs. A busy machine must not reach it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    setupFiles: process.env.ENTELIX_SAME_DRAWS === "1" ? ["test/support/fixed-seed.ts"] : [],
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
