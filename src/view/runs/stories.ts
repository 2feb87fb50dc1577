import type { IndexedRun } from "./indexed-run.ts";

interface Runs {
  find(tenantId: string, runId: string): IndexedRun | undefined;
}

/** Whether a run ended without a pause, so that no run resumes it. */
export function hasEnded({ traits }: IndexedRun): boolean {
  return traits !== undefined && traits.outcome !== "open" && traits.outcome !== "interrupted";
}

/** Whether the run that it names as resumed was not paused: it is a new run of the conversation. */
export function namesEnded(runs: Runs, { resumedFrom, tenant_id }: IndexedRun): boolean {
  const before = resumedFrom === undefined ? undefined : runs.find(tenant_id, resumedFrom);
  return before !== undefined && hasEnded(before);
}

/** A run, the paused runs that it continues, and those that continue it. */
export function storyOf(runs: Runs, run: IndexedRun): ReadonlySet<IndexedRun> {
  const story = new Set([run]);
  // Runs that are added meanwhile have their turn, too.
  for (const each of story) {
    const { resumedBy = [], resumedFrom, tenant_id } = each;
    const paused = resumedFrom === undefined ? undefined : runs.find(tenant_id, resumedFrom);
    if (paused !== undefined && !hasEnded(paused)) story.add(paused);
    if (!hasEnded(each)) for (const next of resumedBy) story.add(next);
  }
  return story;
}
