import type { IndexedRun } from "./indexed-run.ts";

/** Where runs are found. */
export interface Runs {
  find(tenantId: string, runId: string): IndexedRun | undefined;
}

/** The run that a run continues. */
export function pausedBefore(
  runs: Runs,
  { resumedFrom, tenant_id }: IndexedRun,
): IndexedRun | undefined {
  return resumedFrom === undefined ? undefined : runs.find(tenant_id, resumedFrom);
}

/** Whether a run waits for its resumption. */
export function isPaused({ traits }: IndexedRun): boolean {
  return traits?.outcome === "interrupted";
}

/** Whether a run ended without a pause, so that no run resumes it. */
export function hasEnded({ traits }: IndexedRun): boolean {
  return traits !== undefined && traits.outcome !== "open" && traits.outcome !== "interrupted";
}

/** Whether the run that it names as resumed was not paused: it is a new run of the conversation. */
export function namesEnded(runs: Runs, run: IndexedRun): boolean {
  const before = pausedBefore(runs, run);
  return before !== undefined && hasEnded(before);
}

/** A run, the paused runs that it continues, and those that continue it. */
export function storyOf(runs: Runs, run: IndexedRun): ReadonlySet<IndexedRun> {
  const story = new Set([run]);
  // Runs that are added meanwhile have their turn, too.
  for (const each of story) {
    const paused = pausedBefore(runs, each);
    if (paused !== undefined && !hasEnded(paused)) story.add(paused);
    if (!hasEnded(each)) for (const next of each.resumedBy ?? []) story.add(next);
  }
  return story;
}
