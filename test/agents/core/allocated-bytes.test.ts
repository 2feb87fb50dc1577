import type { HeapProfiler } from "node:inspector";
import { Session } from "node:inspector/promises";
import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/entries/runtime.ts";
import { Bridge } from "../../../src/index.ts";
import { collectSpans } from "../../support/spans.ts";

const SAMPLING = {
  samplingInterval: 2048,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
};

/** Bytes that the process allocates, also those that are freed again. */
async function allocated(work: () => Promise<void>): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.startSampling", SAMPLING);
  await work();
  const { profile } = await session.post("HeapProfiler.stopSampling");
  session.disconnect();
  return bytesIn(profile.head);
}

function bytesIn({ children, selfSize }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesIn(child), selfSize);
}

/** An agent whose every turn has a tool's result of 1 KB. */
async function agent(sink: Bridge, turns: number): Promise<void> {
  const messages: object[] = [{ role: "user", content: "Where is my order?" }];
  await runAgent({ sink, agent: "a", tenant: "acme" }, async (run) => {
    for (let turn = 0; turn < turns; turn += 1) {
      await run.model("m", { input: messages }, async () => "answer");
      const call = { id: `c${turn}`, name: "search", args: { page: turn } };
      messages.push({ role: "assistant", content: "", tool_calls: [call] });
      messages.push({
        role: "tool",
        tool_call_id: `c${turn}`,
        content: `${turn} `.padEnd(1024, "x"),
      });
    }
  });
}

/** Bytes of a turn in a run of so many. */
async function bytesPerTurn(turns: number, messages: "all" | "new"): Promise<number> {
  const { provider } = collectSpans();
  const options = { captureContent: true, messages, metrics: false } as const;
  const sink = new Bridge({ tracerProvider: provider, ...options });
  const runs = 300 / turns;
  const bytes = await allocated(async () => {
    for (let run = 0; run < runs; run += 1) await agent(sink, turns);
  });
  return bytes / (runs * turns);
}

describe("the bytes that a turn of a conversation allocates", () => {
  it.each([
    ["all", 3],
    ["new", 1.5],
  ] as const)("grow little from 10 turns to 50, with %s messages", async (messages, most) => {
    for (const turns of [10, 50]) await bytesPerTurn(turns, messages);
    const [short, long] = [await bytesPerTurn(10, messages), await bytesPerTurn(50, messages)];
    expect(long / short).toBeLessThanOrEqual(most);
  });
});
