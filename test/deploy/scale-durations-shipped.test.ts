import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { parseDuration } from "../e2e/support/duration.ts";
import { scaleDurations } from "../e2e/support/scale-durations.ts";

const deploy = new URL("../../deploy/", import.meta.url);
const rules = readdirSync(new URL("prometheus/rules/", deploy)).map(
  (file) => `prometheus/rules/${file}`,
);
const FILES = [...rules, "prometheus/prometheus.yml", "alertmanager/alertmanager.yml"];

/** The factor of the end-to-end tests: a minute is a second. */
const FACTOR = 60;

const WORD = /[\w.:]+/g;

/** The words of two texts side by side, where they differ. */
function differences(before: string, after: string): [string, string][] {
  const old = before.match(WORD) ?? [];
  const changed = after.match(WORD) ?? [];
  expect(changed).toHaveLength(old.length);
  return old.flatMap((word, index): [string, string][] => {
    const now = changed[index] ?? "";
    return word === now ? [] : [[word, now]];
  });
}

describe.each(FILES)("deploy/%s", (file) => {
  const original = parseDocument(readFileSync(new URL(file, deploy), "utf8"));
  const scaled = original.clone();
  scaleDurations(scaled, FACTOR);
  const pairs = differences(JSON.stringify(original.toJS()), JSON.stringify(scaled.toJS()));

  it("has durations, and differs in nothing else when they are divided", () => {
    expect(pairs.length).toBeGreaterThan(0);
    for (const [before, after] of pairs.flatMap(([from, to]) => {
      // A subquery has two durations in one word.
      const [first, second] = [from.split(":"), to.split(":")];
      expect(second).toHaveLength(first.length);
      return first.map((part, index) => [part, second[index] ?? ""] as const);
    })) {
      expect((parseDuration(after) ?? Number.NaN) * FACTOR).toBe(parseDuration(before));
    }
  });
});
