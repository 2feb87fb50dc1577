import { expect, onTestFinished, vi } from "vitest";
import { waitFor } from "./wait-for.ts";

/**
 * Stops timers and the process's clock, so that a time limit is over only when the test says so
 * (`vi.advanceTimersByTimeAsync`), however busy the machine is. Sockets go on.
 */
export function stopTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Waits, while timers stand still, for what sockets bring. */
export async function untilSeen(isSeen: () => boolean): Promise<void> {
  while (!isSeen()) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets timers run, as fast as they can, until the work is done. */
export async function runTimers(work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  // Between the steps is room for what does not come from a timer.
  while (!isDone) {
    await vi.advanceTimersByTimeAsync(10);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
}

/**
 * Shuts down what ends by its time limit alone. First waits until a flush has said this error, so that the limit can't
 * come before the first attempt has failed.
 */
export async function shutDownAfter(
  says: string,
  tracing: { forceFlush(): Promise<void>; shutdown(): Promise<void> },
): Promise<void> {
  await waitFor(() => expect(tracing.forceFlush()).rejects.toThrow(says));
  stopTimers();
  await runTimers(tracing.shutdown());
}
