import {
  type AgentEventSink,
  isPromise,
  isSpanActivator,
  type RunScope,
  runStorage,
  type SpanTarget,
} from "../../events/door.ts";
import type { RunPolicy } from "./run-policy.ts";
import type { SubjectFields } from "./run-subject.ts";

/** The run of the running code, with what code that it starts inherits. */
export interface ActiveRun extends RunScope {
  /** Whose run it is. */
  readonly subject?: SubjectFields | undefined;
  /**
   * State that is shared with runs started inside this one. Only runs of `entelix-otel/runtime`
   * have it.
   */
  readonly policy?: RunPolicy | undefined;
}

const running = runStorage<ActiveRun>();

/** The run to which the calling code belongs, with its sink and its policy: for this package alone. */
export function activeRun(): ActiveRun | undefined {
  return running.getStore();
}

/** The run, with the call or step of it that the calling code is in, if it is in one. */
export function currentIn(run: ActiveRun): ActiveRun {
  const here = running.getStore();
  return here?.runId === run.runId && here.tenantId === run.tenantId ? here : run;
}

/** Calls `work` as code of that run: what it starts, and awaits, belongs to the run too. */
export function withCurrentRun<T>(run: ActiveRun, work: () => T): T {
  return running.run(run, work);
}

/** What `work` returned or threw, once it was called. */
type Came<T> = { readonly value: T } | { readonly thrown: unknown };

/**
 * Calls `work` as code of a run, or of a call of it: in the span's context where the sink has one,
 * with {@link ActiveRun} set. `work` is called once, now, and what comes of it is what comes of this,
 * whatever the sink does: a context is a courtesy, and no run may lose its end by it.
 */
export function carried<T>(
  sink: AgentEventSink,
  place: Omit<SpanTarget, "tenant_id" | "run_id">,
  run: ActiveRun,
  work: () => T,
): T {
  if (!isSpanActivator(sink)) return withCurrentRun(run, work);
  let came: Came<T> | undefined;
  const once = (): T => {
    came ??= attempt(run, work);
    if ("thrown" in came) throw came.thrown;
    return came.value;
  };
  try {
    const given: unknown = sink.withSpan(
      { tenant_id: run.tenantId, run_id: run.runId, ...place },
      once,
    );
    if (came !== undefined && "value" in came && given === came.value) return came.value;
    // A promise of the sink's own is not awaited: its rejection must not end the process.
    if (isPromise(given)) given.then(undefined, () => {});
  } catch {
    // What `work` threw is thrown below; what the sink threw is its own trouble.
  }
  return once();
}

function attempt<T>(run: ActiveRun, work: () => T): Came<T> {
  try {
    return { value: withCurrentRun(run, work) };
  } catch (thrown) {
    return { thrown };
  }
}
