import { METRICS } from "../../../src/bridge/metrics/metric-names.ts";
import type { FailureKindId } from "../../../src/events/errors/error-kinds.ts";
import { FAILURE_KIND_IDS } from "../../../src/events/errors/error-kinds.ts";
import type { FailureOrigin } from "../../../src/events/errors/failure-source.ts";

/** Each value of a label has a budget of its own. */
export const EACH = "*";

/** One objective of the file, with the defaults in. */
export interface Objective {
  /** Value of the label `objective`. */
  readonly name: string;
  /** One service, or {@link EACH}. */
  readonly service: string;
  /** One agent, {@link EACH}, or all together. */
  readonly agent: string | undefined;
  readonly tenant: string | undefined;
  /** Share of runs that may be bad, such as 0.01. */
  readonly budget: number;
  /** What is bad. */
  readonly bad: Failures | Slow;
  /** A window of fewer runs raises no alert. */
  readonly minimumRuns: number;
}

/** Runs that fail with one of these kinds, where one of these origins failed. */
export interface Failures {
  readonly kinds: readonly FailureKindId[];
  readonly origins: readonly FailureOrigin[];
}

/** Runs that work longer than this. */
export interface Slow {
  /** As the file has it, such as `60s`. */
  readonly within: string;
  readonly seconds: number;
}

/** Kinds that may count. Whoever cancels a run wants it to end. */
export const COUNTABLE_KINDS = FAILURE_KIND_IDS.filter((kind) => kind !== "cancelled");

/** Kinds that count where an objective names none: what a service can do something about. */
export const DEFAULT_KINDS: readonly FailureKindId[] = [
  "tool_error_terminal",
  "deadline_exceeded",
  "model_dispatch",
  "internal",
];

export const DEFAULT_MINIMUM_RUNS = 10;

/** Times that can be asked for, in seconds: the histogram knows no others. */
export const MEASURED_SECONDS: readonly number[] = METRICS["entelix.runs.working_time"].buckets;
