import type { ToldDecision } from "../lifecycle/run-observer.ts";
import { amountOf } from "./figures.ts";
import { PairSeries } from "./series-cache.ts";

/** Kept with a run that waited for people. Others keep their series alone: there are many open runs. */
export class WaitingRun {
  pair: PairSeries;
  readonly waited = new WaitedTime();

  constructor(pair: PairSeries) {
    this.pair = pair;
  }
}

/** The series that a run is counted in, from what is kept with it; `undefined` where it is not measured. */
export function pairIn(observed: unknown): PairSeries | undefined {
  if (observed instanceof WaitingRun) return observed.pair;
  return observed instanceof PairSeries ? observed : undefined;
}

/** How long a person took to decide, in ms; `undefined` where nobody says it, or it was a policy. */
export function waitIn({ attributes, decision, waitMs }: ToldDecision): number | undefined {
  const by = decision?.by ?? attributes?.["entelix.approval.by"];
  if (by === "policy") return undefined;
  return amountOf(decision?.wait_ms ?? waitMs ?? attributes?.["entelix.approval.wait_ms"]);
}

/** Waits of a run whose overlaps are known. An older one still counts in the sum. */
const MOST_WAITS = 32;

/**
 * How long a run waited for people. Waits that overlap count once, in whatever order they are told.
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

  /** @param from and to: in ms since the run started. A wait that ends before it begins counts nothing. */
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
