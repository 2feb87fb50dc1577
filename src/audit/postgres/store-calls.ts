import { asError } from "../../events/door.ts";
import type { RowAnchor } from "../audit-row.ts";
import type { AppendCall } from "./append-batch.ts";
import type { WaitingCall } from "./call-batch.ts";
import { isAboutData, isLocked } from "./pg-pool.ts";

/** Stores calls in their order and answers each. `undefined`: its thread is locked and was left out. */
export type WriteCalls = (
  calls: readonly AppendCall[],
) => Promise<readonly (RowAnchor | undefined)[]>;

export interface StoreCallsOptions {
  readonly write: WriteCalls;
  /** Whether a call still has to be stored. Called before each transaction. */
  readonly isWaiting: (call: WaitingCall) => boolean;
  /**
   * Called after each transaction with its calls. Those without an outcome were left out.
   *
   * @param metLock whether nothing was stored because of a lock that is not a thread's.
   */
  readonly done: (calls: readonly WaitingCall[], metLock: boolean) => void;
  /** Whether calls are divided to find the one that meets a lock. Otherwise all are left out. */
  readonly dividesLocked: boolean;
}

/**
 * Stores calls in one transaction. If one of them cannot be stored, the calls are divided in halves, so that the
 * others are stored.
 *
 * @throws the error, unless it is about the data of one call or about a lock.
 */
export async function storeCalls(
  calls: readonly WaitingCall[],
  options: StoreCallsOptions,
): Promise<void> {
  const { dividesLocked, done, isWaiting, write } = options;
  const waiting = calls.filter(isWaiting);
  const [only, another] = waiting;
  if (only === undefined) return;
  let metLock = false;
  try {
    const answers = await write(waiting);
    for (const [index, call] of waiting.entries()) call.outcome = answers[index];
  } catch (error) {
    metLock = isLocked(error);
    if (!metLock && !isAboutData(error)) throw error;
    if (another !== undefined && (dividesLocked || !metLock)) {
      const half = Math.ceil(waiting.length / 2);
      await storeCalls(waiting.slice(0, half), options);
      await storeCalls(waiting.slice(half), options);
      return;
    }
    if (!metLock) only.outcome = asError(error);
  }
  done(waiting, metLock);
}
