import { describe, expect, it } from "vitest";
import { FingerprintCounts } from "../../../src/otel/metrics/fingerprint-counts.ts";

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

  it("drop one that was silent for a day: there is room again, and it begins anew", () => {
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
    expect(shown(counts, 48 * HOUR)).toContainEqual(["old", 1]);
  });
});
