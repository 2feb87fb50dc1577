import { describe, expect, it, vi } from "vitest";
import { FingerprintCounts } from "../../../src/bridge/metrics/fingerprint-counts.ts";
import { RunEvents } from "../../support/run-events.ts";
import { meteredBench } from "./meter.ts";

const HOUR = 3_600_000;
const shown = (counts: FingerprintCounts, now: number) =>
  counts
    .all(now)
    .map(({ attributes, value }) => [attributes["entelix.failure.fingerprint"], value]);

describe("counts by fingerprint", () => {
  it("are of 99 fingerprints, and one for all that comes beyond", () => {
    const counts = new FingerprintCounts();
    for (let n = 0; n < 120; n++) counts.add(`f${n}`, n);
    const all = shown(counts, 120);
    expect(all).toHaveLength(100);
    expect(all.at(-1)).toEqual(["_other", 21]);
    counts.add("f0", 121);
    expect(shown(counts, 121).at(-2)).toEqual(["f0", 2]);
  });

  it("drop one that was silent for a day: there is room again, and it goes on from its count", () => {
    const counts = new FingerprintCounts();
    counts.add("old", 0);
    counts.add("kept", 0);
    counts.add("kept", 23 * HOUR);
    expect(shown(counts, 24 * HOUR - 1)).toEqual([
      ["old", 1],
      ["kept", 2],
    ]);
    expect(shown(counts, 24 * HOUR)).toEqual([["kept", 2]]);
    for (let n = 0; n < 98; n++) counts.add(`f${n}`, 25 * HOUR);
    counts.add("full", 25 * HOUR);
    expect(shown(counts, 25 * HOUR).at(-1)).toEqual(["_other", 1]);
    counts.add("old", 48 * HOUR);
    expect(shown(counts, 48 * HOUR)).toContainEqual(["old", 2]);
  });

  it("reach whoever reads them, also when one comes again that was dropped", async () => {
    vi.useFakeTimers({ now: 0, toFake: ["Date"] });
    try {
      const bench = meteredBench();
      const run = new RunEvents("018f3c7a-0000-7000-8000-000000000001");
      const fail = async (call: string) => {
        bench.identified(0, run.toolStart(call));
        bench.identified(1, run.toolError(call));
        return (await bench.collect()).sum("entelix.failures");
      };
      bench.identified(0, run.started());
      expect(await fail("first")).toBe(1);
      vi.setSystemTime(25 * HOUR);
      await bench.collect();
      expect(await fail("second")).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it("of those that were dropped are remembered for 1,000", () => {
    const counts = new FingerprintCounts();
    for (let n = 0; n <= 1_000; n++) counts.add(`f${n}`, n * 25 * HOUR);
    counts.add("last", 1_001 * 25 * HOUR);
    counts.add("f1", 1_001 * 25 * HOUR);
    counts.add("f0", 1_001 * 25 * HOUR);
    expect(shown(counts, 1_001 * 25 * HOUR)).toEqual([
      ["last", 1],
      ["f1", 2],
      ["f0", 1],
    ]);
  });
});
