import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { reportLongWait } from "../../../src/agents/runtime/verdict.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const later = (ms: number, work: () => string) =>
  new Promise<string>((resolve, reject) => {
    setTimeout(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    }, ms);
  });

it.each([
  [999, 0],
  [1_001, 1],
])("a decision that takes %i ms is reported %i times", async (ms, times) => {
  const say = vi.fn();
  const decision = reportLongWait(
    later(ms, () => "yes"),
    say,
  );
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await decision).toBe("yes");
  expect(say).toHaveBeenCalledTimes(times);
});

it("passes an error on, and reports nothing afterwards", async () => {
  const say = vi.fn();
  const decision = reportLongWait(
    later(10, () => {
      throw new Error("no approver");
    }),
    say,
  );
  const refused = expect(decision).rejects.toThrow("no approver");
  await vi.advanceTimersByTimeAsync(60_000);
  await refused;
  expect(say).not.toHaveBeenCalled();
});
