import { shownNumber } from "../events/option-checks.ts";

/** The longest wait that a Node timer keeps, in ms; it takes a longer one for 1 ms. */
export const LONGEST_WAIT_MS = 2 ** 31 - 1;

/**
 * Waits for work that never rejects, but no longer than `ms` milliseconds.
 *
 * @returns whether it was done in time.
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

/**
 * A time to wait, in ms.
 *
 * @throws RangeError when it is none, or longer than a timer takes.
 */
export function checkedTimeout(ms: number, field: string): number {
  // A timer takes a longer time, and what is none, for 1 ms.
  if (typeof ms === "number" && ms >= 0 && ms <= LONGEST_WAIT_MS) return ms;
  const expected = `milliseconds from 0 to ${LONGEST_WAIT_MS}`;
  throw new RangeError(`${field}: expected ${expected}, got ${shownNumber(ms)}`);
}
