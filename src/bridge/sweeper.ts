import { type Instant, now } from "../events/door.ts";
import type { LifecycleLimits } from "./lifecycle/door.ts";

/** Maximum interval of the sweeps, in ms. */
const SWEEP_MS = 5_000;

/**
 * Calls `sweep` at intervals. The timer does not keep the process alive.
 *
 * @param sweep called with the time.
 * @param contain called with the errors of `sweep`.
 */
export function startSweeper(
  { markerAfterMs, maxAgeMs }: LifecycleLimits,
  sweep: (at: Instant) => void,
  contain: (error: unknown) => void,
): NodeJS.Timeout {
  const every = Math.max(Math.min(SWEEP_MS, (markerAfterMs || SWEEP_MS) / 2, maxAgeMs / 2), 20);
  const timer = setInterval(() => {
    try {
      sweep(now());
    } catch (error) {
      contain(error);
    }
  }, every);
  return timer.unref();
}
