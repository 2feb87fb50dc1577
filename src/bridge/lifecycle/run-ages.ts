import { addMilliseconds, compareInstants, type Instant, isSince } from "../../events/door.ts";
import type { Counters } from "./counters.ts";
import type { Forest, Tree } from "./tree.ts";

/**
 * Source of a time: this process's clock, the newest event, or a pause without events (in services).
 */
export type TimeSource = "process" | "event" | "silence";

/**
 * Number of other events after which a tree can be closed as idle. More than the reorder buffer holds, since
 * the tree's next event may wait there.
 */
const EVENTS_BEFORE_CLOSE = 2_048;

interface RunAgesOptions<H> {
  readonly forest: Forest<H>;
  readonly counters: Counters;
  readonly maxAgeMs: number;
  /** Closes all runs of a tree, and returns their number. */
  readonly abandon: (tree: Tree<H>) => number;
}

/**
 * Closes trees of runs that were idle for longer than the age limit.
 *
 * Live, an event counts as activity at its arrival, even if its sender's clock is wrong. In a replay, the
 * times of the tree's events are compared with the time of the newest event.
 */
export class RunAges<H> {
  readonly #options: RunAgesOptions<H>;
  /** Time of the event that is played; `undefined` live. */
  eventAt: Instant | undefined = undefined;

  constructor(options: RunAgesOptions<H>) {
    this.#options = options;
  }

  /** Advances the time, and closes idle trees. */
  tick(now: Instant, source: TimeSource): void {
    const { counters, forest, maxAgeMs } = this.#options;
    if (source !== "silence") forest.clock = now;
    const oldest = addMilliseconds(now, -maxAgeMs);
    for (;;) {
      const tree = forest.first;
      if (tree === undefined) return;
      if (compareInstants(tree.lastAt, now) > 0) {
        // A sender's clock that is ahead must not keep its tree, and all trees behind it, open forever.
        forest.moveToEnd(tree, now);
      } else if (isSince(tree.lastAt, oldest) || isSince(tree.activityAt, oldest)) return;
      else if (source === "event" && counters.events - tree.events < EVENTS_BEFORE_CLOSE) return;
      else this.#abandon(tree);
    }
  }

  /** Closes the tree of the current event if the tree's last event is too old. */
  closeIfIdle(tree: Tree<H>): void {
    const at = this.eventAt;
    const { clock } = this.#options.forest;
    // A time after the clock of the replay is not trusted.
    if (at === undefined || clock === undefined || at[0] > clock[0]) return;
    if (this.#isOver(tree, at)) this.#abandon(tree);
  }

  /** Closes idle trees at the end of a replay, measured from the newest event. */
  end(): void {
    const { forest } = this.#options;
    const { clock } = forest;
    if (this.eventAt === undefined || clock === undefined) return;
    for (const tree of [...forest.trees()]) if (this.#isOver(tree, clock)) this.#abandon(tree);
  }

  #isOver({ lastAt }: Tree<H>, at: Instant): boolean {
    const { maxAgeMs } = this.#options;
    // Fast path: seconds are mostly enough.
    if ((at[0] - lastAt[0] + 1) * 1000 < maxAgeMs) return false;
    return !isSince(lastAt, addMilliseconds(at, -maxAgeMs));
  }

  #abandon(tree: Tree<H>): void {
    const { abandon, counters } = this.#options;
    counters.adjustments.aged_runs += abandon(tree);
  }
}
