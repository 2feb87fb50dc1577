import { performance } from "node:perf_hooks";
import { fromMilliseconds, type Instant } from "../events/instant.ts";

/** How far the fine clock may run from the system's before it follows it, in ms. */
const DRIFT_MS = 2;

let wall = Date.now();
let fine = performance.now();

/**
 * The system's time with a resolution below the millisecond, so that short tool calls have a
 * duration. It runs on the monotonic clock and follows the system clock when that is set.
 */
export function now(): Instant {
  const elapsed = performance.now() - fine;
  if (elapsed > 1000 || elapsed < 0) {
    const system = Date.now();
    const expected = wall + elapsed;
    wall = Math.abs(system - expected) > DRIFT_MS ? system : expected;
    fine += elapsed;
    return fromMilliseconds(wall);
  }
  return fromMilliseconds(wall + elapsed);
}
