import { setTimeout as sleep } from "node:timers/promises";

export interface Patience {
  /** How long to go on asking, in ms. Default 90,000: a busy machine must not reach it. */
  readonly timeoutMs?: number;
  /** Between one answer and the next question, in ms. Default 100. */
  readonly everyMs?: number;
}

/**
 * Asks until there is an answer.
 *
 * @param what is waited for, for the message.
 * @param ask answers `undefined` (or throws) as long as it is not so.
 * @throws Error when the time is over; it says what the last question brought.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  { timeoutMs = 90_000, everyMs = 100 }: Patience = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  let trouble: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    if (performance.now() >= end) {
      const last = trouble === undefined ? "" : `; last: ${String(trouble)}`;
      throw new Error(`not within ${timeoutMs} ms: ${what}${last}`, { cause: trouble });
    }
    await sleep(everyMs);
  }
}

/** Asks until the claims made in it hold: the last failed one is the cause when they never do. */
export function untilHolds(
  what: string,
  claims: () => Promise<void> | void,
  patience?: Patience,
): Promise<boolean> {
  return until(
    what,
    async () => {
      await claims();
      return true;
    },
    patience,
  );
}
