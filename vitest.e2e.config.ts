import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes. They begin first, so that none of them runs alone at the end. */
const LONGEST = [
  "quiet-week",
  "validators",
  "collector-outages",
  "declarations",
  "view-following",
  "kafka-large-records",
  "kafka-chaos",
  "kafka",
  "collector-sampling",
].map((name) => `/${name}.e2e.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return place < 0 ? LONGEST.length : place;
    };
    return files.toSorted((a, b) => placeOf(a) - placeOf(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

// The end-to-end tests: real servers on free ports, in two lanes, with time enough to start them.
export default defineConfig({
  test: {
    include: ["test/e2e/**/*.e2e.ts"],
    globalSetup: ["test/e2e/support/install-servers.ts"],
    setupFiles: process.env.ENTELIX_SAME_DRAWS === "1" ? ["test/support/fixed-seed.ts"] : [],
    sequence: { sequencer: LongestFirst },
    maxWorkers: 2,
    // Vitest gives a poll one second, which a machine with two lanes reaches.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 240_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    pool: "forks",
  },
});
