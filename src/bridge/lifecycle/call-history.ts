import type { RunIds } from "../../events/door.ts";
import type { ClosedCalls } from "./closed-runs.ts";
import type { Call } from "./part.ts";

/** Below this many ids a scan is cheaper than a Map, in time and in memory. */
const SCAN_MOST = 8;

/** How many call ids all runs together remember, and how many were forgotten. */
export interface CallIdBudget {
  used: number;
  readonly most: number;
  forgotten: number;
}

/** Where the calls of a run that was over stand. */
interface ClosedPart {
  readonly ids: RunIds;
  readonly calls: ClosedCalls;
  readonly from: number;
  readonly to: number;
}

/**
 * The last call of each tool-use id of one run, to number repeats and to know a redelivered end.
 *
 * Bounded per run and over all runs. Past a bound the ids of the older half are forgotten together
 * and counted (one Map that loses its first entry over and over gets slow); should one come again,
 * its call takes the first occurrence once more.
 */
export class CallHistory<H> {
  /** While there are few: the last call, and through it the ones before. */
  #newest: Call<H> | undefined = undefined;
  #size = 0;
  #recent: Map<string, Call<H>> | undefined = undefined;
  #older: Map<string, Call<H>> | undefined = undefined;
  /** Where a closed run's calls stand. */
  #closed: ClosedPart | undefined = undefined;

  /** The last call of this id. */
  last(id: string): Call<H> | undefined {
    if (this.#recent !== undefined) return this.#recent.get(id) ?? this.#older?.get(id);
    for (let call = this.#newest; call !== undefined; call = call.before) {
      if (call.id === id) return call;
    }
    return undefined;
  }

  /** How often the id has come. */
  occurrences(id: string, last: Call<H> | undefined = this.last(id)): number {
    if (last !== undefined) return last.occurrence;
    const closed = this.#closed;
    return closed === undefined
      ? 0
      : closed.calls.occurrences(closed.ids, id, closed.from, closed.to);
  }

  /**
   * Remembers `call` as the last one of its id.
   *
   * @param mostPerRun how many ids this run remembers at least before it forgets any.
   */
  record(call: Call<H>, mostPerRun: number, budget: CallIdBudget): void {
    const recent = this.#recent;
    if (recent === undefined) {
      if (this.#size === SCAN_MOST) {
        this.#toMap(budget);
        this.record(call, mostPerRun, budget);
        return;
      }
      call.before = this.#newest;
      this.#newest = call;
      this.#size++;
      budget.used++;
      return;
    }
    if (!recent.has(call.id)) {
      // In one half only: what goes with the older one is then really forgotten.
      if (this.#older?.delete(call.id) !== true) budget.used++;
      if (recent.size >= mostPerRun || (budget.used > budget.most && recent.size > SCAN_MOST)) {
        this.#forgetOlder(budget);
        this.#older = recent;
        this.#recent = new Map([[call.id, call]]);
        return;
      }
    }
    recent.set(call.id, call);
  }

  /** Leaves no more than numbers of a run that is over. */
  moveTo(closed: ClosedCalls): void {
    for (let call = this.#newest; call !== undefined; call = call.before) closed.add(call);
    if (this.#recent === undefined) return;
    for (const call of this.#older?.values() ?? []) closed.add(call);
    for (const call of this.#recent.values()) closed.add(call);
  }

  restore(ids: RunIds, calls: ClosedCalls, from: number, to: number): void {
    this.#closed = { ids, calls, from, to };
  }

  /** Gives this run's share of the budget back. */
  release(budget: CallIdBudget): void {
    budget.used -= this.#size + (this.#recent?.size ?? 0) + (this.#older?.size ?? 0);
    this.#newest = undefined;
    this.#size = 0;
    this.#recent = undefined;
    this.#older = undefined;
  }

  /** Many calls: from now on in a Map. Of the calls of one id the last stays. */
  #toMap(budget: CallIdBudget): void {
    const calls: [string, Call<H>][] = [];
    for (let call = this.#newest; call !== undefined; call = call.before) {
      calls.push([call.id, call]);
    }
    this.#recent = new Map(calls.reverse());
    budget.used -= this.#size - this.#recent.size;
    for (const [, call] of calls) call.before = undefined;
    this.#newest = undefined;
    this.#size = 0;
  }

  #forgetOlder(budget: CallIdBudget): void {
    const lost = this.#older?.size ?? 0;
    budget.used -= lost;
    budget.forgotten += lost;
  }
}
