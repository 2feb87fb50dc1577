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

/** Position of a closed run's calls in {@link ClosedCalls}. */
interface ClosedPart {
  readonly ids: RunIds;
  readonly calls: ClosedCalls;
  readonly from: number;
  readonly to: number;
}

/**
 * The last call of each tool-use ID of one run. It numbers repeats and detects a redelivered end.
 *
 * Bounded per run and over all runs. Above a bound, the IDs of the older half are dropped together and
 * counted, since a Map that loses its first entry again and again gets slow. A call with a dropped ID
 * counts as the first of its ID.
 */
export class CallHistory<H> {
  /** Linked list of calls, used while there are few. */
  #newest: Call<H> | undefined = undefined;
  #size = 0;
  #recent: Map<string, Call<H>> | undefined = undefined;
  #older: Map<string, Call<H>> | undefined = undefined;
  /** The calls of a closed run. */
  #closed: ClosedPart | undefined = undefined;

  /** The last call of this id. */
  last(id: string): Call<H> | undefined {
    if (this.#recent !== undefined) return this.#recent.get(id) ?? this.#older?.get(id);
    for (let call = this.#newest; call !== undefined; call = call.before) {
      if (call.id === id) return call;
    }
    return undefined;
  }

  /** Number of calls with this ID. */
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
   * @param mostPerRun IDs that this run stores before it drops any.
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
      // An ID is in one half only, so dropping the older half really drops it.
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

  /** Moves the calls of a run that is over to a compact form. */
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

  /** Replaces the list by a Map, which holds the last call of each ID. */
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
