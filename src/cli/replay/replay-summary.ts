import type { Adjustment, Delivery } from "../../bridge/door.ts";
import type { Output } from "../terminal/output.ts";
import { count, counted } from "../terminal/table.ts";
import { safe } from "../terminal/text.ts";
import { failureTable, type RunTally } from "../traces/run-tally.ts";
import { type TraceSample, traceText } from "../traces/trace-lines.ts";
import type { ReplayJob } from "./replay-job.ts";
import type { SpanReplay } from "./span-replay.ts";

/** The summary of a replay, as `--json` prints it. Numbers are counts. */
export interface ReplaySummary {
  /** Replayed events, and events of unknown types. */
  readonly events: number;
  readonly spans: number;
  readonly runs: number;
  /** Ends of runs by outcome. A resumed run has several ends. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Failed runs by failure kind. */
  readonly failure_kinds: Readonly<Record<string, number>>;
  /** Events without effect, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
  /** Lines that could not be read as events or spans. */
  readonly rejected: number;
  /** Errors in these lines, by field. */
  readonly rejected_fields: Readonly<Record<string, number>>;
  /** Events that were too late to be put in order. */
  readonly late: number;
  readonly unknown_types: Readonly<Record<string, number>>;
  /** Values outside a closed set, as `field=value`. */
  readonly unknown_values: Readonly<Record<string, number>>;
  /** Corrections by the bridge: limits, clocks, tenants. */
  readonly adjustments: Readonly<Partial<Record<Adjustment, number>>>;
  /** Internal errors with events and spans. */
  readonly failures: number;
  readonly sent?: Delivery;
  readonly audit?: AuditSummary;
  /** Sources that could not be read to their end. */
  readonly unreadable: readonly string[];
}

interface AuditSummary {
  readonly directory: string;
  /** Rows, including those that the log already contained. */
  readonly rows: number;
  readonly rows_by_kind: Readonly<Record<string, number>>;
  /** Events without an audit row, by type. */
  readonly unprojected: Readonly<Record<string, number>>;
  /** Rows that were written without a complete search for earlier copies. */
  readonly unsearched: number;
  /** Rows that could not be stored. */
  readonly failures: number;
}

interface SummaryParts {
  readonly job: ReplayJob;
  readonly spans: SpanReplay;
  readonly tally: RunTally;
  readonly sent: Delivery | undefined;
  readonly audit: Omit<AuditSummary, "failures"> | undefined;
  readonly unreadable: readonly string[];
}

export function replaySummary(parts: SummaryParts): ReplaySummary {
  const { audit, job, spans, tally, sent, unreadable } = parts;
  const fields = new Map(job.rejectedFields);
  for (const [name, more] of spans.rejectedFields) fields.set(name, (fields.get(name) ?? 0) + more);
  const { auditFailures, adjustments, ignored, providerFailures } = job.diagnostics();
  return {
    events: job.events,
    spans: tally.spans,
    runs: tally.runs,
    outcomes: Object.fromEntries(tally.outcomes),
    failure_kinds: Object.fromEntries(tally.failureKinds),
    ignored: nonZero(job.ignored),
    rejected: job.rejected + spans.rejected,
    rejected_fields: Object.fromEntries(fields),
    late: job.late,
    unknown_types: Object.fromEntries(job.unknownTypes),
    unknown_values: Object.fromEntries(job.unknownValues),
    adjustments: nonZero(adjustments),
    // The dialect has checked all events, so `not_an_event` is an internal error.
    failures: providerFailures + ignored.not_an_event,
    ...(sent === undefined ? {} : { sent }),
    ...(audit === undefined ? {} : { audit: { ...audit, failures: auditFailures } }),
    unreadable,
  };
}

/** 0 all lines were accepted, 2 some were rejected, 1 something was lost. */
export function exitCodeOf(summary: ReplaySummary): 0 | 1 | 2 {
  const { audit, failures, rejected, sent, unreadable } = summary;
  const lost = failures + (sent?.undelivered ?? 0) + (audit?.failures ?? 0) + unreadable.length;
  if (lost > 0) return 1;
  return rejected > 0 ? 2 : 0;
}

