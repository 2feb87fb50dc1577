import type { ToldDecision } from "../lifecycle/run-observer.ts";
import { amountOf } from "./figures.ts";
import { PairSeries } from "./series-cache.ts";
import { WaitedTime } from "./waited-time.ts";

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
