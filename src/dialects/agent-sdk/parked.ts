import type { TurnComplete } from "./events.ts";
import type { OpenRun } from "./open-run.ts";
import type { Totals } from "./run-totals.ts";

/**
 * Whether a turn that is over is told to be so once more, with the sums of the run: an agent that waits
 * for further prompts (`run_persistent`) says that in place of `done`, and nothing when none come.
 */
export function isParked(event: TurnComplete, run: OpenRun): boolean {
  const again = run.model === undefined && event.turn === run.lastTurn;
  return again && run.mayEnd === undefined && run.totals.sumUp(sums(event));
}

/** What the run or its thread had come to with the event. */
export function sums({ usage, turn: turns }: TurnComplete): Totals {
  return { usage, turns };
}
