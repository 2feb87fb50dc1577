import type { Adjustment, IgnoredReason } from "./lifecycle/counters.ts";
import type { OverflowLabel } from "./metrics/bridge-metrics.ts";

/** What a sink did, and which adjustments it made, since it was created. All fields are counts. */
export interface Diagnostics {
  /** Events that came in. */
  readonly events: number;
  /** Events that changed nothing, by reason. */
  readonly ignored: Readonly<Record<IgnoredReason, number>>;
  /** Adjustments made to keep the promises, by kind: limits, clocks, tenants. */
  readonly adjustments: Readonly<Record<Adjustment, number>>;
  /**
   * `adjustments.tenant_conflicts` by tenant: the one whose event named a run or trace of another tenant. Which
   * tenants are shown by name is the option `metrics.tenants` (default: the first 50); the rest is `_other`.
   */
  readonly tenantConflicts: Readonly<Record<string, number>>;
  readonly runsStarted: number;
  /** Runs that are open now. */
  readonly openRuns: number;
  /** Spans opened for runs and calls, sampled or not. */
  readonly spansOpened: number;
  /** Spans whose ids came from another id generator: their trace id is not their run id. */
  readonly foreignIds: number;
  /** Calls of the tracer provider that threw. */
  readonly providerFailures: number;
  /** Values hidden because the redaction hook failed. */
  readonly redactionFailures: number;
  /** Calls of the attribute hook or the parent resolver that threw. */
  readonly hookFailures: number;
  /**
   * Attributes of the hook that were over its cap or had a name of ours, and users, sessions, tags and
   * metadata of runs that were over a limit: left out, or cut.
   */
  readonly droppedAttributes: number;
  /** Audit rows that could not be stored. 0 without an audit side. */
  readonly auditFailures: number;
  /** Audit rows of which a value was above the limit of a row, and so was cut. */
  readonly auditCuts: number;
  /** Measurements that could not be taken: a figure that is none, or an instrument that threw. */
  readonly metricFailures: number;
  /** Open runs that had no log record at an interval of `progress`, since more than 1,000 were open. */
  readonly progressLeftOut: number;
  /** Measurements with a label that was replaced by `_other`, by label. */
  readonly labelOverflow: Readonly<Record<OverflowLabel, number>>;
}
