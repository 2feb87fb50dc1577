import type { ViewRun } from "../format.ts";
import type { SortColumn } from "./list-query.ts";
import type { RunRow } from "./run-index.ts";

/**
 * Rows by a column. Those without a value are last in both directions; those with the same value
 * have the newest first.
 */
export function sortRows(
  rows: readonly RunRow[],
  column: SortColumn,
  descending: boolean,
): readonly RunRow[] {
  const sign = descending ? -1 : 1;
  const byTime = [...rows].sort(newestFirst);
  if (column === "time") return descending ? byTime : byTime.reverse();
  const ranks = ranksOf(byTime, column);
  const order = Uint32Array.from(byTime.keys());
  // A number for each row, so that 100,000 rows are compared without reading their runs.
  order.sort((a, b) => compareRanks(ranks[a] ?? 0, ranks[b] ?? 0, sign) || a - b);
  return Array.from(order, (position) => byTime[position]).filter((row) => row !== undefined);
}

function newestFirst(a: RunRow, b: RunRow): number {
  return b.startMs - a.startMs || (a.run.key < b.run.key ? -1 : 1);
}

function compareRanks(a: number, b: number, sign: number): number {
  if (a === b) return 0;
  if (a === MISSING) return 1;
  if (b === MISSING) return -1;
  return a < b ? -sign : sign;
}

const MISSING = Number.NEGATIVE_INFINITY;

function ranksOf(rows: readonly RunRow[], column: Exclude<SortColumn, "time">): Float64Array {
  const values = rows.map(({ run }) => columnValue(run, column));
  const texts = [...new Set(values.filter((value) => typeof value === "string"))].sort();
  const rankOf = new Map(texts.map((text, rank) => [text, rank]));
  return Float64Array.from(values, (value) => {
    if (value === undefined) return MISSING;
    return typeof value === "number" ? value : (rankOf.get(value) ?? 0);
  });
}

function columnValue(
  run: ViewRun,
  column: Exclude<SortColumn, "time">,
): string | number | undefined {
  switch (column) {
    case "agent":
      return run.agent;
    case "tenant":
      return run.tenant_id;
    case "outcome":
      return run.outcome;
    case "kind":
      return run.failure_kind;
    case "origin":
      return run.failure_origin;
    case "working":
      return run.working_ms;
    case "waiting":
      return run.waiting_ms;
    case "input":
      return run.input_tokens;
    case "output":
      return run.output_tokens;
    case "cost":
      return run.cost_usd === undefined ? undefined : numberOf(run.cost_usd);
  }
}

/** A cost that is no number has no place in the order. */
function numberOf(decimal: string): number | undefined {
  const value = Number(decimal);
  return Number.isFinite(value) ? value : undefined;
}
