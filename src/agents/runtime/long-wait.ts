/** A decision that takes longer than this is reported as one that is waited for, in ms. */
export const LONG_WAIT_MS = 1_000;

/**
 * Waits for a decision, and says so once it takes long: by then a person decides, and no rule.
 *
 * @param say called after a second, if the decision is not there. It must not throw.
 */
export async function saidWhenLong<T>(decision: Promise<T>, say: () => void): Promise<T> {
  const timer = setTimeout(say, LONG_WAIT_MS);
  timer.unref();
  try {
    return await decision;
  } finally {
    clearTimeout(timer);
  }
}
