import { count, counted } from "../terminal/figures.ts";
import type { Output } from "../terminal/output.ts";
import { safe } from "../terminal/safe-text.ts";
import { failureTable } from "../traces/failure-table.ts";
import type { RunTally } from "../traces/run-tally.ts";
import { traceHeading, traceLines } from "../traces/trace-lines.ts";
import type { TraceSample } from "../traces/trace-sample.ts";
import type { ReplaySummary } from "./replay-summary.ts";

/** A replay's summary for a person: trees of the first traces, then the figures. */
export function summaryLines(
  summary: ReplaySummary,
  tally: RunTally,
  sample: TraceSample,
  output: Output,
): string[] {
  const lines: string[] = [];
  for (const spans of sample.traces) {
    lines.push(traceHeading(spans, output), ...traceLines(spans, output), "");
  }
  if (sample.spans < tally.spans) {
    const more = counted(tally.spans - sample.spans, "more span");
    lines.push(output.style("dim", `… and ${more} in these and other traces`), "");
  }
  if (tally.failureKinds.size > 0) lines.push(...failureTable(tally), "");
  return [...lines, ...figures(summary, output)];
}

/** The summary of a replay that made audit rows alone. */
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
  return [...lines, ...troubles(summary, output)];
}

function figures(summary: ReplaySummary, output: Output): string[] {
  const { events, outcomes, runs, spans } = summary;
  const made = [counted(events, "event"), counted(runs, "run"), counted(spans, "span")];
  const first = output.style("bold", `${made.join(", ")}${listed(outcomes, ": ")}`);
  return [first, ...troubles(summary, output)];
}

/** What was not as usual, and where spans and rows went. */
function troubles(summary: ReplaySummary, output: Output): string[] {
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
  if (total(adjustments) > 0) lines.push(`mended or limited${listed(adjustments, ": ")}`);
  if (failures > 0) {
    const failed = `${counted(failures, "failure")} of this package's own: please report what was said`;
    lines.push(output.style("red", failed));
  }
  lines.push(...unknowns(summary));
  if (sent !== undefined) lines.push(...sentLines(sent, output));
  if (audit !== undefined && audit.unsearched > 0) {
    const written = counted(audit.unsearched, "row");
    const why = "their threads have more rows in the log than could be searched for them";
    lines.push(output.style("yellow", `${written} may be there twice: ${why}`));
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
  if (total(unknown_types) > 0) lines.push(`types not known here${listed(unknown_types, ": ")}`);
  if (total(unknown_values) > 0) lines.push(`values not known here${listed(unknown_values, ": ")}`);
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
