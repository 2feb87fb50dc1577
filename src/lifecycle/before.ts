import { addMilliseconds, type Instant } from "../events/instant.ts";

/** `ms` before `at`, but not before 1970; what is no positive number counts as none. */
export function before(at: Instant, ms: number): Instant {
  return ms > 0 && at[0] > 0 ? addMilliseconds(at, -Math.min(ms, at[0] * 1000)) : at;
}
