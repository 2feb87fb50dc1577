import type { Instant } from "../../events/door.ts";
import { delayOf, idleMs } from "../lifecycle/idle-time.ts";
import type { Tree } from "../lifecycle/tree.ts";
import { childrenIn, waitOf } from "../lifecycle/waiting.ts";
import { pairIn } from "./waiting-run.ts";

/**
 * Adds the open runs of a bridge to the series of what they wait for. Counted when asked, not kept as a
 * sum: nothing can drift, and no event pays for it.
 *
 * @param now by this process's clock.
 */
export function tallyOpenRuns(trees: Iterable<Tree<unknown>>, now: Instant): void {
  for (const tree of trees) {
    const delay = delayOf(tree);
    const children = childrenIn(tree);
    for (let run = tree.first; run !== undefined; run = run.next) {
      const pair = pairIn(run.observed);
      if (pair === undefined) continue;
      const { count, idle } = pair.ofAgent.waiting(waitOf(run, children).kind);
      count.value++;
      const seconds = idleMs(run, now, delay) / 1000;
      if (seconds > idle.value) idle.value = seconds;
    }
  }
}
