import { shownNumber } from "../../events/door.ts";

/** The longest wait of a Node timer in ms. A longer one fires after 1 ms. */
export const LONGEST_WAIT_MS = 2 ** 31 - 1;

/**
 * Waits for work that never rejects, but no longer than `ms` milliseconds.
 *
 * @returns whether `work` settled in time.
 */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws RangeError unless the value is a number from `least` to {@link LONGEST_WAIT_MS}. */
export function checkWait(ms: unknown, field: string, least = 1): void {
  if (typeof ms === "number" && ms >= least && ms <= LONGEST_WAIT_MS) return;
  const expected = `milliseconds from ${least} to ${LONGEST_WAIT_MS}`;
  throw new RangeError(`${field}: expected ${expected}, got ${shownNumber(ms)}`);
}
