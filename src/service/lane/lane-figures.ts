import type { IgnoredReason } from "../../lifecycle/counters.ts";

/** What a lane has done since it was made, and how it stands. Counts, unless said otherwise. */
export interface LaneFigures {
  /** Lines taken. */
  readonly lines: number;
  /** Of them, those before `from`: played without a trace. */
  readonly muted: number;
  /** Events played, those of unknown types not among them. */
  readonly events: number;
  readonly rejected: number;
  /** Lines of types that this version does not know. */
  readonly unknown: number;
  /** Events that had come before. */
  readonly duplicates: number;
  /** Events that changed nothing, by reason; `duplicate` among them. */
  readonly ignored: Readonly<Record<IgnoredReason, number>>;
  /**
   * How often a tenant named a run or trace of another one: the first 50 tenants by name, the rest as
   * `_other`.
   */
  readonly tenantConflicts: Readonly<Record<string, number>>;
  /** Events that came too late to be put in order; they were played all the same. */
  readonly late: number;
  readonly spansStored: number;
  /** Spans that the receiver refused for good. */
  readonly spansRefused: number;
  readonly rowsStored: number;
  /** Rows that the log refused for good. */
  readonly rowsRefused: number;
  /** Runs that are open now. */
  readonly openRuns: number;
  /** Lines that wait now to be put in order. */
  readonly waiting: number;
  /** Spans and rows that are on their way to their stores now. */
  readonly inFlight: number;
  /** Whether a store has not taken what it was given for a while: the lane stands still, or will soon. */
  readonly stalled: boolean;
  /** From the time of the newest event to now, in ms; 0 before the first event. */
  readonly lagMs: number;
}
