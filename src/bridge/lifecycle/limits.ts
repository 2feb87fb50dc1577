import {
  checkedElsewhere,
  type LoopLimits,
  type OptionChecks,
  withoutAdded,
} from "../../events/door.ts";

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
   * Closed runs in memory: parents of late runs, and for detecting duplicates. Default 10,000, at most
   * 16,777,216.
   */
  readonly closedRuns: number;
  /** Event IDs in memory, for detecting redelivered events. Default 100,000. */
  readonly eventIds: number;
  /** Call IDs in memory for one run, to number their repeats. Default 10,000. */
  readonly callIds: number;
  /** Call IDs in memory for all runs together. Default 1,000,000. */
  readonly totalCallIds: number;
  /** Age limit in ms. The bridge closes a run if its tree had no event for this long. Default 24 h. */
  readonly maxAgeMs: number;
  /**
   * Time in ms after which an open run exports a marker span. Live only. `0` disables it. Default 30,000.
   */
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

/** The names of the limits. {@link resolveLimits} checks their values. */
export const LIMIT_CHECKS: OptionChecks<Partial<LifecycleLimits>> = {
  openRuns: checkedElsewhere,
  openCalls: checkedElsewhere,
  closedRuns: checkedElsewhere,
  eventIds: checkedElsewhere,
  callIds: checkedElsewhere,
  totalCallIds: checkedElsewhere,
  maxAgeMs: checkedElsewhere,
  markerAfterMs: checkedElsewhere,
};

/**
 * The defaults with `given` on top.
 *
 * @throws RangeError if a limit is not a whole number from 1 (`markerAfterMs`: from 0), or if `closedRuns`
 *   is above 16,777,216.
 */
export function resolveLimits(asked: Partial<LifecycleLimits> = {}): LifecycleLimits {
  const given = withoutAdded(asked);
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

/** The limits, and the rules for loops of tool calls. */
export interface LifecycleRules extends LifecycleLimits {
  /** `undefined`: loops are not detected. */
  readonly loops: LoopLimits | undefined;
}

/** Memory for closed runs is allocated at the start, about 60 bytes each. */
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
