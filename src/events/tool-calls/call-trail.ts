import type { Instant } from "../instant.ts";
import type { LoopLimits } from "./loop-limits.ts";
import { type Loop, LoopWatch, type ToolCallName } from "./loop-watch.ts";
import { endOf, failedTools, type ToolEnd, withToolEnd } from "./tool-ends.ts";
import { digestOf, UNKNOWN } from "./value-digest.ts";

/** Data about a run's tool calls. Most runs only keep how the last ones ended. */
export type CallTrail = ToolEnd | LoopWatch | undefined;

/** Number of a run's tool calls, by outcome. */
export interface CallCounts {
  readonly toolCalls: number;
  readonly toolErrors: number;
  readonly approvedCalls: number;
  readonly deniedCalls: number;
}

/** The open calls of a run, oldest first. */
export interface OpenToolCalls {
  readonly oldest: OpenToolCall | undefined;
}

interface OpenToolCall extends ToolCallName {
  readonly next: OpenToolCall | undefined;
}

/** The end of a call that ran. */
export interface RanCall {
  readonly at: Instant;
  readonly failed: boolean;
  /** Its result, or the text of its error. */
  readonly result: unknown;
}

/** Most open calls that are checked to count those of a tool. */
const MOST_LOOKED_AT = 16;
const FAILED = 0x5bd1_e995;

/**
 * A call starts.
 *
 * @param open the other open calls.
 * @param limits `undefined`: loops are not detected.
 */
export function callStarted(
  trail: CallTrail,
  call: ToolCallName,
  input: unknown,
  open: OpenToolCalls,
  limits: LoopLimits | undefined,
): CallTrail {
  if (limits === undefined || (trail === undefined && open.oldest?.next === undefined))
    return trail;
  const isThird = callsBefore(endsOf(trail), call.name, open) >= 2;
  if (!isThird && !(trail instanceof LoopWatch)) return trail;
  const what = isThird ? digestOf(digestOf(0, call.name), input) : UNKNOWN;
  if (trail instanceof LoopWatch) {
    trail.started(call, what, limits);
    return trail;
  }
  if (what === UNKNOWN) return trail;
  const watch = new LoopWatch(trail);
  watch.started(call, what, limits);
  return watch;
}

/** A call ran to its end. */
export function callEnded(
  trail: CallTrail,
  call: ToolCallName,
  { at, failed, result }: RanCall,
  limits: LoopLimits | undefined,
): CallTrail {
  if (!(trail instanceof LoopWatch)) return withToolEnd(trail, call.name, at, failed);
  trail.ends = withToolEnd(trail.ends, call.name, at, failed);
  if (limits === undefined) return trail;
  const what = trail.whatOf(call);
  const seen = what === UNKNOWN ? UNKNOWN : digestOf(failed ? what ^ FAILED : what, result);
  trail.ended(call, seen, limits);
  return trail;
}

/** A call was denied, cancelled or interrupted, or its end is unknown. It does not count. */
export function callDropped(
  trail: CallTrail,
  call: ToolCallName,
  limits: LoopLimits | undefined,
): void {
  if (trail instanceof LoopWatch && limits !== undefined) trail.dropped(call, limits);
}

/** The part of the trail that is kept after the run. */
export function closedTrail(trail: CallTrail, outcome: string): CallTrail {
  if (outcome === "complete") return trail;
  if (loopOf(trail) === undefined || !(trail instanceof LoopWatch)) return undefined;
  trail.ends = undefined;
  return trail;
}

/** The loop that was found. */
export function loopOf(trail: CallTrail): Loop | undefined {
  return trail instanceof LoopWatch ? trail.loop : undefined;
}

/** The outcome of a run in its segment. */
interface EndedRun {
  readonly outcome: string | undefined;
  readonly callTrail?: CallTrail;
}

/**
 * The tools whose last own call in the segment failed, if the run completed. It depends on this segment only, because
 * another process may not know earlier ones and must give the same result.
 */
export function degradedTools({ callTrail, outcome }: EndedRun): readonly string[] {
  return failedTools(outcome === "complete" ? endsOf(callTrail) : undefined);
}

function endsOf(trail: CallTrail): ToolEnd | undefined {
  return trail instanceof LoopWatch ? trail.ends : trail;
}

/** Ended calls of the tool, at most two, and its open calls. */
function callsBefore(ends: ToolEnd | undefined, tool: string, open: OpenToolCalls): number {
  let count: number = endOf(ends, tool)?.count ?? 0;
  let call = open.oldest;
  for (let looked = 0; count < 2 && call !== undefined && looked < MOST_LOOKED_AT; looked++) {
    if (call.name === tool) count++;
    call = call.next;
  }
  return count;
}
