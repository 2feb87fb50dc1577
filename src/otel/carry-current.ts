import { context } from "@opentelemetry/api";
import type { CarriedContext } from "../context/carried-context.ts";
import { isContextSource } from "../context/context-source.ts";
import { type CurrentRun, currentRun } from "../runtime/current-run.ts";
import { callOf, carriedOf } from "./carry.ts";
import { placeIn } from "./event-place.ts";

/**
 * What a child agent elsewhere has to know of the run, and of the tool call, that the calling code
 * belongs to: in a tool of `entelix-otel/runtime`, in code that an adapter knows to be a run's, and in
 * what `bridge.inside(…)` runs.
 *
 * Where no sink knows the run's span, the ids alone are carried: they say where the child belongs, too.
 *
 * @returns `undefined` outside any run. It never throws.
 *
 * @example
 * spawn("expert", { env: { ...process.env, ...toEnvironment(carryCurrent()) } });
 */
export function carryCurrent(): CarriedContext | undefined {
  const run = currentRun();
  const place = placeIn(context.active());
  if (place !== undefined && isInnermost(place.run, run)) {
    const own = run?.runId === place.run.runId ? run : undefined;
    const { call } = place;
    // The call itself, since others may have its id.
    const known =
      call === undefined
        ? carriedOf(place.run, callOf(place.run, own?.toolUseId), own?.toolUseId)
        : carriedOf(place.run, call, call.id);
    return own === undefined ? known : { ...idsOf(own), ...known };
  }
  return run === undefined ? undefined : { ...idsOf(run), ...asked(run) };
}

interface Placed {
  readonly tenantId: string;
  readonly runId: string;
  readonly parentRunId: string | undefined;
}

/** Whether the active span belongs to the current run, or to one below it that was told by hand. */
function isInnermost(placed: Placed, run: CurrentRun | undefined): boolean {
  if (run === undefined) return true;
  if (placed.tenantId !== run.tenantId) return false;
  return placed.runId === run.runId || placed.parentRunId === run.runId;
}

/** What is known of a run without its span. */
function idsOf(run: CurrentRun): CarriedContext {
  return {
    root_run_id: run.rootRunId,
    parent_run_id: run.runId,
    ...(run.toolUseId === undefined ? {} : { parent_tool_use_id: run.toolUseId }),
    ...(run.threadId === undefined ? {} : { thread_id: run.threadId }),
  };
}

/** A sink of somebody else's may throw, and an agent must not fail by it. */
function asked({ sink, tenantId, runId, toolUseId }: CurrentRun): CarriedContext | undefined {
  try {
    return isContextSource(sink) ? sink.carry(tenantId, runId, toolUseId) : undefined;
  } catch {
    return undefined;
  }
}
