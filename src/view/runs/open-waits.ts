import { isBefore, WaitedTime } from "../../bridge/door.ts";
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

/** A segment of a run: Unix times in ms. */
export interface Segment {
  readonly start: number;
  /** Default: it is open. */
  readonly end?: number;
  /** How it began: after a pause of the run (`continued`), after the run was given up (`revived`), else `anew`. */
  readonly begin: "anew" | "continued" | "revived";
}

/** How long people took, in ms. */
export interface Waited {
  /** Within the segment. */
  readonly ms: number;
  /** Before it, if it resumes another run. */
  readonly beforeMs: number;
}

/** A wait that began before the segment ended with its start: the run resumed when the person had decided. */
function placedIn({ begin, start }: Segment, wait: Wait): Wait {
  if (begin === "revived" || !isBefore(wait.from, start)) return wait;
  return { ...wait, from: start - (wait.to - wait.from), to: start };
}

/** How long the present segment of a run has waited. */
export function openWaits({ waits }: IndexedRun, segment: Segment): Waited {
  if (waits === undefined) return { ms: 0, beforeMs: 0 };
  const { begin, end = Number.POSITIVE_INFINITY, start } = segment;
  const waited = new WaitedTime();
  let beforeMs = 0;
  for (const wait of waits.byCall.values()) {
    const { from, to } = placedIn(segment, wait);
    // A pause of the same run is counted already.
    if (to <= start && begin === "anew") beforeMs = Math.max(beforeMs, to - from);
    waited.add(Math.max(from, start), Math.min(to, end));
  }
  return { ms: rounded(waits.olderMs + waited.ms), beforeMs: rounded(beforeMs) };
}

/** A double holds Unix times in ms to the microsecond only. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/**
 * A segment of the run has ended. Waits that end later stay: they belong to the next segment.
 *
 * @returns how long it had waited.
 */
export function endWaits(run: IndexedRun, segment: Segment & { readonly end: number }): Waited {
  const waited = openWaits(run, segment);
  const { end } = segment;
  const { key, parent, waits } = run;
  if (waits === undefined) return waited;
  const later = [...waits.byCall].filter(([, { to }]) => to > end);
  run.waits = later.length > 0 ? { olderMs: 0, byCall: new Map(later) } : undefined;
  if (parent === undefined) return waited;
  const before = [...waits.byCall.values()].filter(({ from }) => from < end);
  // Calls of child and parent can have the same IDs.
  addWaits(
    parent,
    before.map((wait) => {
      const { callId, from, to } = placedIn(segment, wait);
      return { callId: `${key} ${callId}`, from, to: Math.min(to, end) };
    }),
  );
  return waited;
}
