import { hrtime } from "node:process";
import type { Instant } from "./instant.ts";

/** How far the fine clock may run from the system's before it follows it, in ms. */
const DRIFT_MS = 2;
/** Readings of the two clocks that are further apart than this are not compared, in ms. */
const HELD_UP_MS = 0.5;
/** How often they are read at a time for a pair that can be compared. */
const TRIES = 5;

/** What to add to the monotonic clock to get the system's time. */
let seconds = 0;
let nanos = 0;
/** Second of the monotonic clock in which the two were last compared. */
let compared = -1;

/**
 * The system's time with a resolution below the millisecond, so that short tool calls have a
 * duration. It runs on the monotonic clock and follows the system clock when that is set.
 */
export function now(): Instant {
  const at = hrtime();
  if (at[0] !== compared) follow(at[0]);
  // An array of Node's own holds floating-point numbers here, those of all other instants whole ones:
  // what reads both is compiled to copy every instant into the other kind. `trunc` makes them whole.
  const second = Math.trunc(at[0] + seconds);
  const nano = Math.trunc(at[1] + nanos);
  return nano >= 1e9 ? [second + 1, nano - 1e9] : [second, nano];
}

/** Compares the clocks, once a second at most, and follows the system's where they differ. */
function follow(second: number): void {
  const first = compared < 0;
  compared = second;
  for (let tries = 1; tries <= TRIES; tries++) {
    const fineMs = monotonicMs();
    const systemMs = Date.now();
    // Held up between the two readings: the wait is no difference of the clocks. To follow it would
    // put time forward by it, and back a second later, behind the events sent meanwhile.
    const heldUp = monotonicMs() - fineMs > HELD_UP_MS;
    if (heldUp && !(first && tries === TRIES)) continue;
    const ours = fineMs + seconds * 1000 + nanos / 1e6;
    if (!first && Math.abs(systemMs - ours) <= DRIFT_MS) return;
    const offset = systemMs - fineMs;
    seconds = Math.floor(offset / 1000);
    nanos = Math.round((offset - seconds * 1000) * 1e6);
    return;
  }
}

function monotonicMs(): number {
  const [whole, fraction] = hrtime();
  return whole * 1000 + fraction / 1e6;
}
