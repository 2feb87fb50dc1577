import { RecentPairs } from "../../events/door.ts";
import type { Run } from "../lifecycle/run.ts";

/** What is counted once for a tree of runs. */
export type Figure = "tokens" | "cost";

/** Where a figure is counted from: the ends of model calls, or the end of the root. */
export type CountedFrom = "calls" | "root";

/** Where the figures of one tree are counted from; `undefined` as long as nothing was counted. */
class TreeFigures {
  tokens: CountedFrom | undefined = undefined;
  cost: CountedFrom | undefined = undefined;
}

/** Trees that are remembered at least; at most twice as many. */
const MOST_TREES = 10_000;

/**
 * Decides that the tokens, and the cost, of a tree are counted from its model calls or from the end of
 * its root, and never from both: where the first of them came from, the rest does.
 *
 * A tree that has open runs keeps it. For what comes later, such as the next segment of a paused root or
 * a child whose parent is gone, it is known by the ID of the root. So it is where a child comes before
 * its parent.
 */
export class TreeUsage {
  readonly #known = new RecentPairs<TreeFigures>(MOST_TREES);

  /** Whether a figure is to be counted from there. The answer for a tree stays the same. */
  counts(run: Run<unknown>, figure: Figure, from: CountedFrom): boolean {
    const figures = this.#of(run);
    figures[figure] ??= from;
    return figures[figure] === from;
  }

  /**
   * A run stands below another one, after calls of it, or of what is below it, may have been counted: as
   * they were, so is the whole tree.
   */
  joined(run: Run<unknown>): void {
    const { tenantId, runId, tree } = run;
    const rootId = rootIdOf(run);
    if (rootId === runId) return;
    const own = tree.observed instanceof TreeFigures ? tree.observed : undefined;
    const below = this.#known.get(tenantId, runId);
    if (own === undefined && below === undefined) return;
    const known = this.#known.get(tenantId, rootId);
    const whole = known ?? own ?? below ?? new TreeFigures();
    if (known === undefined) this.#known.set(tenantId, rootId, whole);
    for (const part of [own, below]) {
      whole.tokens ??= part?.tokens;
      whole.cost ??= part?.cost;
    }
    tree.observed = whole;
  }

  #of(run: Run<unknown>): TreeFigures {
    const { tree } = run;
    if (tree.observed instanceof TreeFigures) return tree.observed;
    const rootId = rootIdOf(run);
    let figures = this.#known.get(run.tenantId, rootId);
    if (figures === undefined) {
      figures = new TreeFigures();
      this.#known.set(run.tenantId, rootId, figures);
    }
    tree.observed = figures;
    return figures;
  }
}

/** The root as it is known by now: a parent that became known after the start may stand below another. */
function rootIdOf({ lateRootRunId, rootRunId }: Run<unknown>): string {
  return lateRootRunId ?? rootRunId;
}
