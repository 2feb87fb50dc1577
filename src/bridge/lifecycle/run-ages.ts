import { addMilliseconds, compareInstants, type Instant, isSince } from "../../events/door.ts";
import type { Counters } from "./counters.ts";
import type { Forest, Tree } from "./tree.ts";

/**
 * What says that time passes: this process's clock, the newest event, or that none has come for a while (in services).
 */
export type TimeSource = "process" | "event" | "silence";

/**
 * Events that must have been played since the last one of a tree before others can say that it was silent for too
 * long: more than wait to be put in order, where the next one of the tree may be.
 */
const PATIENCE = 2_048;

interface RunAgesOptions<H> {
  readonly forest: Forest<H>;
  readonly counters: Counters;
  readonly maxAgeMs: number;
  /** Closes all runs of a tree; returns how many there were. */
  readonly abandon: (tree: Tree<H>) => number;
}

/**
 * Closes the trees of runs that were silent for too long.
 *
 * Live an event counts as activity when it comes, however wrong its sender's clock is. Else it is a matter of a tree's own
 * events and the newest one of all: how late a tree's events are beside others makes no difference.
 */
export class RunAges<H> {
  readonly #options: RunAgesOptions<H>;
  /** Time of the event that is played; `undefined` live. */
  eventAt: Instant | undefined = undefined;

  constructor(options: RunAgesOptions<H>) {
    this.#options = options;
  }

  /** Time passes. */
  tick(now: Instant, source: TimeSource): void {
    const { counters, forest, maxAgeMs } = this.#options;
    if (source !== "silence") forest.clock = now;
    const oldest = addMilliseconds(now, -maxAgeMs);
    for (;;) {
      const tree = forest.first;
      if (tree === undefined) return;
      if (compareInstants(tree.lastAt, now) > 0) {
        // A clock that runs ahead must not keep its tree, and all behind it, open for good.
        forest.moveToEnd(tree, now);
      } else if (isSince(tree.lastAt, oldest) || isSince(tree.activityAt, oldest)) return;
      else if (source === "event" && counters.events - tree.events < PATIENCE) return;
      else this.#abandon(tree);
    }
  }

  /** The event that is played is about a tree: closes the tree where its last one is too long ago. */
  goesOn(tree: Tree<H>): void {
    const at = this.eventAt;
    const { clock } = this.#options.forest;
    // A time that is not believed says nothing.
    if (at === undefined || clock === undefined || at[0] > clock[0]) return;
    if (this.#isOver(tree, at)) this.#abandon(tree);
  }

  /** At the end of all events: closes what was silent for too long before the newest one. */
  end(): void {
    const { forest } = this.#options;
    const { clock } = forest;
    if (this.eventAt === undefined || clock === undefined) return;
    for (const tree of [...forest.trees()]) if (this.#isOver(tree, clock)) this.#abandon(tree);
  }

  #isOver({ lastAt }: Tree<H>, at: Instant): boolean {
    const { maxAgeMs } = this.#options;
    // Seconds decide nearly always.
    if ((at[0] - lastAt[0] + 1) * 1000 < maxAgeMs) return false;
    return !isSince(lastAt, addMilliseconds(at, -maxAgeMs));
  }

  #abandon(tree: Tree<H>): void {
    const { abandon, counters } = this.#options;
    counters.adjustments.aged_runs += abandon(tree);
  }
}
