import { defineConfig } from "vitest/config";

// The end-to-end tests: real servers, so one file after the other, and time enough to start them.
export default defineConfig({
  test: {
    include: ["test/e2e/**/*.e2e.ts"],
    globalSetup: ["test/e2e/support/install-servers.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    pool: "forks",
  },
});
