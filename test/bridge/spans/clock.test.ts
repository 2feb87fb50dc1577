import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { now, toMilliseconds } from "../../../src/events/door.ts";

const monotonic = vi.hoisted((): { at: [number, number] } => ({ at: [1000, 0] }));

vi.mock("node:process", async (original) => ({
  ...(await original<typeof import("node:process")>()),
  hrtime: (): [number, number] => [...monotonic.at],
}));

let system = 0;
/** Both clocks go on; the system's may be set by more. */
function pass(ms: number, set = 0): void {
  const nanos = monotonic.at[1] + Math.round(ms * 1e6);
  monotonic.at = [monotonic.at[0] + Math.floor(nanos / 1e9), nanos % 1e9];
  system += ms + set;
}

beforeEach(() => {
  pass(1e6);
  system = 1_777_464_000_250;
  vi.spyOn(Date, "now").mockImplementation(() => Math.floor(system));
  pass(2000);
  now();
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("the clock", () => {
  it("is the system's, with the nanoseconds of the monotonic one", () => {
    const from = now();
    pass(0.000_123);
    const to = now();
    expect(Math.abs(toMilliseconds(from) - system)).toBeLessThan(1);
    expect(to[0] - from[0] || to[1] - from[1]).toBe(123);
  });

  it("carries nanoseconds over into the next second", () => {
    for (let n = 0; n < 3000; n++) {
      pass(0.999_999);
      const [seconds, nanos] = now();
      expect(Number.isInteger(seconds) && Number.isInteger(nanos)).toBe(true);
      expect(nanos >= 0 && nanos < 1e9).toBe(true);
      expect(Math.abs(toMilliseconds([seconds, nanos]) - system)).toBeLessThan(2);
    }
  });

  it("follows the system's when that is set, forward or back, within a second", () => {
    for (const set of [3_600_000, -7_200_000]) {
      pass(1000, set);
      expect(Math.abs(toMilliseconds(now()) - system)).toBeLessThan(1);
    }
  });

  it("does not follow small differences, which would make time jump", () => {
    const from = toMilliseconds(now());
    pass(1000, 1.5);
    expect(toMilliseconds(now()) - from).toBeCloseTo(1000, 3);
  });

  it("takes no wait between its readings for a difference, which would put time forward and back", () => {
    let heldUp = 0;
    vi.spyOn(Date, "now").mockImplementation(() => {
      if (heldUp-- > 0) pass(40);
      return Math.floor(system);
    });
    const from = toMilliseconds(now());
    const began = system;
    for (const times of [1, 4, 100, 0]) {
      heldUp = times;
      pass(1000);
      const called = system;
      expect(toMilliseconds(now()) - from).toBeCloseTo(called - began, 3);
    }
  });
});
