import type { Instant } from "../../src/entries/events.ts";

/**
 * In the place of `src/events/clock.ts`. The real clock runs on the monotonic one, which cannot be set: this one follows
 * the faked date. It imports no values, since all of the source needs the clock.
 */
export function now(): Instant {
  const ms = Date.now();
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}
