import { WaitedTime } from "../../bridge/door.ts";
import type { Wait } from "./run-facts.ts";
import type { RunTrees } from "./run-trees.ts";

/** Waits of a run that are held until its end, so that overlaps count once. Older ones count in a sum. */
const MOST = 256;

/** Waits of a run that has not ended. */
interface OpenWaits {
  older: number;
  readonly byCall: Map<string, Wait>;
}

/**
 * Waits for people of runs that have not ended. When a run ends they become one number, and those above it get them:
 * while a child run waits, so do they.
 */
export class Waits {
  readonly #open = new Map<number, OpenWaits>();

  add(row: number, waits: readonly Wait[]): void {
    if (waits.length === 0) return;
    const known = this.#open.get(row) ?? { older: 0, byCall: new Map<string, Wait>() };
    this.#open.set(row, known);
    for (const [at, wait] of waits.entries()) {
      // The span of a run says it better than that of the call, and comes after it.
      known.byCall.set(wait.callId === "" ? `${at} ${wait.to}` : wait.callId, wait);
      const [oldest] = known.byCall;
      if (known.byCall.size <= MOST || oldest === undefined) continue;
      known.byCall.delete(oldest[0]);
      known.older += oldest[1].to - oldest[1].from;
    }
  }

  /** A call was decided about: one that had begun before waited until then, not until its start. */
  decided(row: number, callId: string, at: number): void {
    const byCall = this.#open.get(row)?.byCall;
    const wait = byCall?.get(callId);
    if (wait !== undefined && wait.to < at) {
      byCall?.set(callId, { callId, from: wait.from + at - wait.to, to: at });
    }
  }

  /**
   * How long an open run has waited so far, in ms.
   *
   * @param start of the run, or of its segment, Unix time in ms. A call that was asked about before a pause has waited
   * since then: the pause is no part of this.
   * @param end what comes later is no part of this either.
   */
  ms(row: number, start: number, end = Number.POSITIVE_INFINITY): number {
    const open = this.#open.get(row);
    if (open === undefined) return 0;
    const waited = new WaitedTime();
    for (const { from, to } of open.byCall.values()) {
      waited.add(Math.max(from, start), Math.min(to, end));
    }
    // Times since 1970 in ms have digits for no more than a microsecond.
    return Math.round((open.older + waited.ms) * 1000) / 1000;
  }

  /**
   * The run, or its segment, has ended. Calls of the next segment may have come before: their waits stay.
   *
   * @returns how long it had waited from a start to an end, as {@link ms} counts, in ms.
   */
  end(row: number, start: number, end: number, trees: RunTrees): number {
    const ms = this.ms(row, start, end);
    const open = this.#open.get(row);
    this.#open.delete(row);
    if (open === undefined) return ms;
    const later = [...open.byCall].filter(([, { to }]) => to > end);
    if (later.length > 0) this.#open.set(row, { older: 0, byCall: new Map(later) });
    const parent = trees.parentOf(row);
    if (parent === undefined) return ms;
    const waits = [...open.byCall.values()].filter(({ from }) => from < end);
    // Its calls may have the ids of its parent's.
    this.add(
      parent,
      waits.map(({ callId, from, to }) => {
        return { callId: `${row} ${callId}`, from, to: Math.min(to, end) };
      }),
    );
    return ms;
  }
}
