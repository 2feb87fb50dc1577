import type { LoopLimits } from "../../events/door.ts";

/**
 * Limits of the state that the bridge keeps in memory. The diagnostics count each time that a limit
 * applies.
 *
 * All are numbers of things but `maxAgeMs` and `markerAfterMs` (milliseconds).
 */
export interface LifecycleLimits {
  /**
   * Runs open at once. Above it, the bridge closes the longest-idle run of the tenant with the most
   * open runs. Default 10,000.
   */
  readonly openRuns: number;
  /**
   * Tool calls open at once in one run, separately model calls and steps. Above it, the oldest is closed.
   * Default 10,000.
   */
  readonly openCalls: number;
  /**
   * Closed runs remembered, as parents and against duplicates. Default 10,000; at most 16,777,216.
   */
  readonly closedRuns: number;
  /** Event ids remembered against redelivery. Default 100,000. */
  readonly eventIds: number;
  /** Call ids remembered in one run, to number their repeats. Default 10,000. */
  readonly callIds: number;
  /** Call ids remembered in all runs together. Default 1,000,000. */
  readonly totalCallIds: number;
  /** A run without any event in its tree for this long is closed. Default 24 h, in ms. */
  readonly maxAgeMs: number;
  /** Live only: a run open for this long exports a marker. `0` turns it off. Default 30,000 ms. */
  readonly markerAfterMs: number;
}

export const DEFAULT_LIFECYCLE_LIMITS: LifecycleLimits = {
  openRuns: 10_000,
  openCalls: 10_000,
  closedRuns: 10_000,
  eventIds: 100_000,
  callIds: 10_000,
  totalCallIds: 1_000_000,
  maxAgeMs: 24 * 60 * 60 * 1000,
  markerAfterMs: 30_000,
};

/**
 * The defaults with `given` on top.
 *
 * @throws RangeError when a limit is no whole number, below 1 (`markerAfterMs`: below 0), or `closedRuns`
 *   above 16,777,216.
 */
export function resolveLimits(given: Partial<LifecycleLimits> = {}): LifecycleLimits {
  const limits: { -readonly [K in keyof LifecycleLimits]: LifecycleLimits[K] } = {
    ...DEFAULT_LIFECYCLE_LIMITS,
  };
  for (const name of LIMIT_NAMES) {
    const value = given[name];
    if (value === undefined) continue;
    const least = name === "markerAfterMs" ? 0 : 1;
    const most = name === "closedRuns" ? MOST_CLOSED_RUNS : Number.MAX_SAFE_INTEGER;
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      const range = most === MOST_CLOSED_RUNS ? `from ${least} to ${most}` : `from ${least}`;
      throw new RangeError(`limits.${name}: expected a whole number ${range}, got ${value}`);
    }
    limits[name] = value;
  }
  return limits;
}

/** Limits, and what counts as a loop of tool calls. */
export interface LifecycleRules extends LifecycleLimits {
  /** `undefined`: no loops are looked for. */
  readonly loops: LoopLimits | undefined;
}

/** Closed runs have their places from the start, about 60 bytes each. */
const MOST_CLOSED_RUNS = 2 ** 24;

const LIMIT_NAMES = [
  "openRuns",
  "openCalls",
  "closedRuns",
  "eventIds",
  "callIds",
  "totalCallIds",
  "maxAgeMs",
  "markerAfterMs",
] as const satisfies readonly (keyof LifecycleLimits)[];
