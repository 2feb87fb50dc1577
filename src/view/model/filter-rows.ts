import type { ViewRun } from "../format.ts";
import { FACETS, type Facet, type ListQuery } from "./list-query.ts";
import type { RunRow } from "./run-index.ts";
import { isWaiting } from "./story-words.ts";

/** IDs are computed once for a list, which is filtered many times. */
const idsByRows = new WeakMap<readonly RunRow[], RunIds>();

/**
 * The rows that a query shows, in the order in which they were given.
 *
 * @param rows all of the list: a sub-run whose parent is not among them counts as a top-level run.
 */
export function filterRows(rows: readonly RunRow[], query: ListQuery): readonly RunRow[] {
  const words = query.search.toLowerCase().split(/\s+/).filter(Boolean);
  const facets = FACETS.filter((facet) => query.chosen[facet].size > 0);
  const { chosen, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = query;
  const listed = query.subRuns ? undefined : listedIn(rows);
  return rows.filter(
    (row) =>
      (listed === undefined || !isSubRun(row.run, listed)) &&
      row.startMs >= fromMs &&
      row.startMs < toMs &&
      (!query.waiting || isWaiting(row.run)) &&
      facets.every((facet) => facetValues(row.run, facet).some((one) => chosen[facet].has(one))) &&
      words.every((word) => hasText(row, word)),
  );
}

/** Whether the row or a run below it has a text. */
function hasText({ folded, sums, text }: RunRow, word: string): boolean {
  if (text.includes(word) || sums?.includes(word) === true) return true;
  return folded?.rows.some((row) => hasText(row, word)) === true;
}

function listedIn(rows: readonly RunRow[]): RunIds {
  const known = idsByRows.get(rows);
  if (known !== undefined) return known;
  const ids = runIdsOf(allRuns(rows));
  idsByRows.set(rows, ids);
  return ids;
}

/** The values of one filter, and how many rows each shows together with the other filters. */
export function facetCounts(
  rows: readonly RunRow[],
  query: ListQuery,
  facet: Facet,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const others = { ...query, chosen: { ...query.chosen, [facet]: new Set<string>() } };
  for (const { run } of filterRows(rows, others)) {
    for (const value of facetValues(run, facet)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

/** The filters that some row has a value for. */
export function filledFacets(rows: readonly RunRow[]): ReadonlySet<Facet> {
  const isFilled = (facet: Facet) =>
    rows.some(({ run }) => facetValues(run, facet).some((value) => value !== ""));
  return new Set(FACETS.filter(isFilled));
}

/** Values of a run for a filter, each once; `""` if it has none. */
export function facetValues(run: ViewRun, facet: Facet): readonly string[] {
  switch (facet) {
    case "outcome":
      return [run.outcome];
    case "kind":
      return [run.failure_kind ?? ""];
    case "origin":
      return [run.failure_origin ?? ""];
    case "agent":
      return [run.agent ?? ""];
    case "tenant":
      return [run.tenant_id];
    case "thread":
      return [run.thread_id ?? ""];
    case "user":
      return [run.user ?? ""];
    case "session":
      return [run.session ?? ""];
    case "tag":
      return run.tags ?? NO_VALUE;
    case "model":
      return run.models ?? [run.model ?? ""];
    case "tool":
      return run.tools ?? NO_VALUE;
  }
}

const NO_VALUE = [""];

/** The runs of rows, with those below them. */
function* allRuns(rows: readonly RunRow[]): Generator<ViewRun> {
  for (const { folded, run } of rows) {
    yield run;
    if (folded !== undefined) yield* allRuns(folded.rows);
  }
}

/** IDs of the runs of a list, by tenant: a parent has the tenant of its child runs. */
type RunIds = ReadonlyMap<string, ReadonlySet<string>>;

export function runIdsOf(runs: Iterable<ViewRun>): RunIds {
  const ids = new Map<string, Set<string>>();
  for (const { run_id, tenant_id } of runs) {
    const same = ids.get(tenant_id);
    if (same === undefined) ids.set(tenant_id, new Set([run_id]));
    else same.add(run_id);
  }
  return ids;
}

/**
 * Whether another run of the list dispatched it. The parent may be absent: it comes later, it was left out, or it did
 * not fail and the list is that of a report.
 */
function isSubRun({ parent_run_id, run_id, tenant_id }: ViewRun, listed: RunIds): boolean {
  if (parent_run_id === undefined || parent_run_id === run_id) return false;
  return listed.get(tenant_id)?.has(parent_run_id) === true;
}

/**
 * Whether the parent of a run is not among some rows. The tokens and cost of a run have those of its child runs, so sums
 * are over such runs.
 */
export function topRuns(rows: readonly RunRow[]): (run: ViewRun) => boolean {
  if (!rows.some(({ run }) => run.parent_run_id !== undefined)) return () => true;
  const listed = listedIn(rows);
  return (run) => !isSubRun(run, listed);
}
