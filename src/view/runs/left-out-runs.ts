import { beginOf, byBegin, type IndexedRun, isKnown, runName } from "./indexed-run.ts";
import { deleteOldest } from "./traces.ts";

/** Left-out runs whose IDs are remembered. Later spans of older ones make a new run. */
export const MOST_LEFT_OUT_IDS = 1_000_000;

/** The runs that the index has left out, by name. */
export class LeftOutRuns {
  /** How many of them have spans: the list would have them. */
  counted = 0;
  /** Whether each was counted. */
  readonly #names = new Map<string, boolean>();

  has(tenantId: string, runId: string): boolean {
    return this.#names.has(runName(tenantId, runId));
  }

  /** @param isCounted whether it has spans. */
  add(tenantId: string, runId: string, isCounted: boolean): void {
    this.#names.set(runName(tenantId, runId), false);
    deleteOldest(this.#names, MOST_LEFT_OUT_IDS);
    if (isCounted) this.count(tenantId, runId);
  }

  /** Counts a run that has a span. @returns whether it was not counted before. */
  count(tenantId: string, runId: string): boolean {
    const name = runName(tenantId, runId);
    if (this.#names.get(name) === true) return false;
    this.#names.set(name, true);
    this.counted += 1;
    return true;
  }
}

/**
 * The oldest runs beyond `most`, and the oldest of those that are only named.
 *
 * @returns also when the oldest of the others began, if there are too many runs.
 */
export function oldestRuns(
  runs: readonly IndexedRun[],
  most: number,
): { readonly excess: readonly IndexedRun[]; readonly oldest: bigint | undefined } {
  const known = runs.filter(isKnown).sort(byBegin);
  const named = runs.filter((run) => !isKnown(run)).sort(byBegin);
  const tooMany = Math.max(known.length - most, 0);
  const first = tooMany === 0 ? undefined : known[tooMany];
  return {
    excess: [...known.slice(0, tooMany), ...named.slice(0, Math.max(named.length - most, 0))],
    oldest: first && beginOf(first),
  };
}
