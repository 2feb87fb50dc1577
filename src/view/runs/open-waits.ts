import { WaitedTime } from "../../bridge/door.ts";
import type { IndexedRun } from "./indexed-run.ts";
import type { Wait } from "./run-facts.ts";

/** Waits of a run that are held until its end, so that overlaps count once. Older ones count in a sum. */
const MOST = 256;

// Waits for people of runs that have not ended. The end of a run turns them into one number, and its parent gets them:
// a run waits while its child run waits.

export function addWaits(run: IndexedRun, waits: readonly Wait[]): void {
  if (waits.length === 0) return;
  run.waits ??= { olderMs: 0, byCall: new Map<string, Wait>() };
  const { byCall } = run.waits;
  for (const [at, wait] of waits.entries()) {
    // The span of the run comes after that of the call, and is more exact.
    byCall.set(wait.callId === "" ? `${at} ${wait.to}` : wait.callId, wait);
    const [oldest] = byCall;
    if (byCall.size <= MOST || oldest === undefined) continue;
    byCall.delete(oldest[0]);
    run.waits.olderMs += oldest[1].to - oldest[1].from;
  }
}

/**
 * Takes the decision about a call. If the call began before it, the wait ended at the decision, not at the start of the
 * call.
 */
export function addDecision({ waits }: IndexedRun, callId: string, at: number): void {
  const wait = waits?.byCall.get(callId);
  if (wait !== undefined && wait.to < at) {
    waits?.byCall.set(callId, { callId, from: wait.from + at - wait.to, to: at });
  }
}

/**
 * How long an open run has waited so far, in ms.
 *
 * @param start of the run, or of its segment, Unix time in ms. The wait for a decision that was asked for before a
 *   pause includes the pause. The time before `start` does not count.
 * @param end the time after it does not count.
 */
export function openWaitMs(
  { waits }: IndexedRun,
  start: number,
  end = Number.POSITIVE_INFINITY,
): number {
  if (waits === undefined) return 0;
  const waited = new WaitedTime();
  for (const { from, to } of waits.byCall.values()) {
    waited.add(Math.max(from, start), Math.min(to, end));
  }
  // A double holds Unix times in ms to the microsecond only.
  return Math.round((waits.olderMs + waited.ms) * 1000) / 1000;
}

/**
 * The run, or its segment, has ended. Waits that end later stay: they belong to the next segment.
 *
 * @returns how long it had waited from start to end, as {@link openWaitMs} counts.
 */
export function endWaits(run: IndexedRun, start: number, end: number): number {
  const ms = openWaitMs(run, start, end);
  const { key, parent, waits } = run;
  if (waits === undefined) return ms;
  const later = [...waits.byCall].filter(([, { to }]) => to > end);
  run.waits = later.length > 0 ? { olderMs: 0, byCall: new Map(later) } : undefined;
  if (parent === undefined) return ms;
  const before = [...waits.byCall.values()].filter(({ from }) => from < end);
  // Calls of child and parent can have the same IDs.
  addWaits(
    parent,
    before.map(({ callId, from, to }) => {
      return { callId: `${key} ${callId}`, from, to: Math.min(to, end) };
    }),
  );
  return ms;
}
