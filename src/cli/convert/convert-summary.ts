import type { ReplayJob } from "../replay/replay-job.ts";
import { count, counted } from "../terminal/figures.ts";
import type { Output } from "../terminal/output.ts";
import { safe } from "../terminal/safe-text.ts";
import type { ProjectedLog } from "./projected-log.ts";

/** What a conversion has done: what `--json` prints. Counts unless said otherwise. */
export interface ConvertSummary {
  /** Events read, those of unknown types among them. */
  readonly events: number;
  /** Rows of the events; those that the log had already are not written again, and count too. */
  readonly rows: number;
  readonly rows_by_kind: Readonly<Record<string, number>>;
  /** Events that an audit log has no row for, by type. */
  readonly unprojected: Readonly<Record<string, number>>;
  /** Lines that are no event. */
  readonly rejected: number;
  /** What was wrong with them, by field. */
  readonly rejected_fields: Readonly<Record<string, number>>;
  /** Events that came too late to be put in order. */
  readonly late: number;
  readonly unknown_types: Readonly<Record<string, number>>;
  /** Values outside a closed set, as `field=value`. */
  readonly unknown_values: Readonly<Record<string, number>>;
  readonly audit: {
    readonly directory: string;
    readonly failures: number;
    /** Rows written as new though not all of the log could be searched for them. */
    readonly unsearched: number;
  };
  /** Sources that could not be read to their end. */
  readonly unreadable: readonly string[];
}

export interface ConvertParts {
  readonly job: ReplayJob;
  readonly log: ProjectedLog;
  readonly unprojected: Readonly<Record<string, number>>;
  readonly directory: string;
  readonly unsearched: number;
  readonly unreadable: readonly string[];
}

export function convertSummary(parts: ConvertParts): ConvertSummary {
  const { directory, job, log, unprojected, unreadable, unsearched } = parts;
  return {
    events: job.events,
    rows: log.rows,
    rows_by_kind: Object.fromEntries(log.kinds),
    unprojected,
    rejected: job.rejected,
    rejected_fields: Object.fromEntries(job.rejectedFields),
    late: job.late,
    unknown_types: Object.fromEntries(job.unknownTypes),
    unknown_values: Object.fromEntries(job.unknownValues),
    audit: { directory, failures: job.diagnostics().auditFailures, unsearched },
    unreadable,
  };
}

/** 0 all taken, 2 some lines rejected, 1 where something was lost. */
export function exitCodeOf({ audit, rejected, unreadable }: ConvertSummary): 0 | 1 | 2 {
  if (audit.failures > 0 || unreadable.length > 0) return 1;
  return rejected > 0 ? 2 : 0;
}

/** The summary for a person. */
export function convertLines(summary: ConvertSummary, output: Output): string[] {
  const { audit, events, late, rejected, rows, rows_by_kind } = summary;
  const { unknown_types, unknown_values, unprojected } = summary;
  const made = `${counted(events, "event")}, ${counted(rows, "row")}`;
  const lines = [output.style("bold", made + listed(rows_by_kind))];
  const without = total(unprojected);
  if (without > 0) {
    lines.push(`${counted(without, "event")} without a row in an audit log${listed(unprojected)}`);
  }
  if (total(unknown_types) > 0) lines.push(`types not known here${listed(unknown_types)}`);
  if (total(unknown_values) > 0) lines.push(`values not known here${listed(unknown_values)}`);
  if (rejected > 0) lines.push(output.style("yellow", `${counted(rejected, "line")} rejected`));
  if (late > 0) lines.push(`${counted(late, "event")} came too late to be put in order`);
  if (audit.unsearched > 0) {
    const written = counted(audit.unsearched, "row");
    const why = "their threads have more rows in the log than could be searched for them";
    lines.push(output.style("yellow", `${written} may be there twice: ${why}`));
  }
  const stored = `audit log: ${safe(audit.directory)}`;
  if (audit.failures === 0) lines.push(stored);
  else {
    const failed = `${counted(audit.failures, "row")} could not be stored`;
    lines.push(output.style("red", `${stored}: ${failed}`));
  }
  return lines;
}

function listed(counts: Readonly<Record<string, number>>): string {
  const items = Object.entries(counts).map(([name, value]) => `${count(value)} ${safe(name)}`);
  return items.length === 0 ? "" : `: ${items.join(", ")}`;
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, value) => sum + value, 0);
}
