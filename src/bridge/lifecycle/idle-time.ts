import { compareInstants, type Instant, millisecondsBetween } from "../../events/door.ts";
import type { Run } from "./run.ts";
import type { Tree } from "./tree.ts";

/**
 * Up to this difference, in ms, the clocks of sender and receiver count as equal. The receiver's is noted
 * every 5 s (`RunKeeper.tick`), so that a smaller difference says nothing.
 */
const SAME_CLOCK_MS = 10_000;

/**
 * By how much the events of a tree come later than they say, in ms; below 0 where their sender's clock
 * is ahead. In a replay and in services: than the newest event of all.
 */
export function delayOf<H>({ activityAt, lastAt }: Tree<H>): number {
  if (activityAt === undefined) return 0;
  const ms = millisecondsBetween(lastAt, activityAt);
  return Math.abs(ms) > SAME_CLOCK_MS ? ms : 0;
}

/**
 * How long a run has been silent, in ms from 0: since its last event, and the last start or end of a
 * child of its own.
 *
 * It is the time since events came in, as it is for `maxAgeMs`: a sender whose clock is wrong, or
 * whose events come late, must not look stalled. A run holds no such time, only its tree does, so the
 * delay of the tree's last event is taken for that of the run's.
 *
 * @param delay that of the run's tree.
 */
export function idleMs<H>({ lastAt, tree }: Run<H>, now: Instant, delay: number): number {
  // A tree whose clock is ahead counts as active at the time of this process (`RunKeeper.tick`), its runs don't.
  const last = compareInstants(lastAt, tree.lastAt) > 0 ? tree.lastAt : lastAt;
  return Math.max(millisecondsBetween(last, now) - delay, 0);
}
