import { hrtime } from "node:process";
import type { Instant } from "./instant.ts";

/** Largest difference between the fine clock and the system's, in ms. Above it, the fine clock is corrected. */
const DRIFT_MS = 2;
/** Two readings further apart than this are not compared, in ms. */
const HELD_UP_MS = 0.5;
/** Attempts to get two readings that can be compared. */
const TRIES = 5;

/** The difference between the system's time and the monotonic clock. */
let seconds = 0;
let nanos = 0;
/** Second of the monotonic clock of the last comparison. */
let compared = -1;

/**
 * The system's time with a resolution below the millisecond, so that short tool calls have a duration. It uses the
 * monotonic clock, and follows the system clock if that is set.
 */
export function now(): Instant {
  const at = hrtime();
  if (at[0] !== compared) follow(at[0]);
  // Without `trunc`, the array would hold floating-point numbers, and all other instants hold integers. Then code
  // that reads both would copy every instant into the other representation.
  const second = Math.trunc(at[0] + seconds);
  const nano = Math.trunc(at[1] + nanos);
  return nano >= 1e9 ? [second + 1, nano - 1e9] : [second, nano];
}

/** Compares the clocks at most once a second, and follows the system's if they differ. */
function follow(second: number): void {
  const first = compared < 0;
  compared = second;
  for (let tries = 1; tries <= TRIES; tries++) {
    const fineMs = monotonicMs();
    const systemMs = Date.now();
    // The process was delayed between the two readings, so their difference is not the clocks'. Following it would
    // move time forward, and back a second later, behind events sent meanwhile.
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
