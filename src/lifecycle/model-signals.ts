import type { Instant } from "../events/instant.ts";
import { before } from "./before.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { ModelEnd, ModelOpening } from "./signals.ts";

// The rules of model calls that have ids, unique within their run. An empty id is none: of such calls
// at most one is open.

/** @returns false when the call is known already, or its run is over. */
export function startModelCall<H>(
  lifecycle: Lifecycle<H>,
  tenantId: string,
  runId: string,
  at: Instant,
  id: string,
  opening: ModelOpening,
): boolean {
  const run = lifecycle.openRunOf(tenantId, runId, at);
  if (run === undefined) return false;
  lifecycle.runs.touch(run, at);
  if (!run.followsCalls) return true;
  if (id === "") {
    lifecycle.runs.models.open(run, at, opening);
    return true;
  }
  const calls = run.modelCallsById;
  if (calls !== undefined && (calls.get(id) !== undefined || calls.hasEnded(id))) {
    lifecycle.counters.ignored.duplicate++;
    return false;
  }
  lifecycle.runs.models.openOne(run, at, id, opening);
  return true;
}

/**
 * @param durationMs as the source measured it, in ms: places the start of a call that was not seen to
 *   start.
 * @returns false when the call has ended before, or its run is over.
 */
export function endModelCall<H>(
  lifecycle: Lifecycle<H>,
  tenantId: string,
  runId: string,
  at: Instant,
  id: string,
  durationMs: number,
  end: ModelEnd,
): boolean {
  const from = before(at, durationMs);
  const run = lifecycle.openRunOf(tenantId, runId, from);
  if (run === undefined) return false;
  lifecycle.runs.touch(run, at);
  if (!run.followsCalls) return true;
  const { models } = lifecycle.runs;
  if (id === "") {
    if (!models.close(run, at, end)) models.whole(run, from, at, id, end);
    return true;
  }
  const call = run.modelCallsById?.get(id);
  if (call !== undefined) models.closeOne(run, call, at, end);
  else if (run.modelCallsById?.hasEnded(id) !== true) models.whole(run, from, at, id, end);
  else {
    lifecycle.counters.ignored.duplicate++;
    return false;
  }
  return true;
}
