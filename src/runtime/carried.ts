import type { AgentEventSink } from "../sinks/agent-event-sink.ts";
import { type InsidePlace, isContextCarrier } from "../sinks/context-carrier.ts";
import { isPromise } from "../sinks/is-promise.ts";
import { type CurrentRun, withCurrentRun } from "./current-run.ts";

/** What `work` returned or threw, once it was called. */
type Came<T> = { readonly value: T } | { readonly thrown: unknown };

/**
 * Calls `work` as code of a run, or of a call of it: in the span's context where the sink has one,
 * with {@link CurrentRun} set. `work` is called once, now, and what comes of it is what comes of this,
 * whatever the sink does: a context is a courtesy, and no run may lose its end by it.
 */
export function carried<T>(
  sink: AgentEventSink,
  place: Omit<InsidePlace, "tenant_id" | "run_id">,
  run: CurrentRun,
  work: () => T,
): T {
  if (!isContextCarrier(sink)) return withCurrentRun(run, work);
  let came: Came<T> | undefined;
  const once = (): T => {
    came ??= attempt(run, work);
    if ("thrown" in came) throw came.thrown;
    return came.value;
  };
  try {
    const given: unknown = sink.inside(
      { tenant_id: run.tenantId, run_id: run.runId, ...place },
      once,
    );
    if (came !== undefined && "value" in came && given === came.value) return came.value;
    // A promise of the sink's own, which nobody waits for, must not end the process.
    if (isPromise(given)) given.then(undefined, () => {});
  } catch {
    // What `work` threw is thrown below; what the sink threw is its own trouble.
  }
  return once();
}

function attempt<T>(run: CurrentRun, work: () => T): Came<T> {
  try {
    return { value: withCurrentRun(run, work) };
  } catch (thrown) {
    return { thrown };
  }
}
