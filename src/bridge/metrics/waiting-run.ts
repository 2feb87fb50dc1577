import { type Instant, millisecondsBetween } from "../../events/door.ts";
import type { CallDecision, Run } from "../lifecycle/door.ts";
import { amountOf } from "./figures.ts";
import { PairSeries } from "./series-cache.ts";

/** Observer's data of a run that waited for people. Other runs store only their series, to save memory. */
export class WaitingRun {
  pair: PairSeries;
  readonly waited = new WaitedTime();

  constructor(pair: PairSeries) {
    this.pair = pair;
  }
}

/** The series of a run, from the observer's data; `undefined` if the run is not measured. */
export function pairIn(observed: unknown): PairSeries | undefined {
  if (observed instanceof WaitingRun) return observed.pair;
  return observed instanceof PairSeries ? observed : undefined;
}

/** How long a person took to decide, in ms. `undefined` if unknown, or if a policy decided. */
export function waitIn({ attributes, decision, waitMs }: CallDecision): number | undefined {
  const by = decision?.by ?? attributes?.["entelix.approval.by"];
  if (by === "policy") return undefined;
  return amountOf(decision?.wait_ms ?? waitMs ?? attributes?.["entelix.approval.wait_ms"]);
}

/** Waits are whole ms, and events have times of different clocks. */
const ROUNDING_MS = 1;

/** Whether a wait began before a run or segment, and so ended with its start: the decision was made before it. */
export function isBefore(waitFrom: number, start: number): boolean {
  return waitFrom < start - ROUNDING_MS;
}

/** When a wait ended that a decision names: at the decision, or at the start of a run that began after the wait. */
export function waitEnd(
  { startedAt, startSeen }: Run<unknown>,
  decidedAt: Instant,
  waitedMs: number,
): Instant {
  const from = millisecondsBetween(startedAt, decidedAt) - waitedMs;
  return startSeen && isBefore(from, 0) ? startedAt : decidedAt;
}

/** Most waits of a run that are checked for overlaps. Older ones only count in the sum. */
const MOST_WAITS = 32;

/**
 * Time that a run waited for people. Overlapping waits count once, in any order of `add`.
 *
 * @example
 * const waited = new WaitedTime();
 * waited.add(0, 60_000);
 * waited.add(50_000, 70_000);
 * waited.ms; // 70,000
 */
export class WaitedTime {
  #older = 0;
  #waits: (readonly [from: number, to: number])[] = [];

  get ms(): number {
    return this.#waits.reduce((sum, [from, to]) => sum + to - from, this.#older);
  }

  /** @param from and to: in ms since the run started. Ignored unless `to` is after `from`. */
  add(from: number, to: number): void {
    if (!(to > from)) return;
    let first = from;
    let last = to;
    const apart = this.#waits.filter(([otherFrom, otherTo]) => {
      if (otherTo < from || otherFrom > to) return true;
      first = Math.min(first, otherFrom);
      last = Math.max(last, otherTo);
      return false;
    });
    apart.push([first, last]);
    const [oldest] = apart;
    if (apart.length > MOST_WAITS && oldest !== undefined) {
      this.#older += oldest[1] - oldest[0];
      apart.shift();
    }
    this.#waits = apart;
  }
}
