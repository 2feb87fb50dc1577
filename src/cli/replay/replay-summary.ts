import type { Adjustment } from "../../lifecycle/counters.ts";
import type { Delivery } from "../../otel/replay/otlp-endpoint.ts";
import type { RunTally } from "../traces/run-tally.ts";
import type { ReplayJob } from "./replay-job.ts";

/** What a replay has done: what `--json` prints. Counts unless said otherwise. */
export interface ReplaySummary {
  /** Events taken, those of unknown types among them. */
  readonly events: number;
  readonly spans: number;
  readonly runs: number;
  /** Ends of runs by outcome; a paused run that goes on ends more than once. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Failed runs by failure kind. */
  readonly failure_kinds: Readonly<Record<string, number>>;
  /** Events that changed nothing, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
  /** Lines that are no event. */
  readonly rejected: number;
  /** What was wrong with them, by field. */
  readonly rejected_fields: Readonly<Record<string, number>>;
  /** Events that came too late to be put in order. */
  readonly late: number;
  readonly unknown_types: Readonly<Record<string, number>>;
  /** Values outside a closed set, as `field=value`. */
  readonly unknown_values: Readonly<Record<string, number>>;
  /** Adjustments that were made: limits, clocks, tenants. */
  readonly adjustments: Readonly<Partial<Record<Adjustment, number>>>;
  /** Events and spans that this package failed on: a fault of its own. */
  readonly failures: number;
  readonly sent?: Delivery;
  readonly audit?: AuditSummary;
  /** Sources that could not be read to their end. */
  readonly unreadable: readonly string[];
}

export interface AuditSummary {
  readonly directory: string;
  /** Rows of the events; those that the log had already are not written again, and count too. */
  readonly rows: number;
  readonly rows_by_kind: Readonly<Record<string, number>>;
  /** Events that an audit log has no row for, by type. */
  readonly unprojected: Readonly<Record<string, number>>;
  /** Rows written as new though not all of the log could be searched for them. */
  readonly unsearched: number;
  /** Rows that could not be stored. */
  readonly failures: number;
}

export interface SummaryParts {
  readonly job: ReplayJob;
  readonly tally: RunTally;
  readonly sent: Delivery | undefined;
  readonly audit: Omit<AuditSummary, "failures"> | undefined;
  readonly unreadable: readonly string[];
}

export function replaySummary(parts: SummaryParts): ReplaySummary {
  const { audit, job, tally, sent, unreadable } = parts;
  const { auditFailures, adjustments, ignored, providerFailures } = job.diagnostics();
  return {
    events: job.events,
    spans: tally.spans,
    runs: tally.runs,
    outcomes: Object.fromEntries(tally.outcomes),
    failure_kinds: Object.fromEntries(tally.failureKinds),
    ignored: nonZero(job.ignored),
    rejected: job.rejected,
    rejected_fields: Object.fromEntries(job.rejectedFields),
    late: job.late,
    unknown_types: Object.fromEntries(job.unknownTypes),
    unknown_values: Object.fromEntries(job.unknownValues),
    adjustments: nonZero(adjustments),
    // Every event was checked before the bridge saw it, so none can be malformed.
    failures: providerFailures + ignored.not_an_event,
    ...(sent === undefined ? {} : { sent }),
    ...(audit === undefined ? {} : { audit: { ...audit, failures: auditFailures } }),
    unreadable,
  };
}

/** 0 all taken, 2 some lines rejected, 1 where something was lost. */
export function exitCodeOf(summary: ReplaySummary): 0 | 1 | 2 {
  const { audit, failures, rejected, sent, unreadable } = summary;
  const lost = failures + (sent?.undelivered ?? 0) + (audit?.failures ?? 0) + unreadable.length;
  if (lost > 0) return 1;
  return rejected > 0 ? 2 : 0;
}

function nonZero(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
