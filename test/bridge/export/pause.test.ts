import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Pause } from "../../../src/bridge/export/pause.ts";
import { LIVE } from "../../../src/bridge/export/send-policy.ts";

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function pause() {
  let ends = 0;
  const pause = new Pause({ ...LIVE, delays: { firstMs: 1_000, mostMs: 3_000 } }, () => {
    ends++;
  });
  return { pause, ends: () => ends };
}

/** How long it is on from now. */
function length(pause: Pause): number {
  let ms = 0;
  for (; pause.isOn; ms += 10) vi.advanceTimersByTime(10);
  return ms;
}

describe("a pause", () => {
  it("grows with each failure to the most, and is short again after a success", () => {
    const { ends, pause: one } = pause();
    const lengths = [1, 2, 3, 4, 5].map(() => {
      one.begin(undefined);
      return length(one);
    });
    expect(lengths).toEqual([1_000, 1_500, 2_250, 3_000, 3_000]);
    expect(ends()).toBe(5);
    one.reset();
    one.begin(undefined);
    expect(length(one)).toBe(1_000);
  });

  it("differs by a fifth between processes", () => {
    const { pause: one } = pause();
    vi.mocked(Math.random).mockReturnValue(0);
    one.begin(undefined);
    expect(length(one)).toBe(800);
    one.reset();
    vi.mocked(Math.random).mockReturnValue(0.999_999);
    one.begin(undefined);
    expect(length(one)).toBe(1_200);
  });

  it("is as long as the endpoint asks, whoever waits for it", () => {
    const { ends, pause: one } = pause();
    one.begin(20_000);
    one.hurry();
    expect(one.isOn).toBe(true);
    // Requests that were under way fail too, and the endpoint asks for less, or for more.
    one.begin(undefined);
    one.begin(5_000);
    vi.advanceTimersByTime(10_000);
    one.begin(30_000);
    expect(length(one)).toBe(30_000);
    expect(ends()).toBe(1);
  });

  it("ends when somebody waits, unless the endpoint asked for it", () => {
    const { ends, pause: one } = pause();
    one.begin(undefined);
    one.hurry();
    expect(one.isOn).toBe(false);
    expect(ends()).toBe(1);
    one.hurry();
    expect(ends()).toBe(1);
  });

  it("is no longer than a timer can wait, and ends without a word when it is stopped", () => {
    const { ends, pause: one } = pause();
    one.begin(1e15);
    vi.advanceTimersByTime(10_000);
    expect(one.isOn).toBe(true);
    one.stop();
    vi.runAllTimers();
    expect(ends()).toBe(0);
  });
});
