import type { Adjustment, IgnoredReason } from "./lifecycle/door.ts";
import type { OverflowLabel } from "./metrics/bridge-metrics.ts";

/** Counts of a bridge since it was created. */
export interface Diagnostics {
  /** Events received. */
  readonly events: number;
  /** Events that changed nothing, by reason. */
  readonly ignored: Readonly<Record<IgnoredReason, number>>;
  /** Adjustments for limits, clocks and tenants, by kind. */
  readonly adjustments: Readonly<Record<Adjustment, number>>;
  /**
   * `adjustments.tenant_conflicts` by the tenant whose event named a run or trace of another tenant. The option
   * `metrics.tenants` says which tenants have a name here (default: the first 50). The others are `_other`.
   */
  readonly tenantConflicts: Readonly<Record<string, number>>;
  readonly runsStarted: number;
  /** Open runs at present. */
  readonly openRuns: number;
  /** Spans opened for runs and calls, sampled or not. */
  readonly spansOpened: number;
  /** Spans whose IDs came from another ID generator: their trace ID is not their run ID. */
  readonly foreignIds: number;
  /** Calls of the tracer provider that threw. */
  readonly providerFailures: number;
  /** Values hidden because the redaction hook failed. */
  readonly redactionFailures: number;
  /**
   * Messages of open runs that are kept, so that each is converted once, of all bridges and adapters of the process:
   * about how many bytes they take, and how often a run's messages were forgotten because all took more than 64 MiB.
   */
  readonly keptMessages: { readonly bytes: number; readonly forgotten: number };
  /** Calls of the attribute hook or the parent resolver that threw. */
  readonly hookFailures: number;
  /**
   * Attributes that were left out or cut: those of the hook above its limit or with a name of this package,
   * and users, sessions, tags and metadata of runs above a limit.
   */
  readonly droppedAttributes: number;
  /** Audit rows that could not be stored. 0 without an audit log. */
  readonly auditFailures: number;
  /** Audit rows with a value that was above the limit of a row and was cut. */
  readonly auditCuts: number;
  /** Failed measurements: the figure was not a number, or the instrument threw. */
  readonly metricFailures: number;
  /** Log records of `progress` that were left out because more than 1,000 runs were open. */
  readonly progressLeftOut: number;
  /** Measurements with a label that was replaced by `_other`, by label. */
  readonly labelOverflow: Readonly<Record<OverflowLabel, number>>;
}
