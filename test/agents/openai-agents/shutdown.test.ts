import { describe, expect, it } from "vitest";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";

/** A processor, and how often it had its sink flushed. */
function flushed() {
  let flushes = 0;
  const forceFlush = async () => {
    flushes += 1;
  };
  const sink = { send() {}, forceFlush };
  return {
    processor: new OpenAIAgentsProcessor({ sink, tenant: "acme" }),
    flushes: () => flushes,
  };
}

/** What keeps the process up. */
const resources = () => [...process.getActiveResourcesInfo()].sort();

describe("the shutdown of the processor", () => {
  // SDK 0.4 calls it on `beforeExit`, which Node emits again when something was waited for.
  it("keeps no process up that has nothing left to do", async () => {
    const { processor, flushes } = flushed();
    await processor.shutdown();
    const before = resources();
    const again = processor.shutdown();
    expect(resources()).toEqual(before);
    await again;
    expect(flushes()).toBe(1);
  });

  it("waits for one that is on its way", async () => {
    const { processor, flushes } = flushed();
    void processor.shutdown();
    await processor.shutdown();
    expect(flushes()).toBe(1);
  });

  it("flushes again when something was told since", async () => {
    const { processor, flushes } = flushed();
    await processor.shutdown();
    await processor.onTraceStart({ traceId: "trace_1", name: "Support" });
    await processor.shutdown();
    processor.noteResult({ interruptions: [], state: {} });
    await processor.shutdown();
    expect(flushes()).toBe(3);
  });
});
