import { describe, expect, it } from "vitest";
import { runIdOfTrace } from "../../../src/agents/openai-agents/ids.ts";
import { notBefore, timeOf } from "../../../src/agents/openai-agents/span-time.ts";
import type { Instant } from "../../../src/entries/events.ts";
import { fromMilliseconds, now, toMilliseconds } from "../../../src/events/door.ts";

describe("the time of a span", () => {
  it("is the callback's, which is finer, while that comes in time", () => {
    const at = timeOf(new Date().toISOString());
    expect(Math.abs(toMilliseconds(at) - toMilliseconds(now()))).toBeLessThan(60_000);
    expect(timeOf(null)[0]).toBeGreaterThan(1_600_000_000);
    expect(timeOf("no time")[0]).toBeGreaterThan(1_600_000_000);
  });

  it("is the span's own where the callback comes late", () => {
    expect(timeOf("2026-01-02T03:04:05.678Z")).toEqual([1767323045, 678_000_000]);
  });

  it.each([
    ["2026-01-02T03:04:59.999Z", [1_767_323_099, 999_000_000]],
    ["2026-01-02T03:04:05Z", [1_767_323_045, 0]],
    ["2026-01-02T03:04:05.678901Z", [1_767_323_045, 678_901_000]],
    ["2026-01-02T04:04:05.678+01:00", [1_767_323_045, 678_000_000]],
    ["Fri, 02 Jan 2026 03:04:05 GMT", [1_767_323_045, 0]],
  ])("is read from %s", (text, at) => {
    expect(timeOf(text)).toEqual(at);
  });

  it("is not before what came before within the same millisecond", () => {
    const last: Instant = [1767323045, 678_900_000];
    expect(timeOf("2026-01-02T03:04:05.678Z", last)).toEqual(last);
    expect(timeOf("2026-01-02T03:04:05.670Z", last)).toEqual([1767323045, 670_000_000]);
    expect(timeOf("2026-01-02T03:04:05.679Z", last)).toEqual([1767323045, 679_000_000]);
  });

  it("of an end is not before its start", () => {
    const start = fromMilliseconds(2_000);
    expect(notBefore(fromMilliseconds(1_000), start)).toEqual(start);
    expect(notBefore(fromMilliseconds(3_000), start)).toEqual([3, 0]);
  });
});

describe("the run id of a trace", () => {
  it.each([
    ["trace_0af7651916cd43dd8448eb211c80319c", "0af76519-16cd-43dd-8448-eb211c80319c"],
    ["trace_short", "trace_short"],
    ["trace_0AF7651916CD43DD8448EB211C80319C", "trace_0AF7651916CD43DD8448EB211C80319C"],
    ["my-own-id", "my-own-id"],
  ])("%s", (traceId, runId) => {
    expect(runIdOfTrace(traceId)).toBe(runId);
  });
});
