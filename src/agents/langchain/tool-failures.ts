import { AgentError, type FailureSource, now } from "../../events/door.ts";
import { PAUSED } from "../core/door.ts";
import { eventOf } from "./event-ids.ts";
import type { HeldFailures } from "./held-failures.ts";
import { callFailureOf, signalOf } from "./langchain-errors.ts";
import { thrownPause } from "./pauses.ts";
import type { ToolScope } from "./scope.ts";

/** The tool threw an error, a pause or a handover. */
export function toolThrew(held: HeldFailures, call: ToolScope, thrown: unknown): void {
  const { id, run, tool } = call;
  const on = eventOf(id, "call-end");
  if (thrownPause(run, thrown) !== undefined) {
    const source = { origin: "tool", tool } as const;
    run.writer.toolFailed(call, { thrown: PAUSED, source }, undefined, on);
  } else if (signalOf(thrown) === "handover") run.writer.toolCompleted(call, null, on);
  else {
    run.lastError = thrown;
    run.stops.callFailed(thrown, call.signal);
    const stop = run.stops.errorFor(thrown);
    if (stop !== undefined) {
      run.writer.toolCut(call, stop, on);
      return;
    }
    toolFailed(held, call, thrown, run.writer.sourceOf(thrown, call));
  }
}

/**
 * Sends the event of a failed tool call, once the text that the model receives is known.
 *
 * @param source the innermost call that threw the error.
 */
function toolFailed(
  held: HeldFailures,
  call: ToolScope,
  thrown: unknown,
  source: FailureSource,
): void {
  const failure = callFailureOf(thrown, source);
  const { chainId, id, run, startedMs, toolUseId } = call;
  const { writer } = run;
  const on = eventOf(id, "call-end");
  if (chainId === undefined) {
    writer.toolFailed(call, failure, undefined, on);
    return;
  }
  const ended = { ...call, durationMs: performance.now() - startedMs };
  const late = { ...on, at: now(), isLate: true };
  held.hold(run, { toolUseId, chainId, thrown }, (text) => {
    if (text === "cut") writer.toolCut(ended, AgentError.deadlineExceeded({ cause: thrown }), late);
    else if (text === "own") writer.toolFailed(ended, failure, undefined, late);
    else writer.toolFailed(ended, failure, text === "unknown" ? null : text, late);
  });
}
