import { RecentPairs } from "../../events/door.ts";
import type { Run } from "../lifecycle/door.ts";

/** Usage that is counted once for a tree of runs. */
export type Figure = "tokens" | "cost";

/** Source of a figure: the ends of model calls, or the end of the root. */
export type CountedFrom = "calls" | "root";

/** The sources of the figures of one tree; `undefined` before the first count. */
class TreeFigures {
  tokens: CountedFrom | undefined = undefined;
  cost: CountedFrom | undefined = undefined;
}

/** Number of trees that are stored at least; at most twice as many. */
const MOST_TREES = 10_000;

/**
 * Counts the tokens and the cost of a tree either from its model calls or from the end of its root, never
 * from both. The first figure decides the source.
 *
 * A tree with open runs stores the decision. Later runs, such as the next segment of a paused root or a child
 * whose parent is gone, find it by the ID of the root. So does a child that arrives before its parent.
 */
export class TreeUsage {
  readonly #known = new RecentPairs<TreeFigures>(MOST_TREES);

  /** Whether to count a figure from this source. The answer for a tree does not change. */
  counts(run: Run<unknown>, figure: Figure, from: CountedFrom): boolean {
    const figures = this.#of(run);
    figures[figure] ??= from;
    return figures[figure] === from;
  }

  /**
   * Merges the decision of a run into that of its parent's tree, if usage of the run or its descendants was
   * counted before the parent was known.
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

/** The currently known root. A parent that became known late can have a parent itself. */
function rootIdOf({ lateRootRunId, rootRunId }: Run<unknown>): string {
  return lateRootRunId ?? rootRunId;
}
