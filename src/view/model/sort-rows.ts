import type { ViewRun } from "../format.ts";
import type { SortColumn } from "./list-query.ts";
import type { RunRow } from "./run-index.ts";

/** Rows by the start of their runs, the newest first. */
export function newestFirst(rows: readonly RunRow[]): readonly RunRow[] {
  return [...rows].sort((a, b) => b.startMs - a.startMs || (a.run.key < b.run.key ? -1 : 1));
}

/**
 * Sorts rows by a column. Rows without a value are last in both directions. Rows with the same value: the newest first.
 *
 * @param byTime rows as {@link newestFirst} gives them.
 */
export function sortRows(
  byTime: readonly RunRow[],
  column: SortColumn,
  descending: boolean,
): readonly RunRow[] {
  if (column === "time") return descending ? byTime : byTime.toReversed();
  const ranks = ranksOf(byTime, column, descending);
  // Rank and position as one number below 2^53: sorting numbers without a comparator is fastest.
  const keys = Float64Array.from(ranks, (rank, position) => rank * byTime.length + position).sort();
  const sorted: RunRow[] = [];
  for (const key of keys) {
    const row = byTime[key % byTime.length];
    if (row !== undefined) sorted.push(row);
  }
  return sorted;
}

/** Rank of each row's value. Rows without a value get the last rank. */
function ranksOf(
  rows: readonly RunRow[],
  column: Exclude<SortColumn, "time">,
  descending: boolean,
): readonly number[] {
  const values = rows.map(({ run }) => columnValue(run, column));
  const distinct = new Set(values);
  distinct.delete(undefined);
  const texts = [...distinct].filter((value) => typeof value === "string").sort();
  const numbers = Float64Array.from([...distinct].filter((value) => typeof value === "number"));
  const ordered: (string | number)[] = [...texts, ...numbers.sort()];
  if (descending) ordered.reverse();
  const rankOf = new Map(ordered.map((value, rank) => [value, rank]));
  return values.map(
    (value) => (value === undefined ? undefined : rankOf.get(value)) ?? rankOf.size,
  );
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
    case "tokens":
      return tokensOf(run);
    case "input":
      return run.input_tokens;
    case "output":
      return run.output_tokens;
    case "cost":
      return run.cost_usd === undefined ? undefined : numberOf(run.cost_usd);
  }
}

/** Known input and output tokens together. */
export function tokensOf({ input_tokens, output_tokens }: ViewRun): number | undefined {
  if (input_tokens === undefined) return output_tokens;
  return input_tokens + (output_tokens ?? 0);
}

/** A cost that is not a number counts as no value. */
function numberOf(decimal: string): number | undefined {
  const value = Number(decimal);
  return Number.isFinite(value) ? value : undefined;
}