function nonZero(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** The summary as text: the first traces, then the figures. */
export function summaryLines(
  summary: ReplaySummary,
  tally: RunTally,
  sample: TraceSample,
  output: Output,
): string[] {
  const lines: string[] = [];
  for (const spans of sample.traces) {
    append(lines, [...traceText(spans, output), ""]);
  }
  if (sample.spans < tally.spans) {
    const more = counted(tally.spans - sample.spans, "more span");
    lines.push(output.style("dim", `… and ${more} in these and other traces`), "");
  }
  if (tally.failureKinds.size > 0) append(lines, [...failureTable(tally), ""]);
  return [...lines, ...figures(summary, output)];
}

/** The summary of a replay with `--no-spans`. */
export function rowLines(summary: ReplaySummary, output: Output): string[] {
  const { audit, events } = summary;
  const { rows = 0, rows_by_kind = {}, unprojected = {} } = audit ?? {};
  const made = `${counted(events, "event")}, ${counted(rows, "row")}${listed(rows_by_kind, ": ")}`;
  const lines = [output.style("bold", made)];
  const without = total(unprojected);
  if (without > 0) {
    const which = listed(unprojected, ": ");
    lines.push(`${counted(without, "event")} without a row in an audit log${which}`);
  }
  return [...lines, ...deviations(summary, output)];
}

function figures(summary: ReplaySummary, output: Output): string[] {
  const { events, outcomes, runs, spans } = summary;
  // Sources of spans have no events.
  const read = events === 0 && spans > 0 ? [] : [counted(events, "event")];
  const made = [...read, counted(runs, "run"), counted(spans, "span")];
  const first = output.style("bold", `${made.join(", ")}${listed(outcomes, ": ")}`);
  return [first, ...deviations(summary, output)];
}

/** Lines that were rejected, adjusted or lost, and where spans and rows went. */
function deviations(summary: ReplaySummary, output: Output): string[] {
  const { adjustments, audit, failures, ignored, late, rejected, sent } = summary;
  const lines: string[] = [];
  if (rejected > 0) {
    lines.push(output.style("yellow", `${counted(rejected, "line")} rejected`));
  }
  const unchanged = total(ignored);
  if (unchanged > 0) {
    lines.push(`${counted(unchanged, "event")} changed nothing${listed(ignored, ": ")}`);
  }
  if (late > 0) lines.push(`${counted(late, "event")} came too late to be put in order`);
  if (total(adjustments) > 0) lines.push(`adjusted${listed(adjustments, ": ")}`);
  if (failures > 0) {
    const failed = `${counted(failures, "internal error")}: please report the messages above`;
    lines.push(output.style("red", failed));
  }
  append(lines, unknowns(summary));
  if (sent !== undefined) append(lines, sentLines(sent, output));
  if (audit !== undefined && audit.unsearched > 0) {
    const written = counted(audit.unsearched, "row");
    const why = "their threads have more rows than the search covers";
    lines.push(output.style("yellow", `${written} may be duplicates: ${why}`));
  }
  if (audit !== undefined) {
    const stored = `audit log: ${safe(audit.directory)}`;
    lines.push(
      audit.failures === 0
        ? stored
        : output.style("red", `${stored}: ${counted(audit.failures, "row")} could not be stored`),
    );
  }
  return lines;
}

function unknowns({ unknown_types, unknown_values }: ReplaySummary): string[] {
  const lines: string[] = [];
  if (total(unknown_types) > 0) lines.push(`unknown types${listed(unknown_types, ": ")}`);
  if (total(unknown_values) > 0) lines.push(`unknown values${listed(unknown_values, ": ")}`);
  return lines;
}

function sentLines(sent: NonNullable<ReplaySummary["sent"]>, output: Output): string[] {
  const url = safe(sent.url);
  if (sent.undelivered === 0) return [`${counted(sent.delivered, "span")} delivered to ${url}`];
  const lost = `${counted(sent.undelivered, "span")} could not be delivered to ${url}`;
  const trouble = sent.trouble === undefined ? "" : `: ${safe(sent.trouble)}`;
  return [
    output.style("red", lost + trouble),
    ...(sent.delivered > 0 ? [`${counted(sent.delivered, "span")} were delivered`] : []),
  ];
}

function listed(counts: Readonly<Record<string, number>>, before: string): string {
  const items = Object.entries(counts).map(([name, value]) => `${count(value)} ${safe(name)}`);
  return items.length === 0 ? "" : before + items.join(", ");
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, value) => sum + value, 0);
}

function append(lines: string[], more: readonly string[]): void {
  for (const line of more) lines.push(line);
}
