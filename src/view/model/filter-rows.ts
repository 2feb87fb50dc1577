import type { ViewRun } from "../format.ts";
import { FACETS, type Facet, type ListQuery } from "./list-query.ts";
import type { RunRow } from "./run-index.ts";

/** Rows that a query shows, and what else could be chosen. */
export interface FilteredRows {
  /** In the order in which they were given. */
  readonly rows: readonly RunRow[];
  /** For each filter its values, and how many rows each would show with the other filters as they are. */
  readonly counts: Readonly<Record<Facet, ReadonlyMap<string, number>>>;
  /** Rows without any filter: top-level runs, or all. */
  readonly total: number;
}

/** Filters rows and counts the values of each filter, in one pass. */
export function filterRows(rows: readonly RunRow[], query: ListQuery): FilteredRows {
  const counts = {
    outcome: new Map<string, number>(),
    kind: new Map<string, number>(),
    origin: new Map<string, number>(),
    agent: new Map<string, number>(),
    tenant: new Map<string, number>(),
  };
  const words = query.search.toLowerCase().split(/\s+/).filter(Boolean);
  const shown: RunRow[] = [];
  let total = 0;
  for (const row of rows) {
    if (!query.subRuns && row.run.parent_run_id !== undefined) continue;
    total += 1;
    const missed = missedFacet(row.run, query);
    // A row that two filters hide counts nowhere.
    if (missed === "several" || !isInTime(row, query)) continue;
    if (!words.every((word) => row.text.includes(word))) continue;
    if (missed === undefined) shown.push(row);
    for (const facet of missed === undefined ? FACETS : [missed]) {
      const value = facetValue(row.run, facet);
      counts[facet].set(value, (counts[facet].get(value) ?? 0) + 1);
    }
  }
  return { rows: shown, counts, total };
}

/** Value of a run that a filter chooses by; `""` where it has none. */
export function facetValue(run: ViewRun, facet: Facet): string {
  switch (facet) {
    case "outcome":
      return run.outcome;
    case "kind":
      return run.failure_kind ?? "";
    case "origin":
      return run.failure_origin ?? "";
    case "agent":
      return run.agent ?? "";
    case "tenant":
      return run.tenant_id;
  }
}

/** The one filter that hides a run; `undefined` where none does. */
function missedFacet(run: ViewRun, { chosen }: ListQuery): Facet | "several" | undefined {
  let missed: Facet | undefined;
  for (const facet of FACETS) {
    const values = chosen[facet];
    if (values.size === 0 || values.has(facetValue(run, facet))) continue;
    if (missed !== undefined) return "several";
    missed = facet;
  }
  return missed;
}

function isInTime({ startMs }: RunRow, { fromMs, toMs }: ListQuery): boolean {
  return (fromMs === undefined || startMs >= fromMs) && (toMs === undefined || startMs < toMs);
}
