import type { ViewRun } from "../format.ts";

/** IDs of the runs of a list, by tenant: a parent has the tenant of its child runs. */
export type RunIds = ReadonlyMap<string, ReadonlySet<string>>;

export function runIdsOf(runs: readonly ViewRun[]): RunIds {
  const ids = new Map<string, Set<string>>();
  for (const { run_id, tenant_id } of runs) {
    const same = ids.get(tenant_id);
    if (same === undefined) ids.set(tenant_id, new Set([run_id]));
    else same.add(run_id);
  }
  return ids;
}

/**
 * Whether another run of the list dispatched it. A list may not have the parent of a run: it comes later, or a
 * report has only failed runs and the parent did not fail.
 */
export function isSubRun({ parent_run_id, run_id, tenant_id }: ViewRun, listed: RunIds): boolean {
  if (parent_run_id === undefined || parent_run_id === run_id) return false;
  return listed.get(tenant_id)?.has(parent_run_id) === true;
}
