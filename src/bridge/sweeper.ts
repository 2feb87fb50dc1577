import { type Instant, now } from "../events/door.ts";
import type { LifecycleLimits } from "./lifecycle/limits.ts";

/** Most time between two looks at what is open, in ms. */
const SWEEP_MS = 5_000;

/**
 * Looks at what is open as time passes, by a timer that keeps no process alive.
 *
 * @param sweep is given the time.
 * @param contain takes what it throws.
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
