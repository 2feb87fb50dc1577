import {
  type AgentEventSink,
  isPromise,
  isSpanActivator,
  type RunScope,
  runStorage,
  type SpanTarget,
} from "../../events/door.ts";
import type { ModelCall, SubjectFields, ToolCall } from "../writer/door.ts";
import type { RunPolicy } from "./run-policy.ts";

/** The run of the running code, with the state that runs inside it inherit. */
export interface ActiveRun extends RunScope {
  readonly subject?: SubjectFields | undefined;
  /** State that is shared with runs started inside this one. Only runs of `entelix-otel/runtime` have it. */
  readonly policy?: RunPolicy | undefined;
}

const running = runStorage<ActiveRun>();

/** The run of the calling code. Not exported to users. */
export function activeRun(): ActiveRun | undefined {
  return running.getStore();
}

/** The run, with the current call or step if the calling code is in one of this run. */
export function currentIn(run: ActiveRun): ActiveRun {
  const here = running.getStore();
  return here?.runId === run.runId && here.tenantId === run.tenantId ? here : run;
}

/** Calls `work` as code of that run, including everything that it starts and awaits. */
export function withCurrentRun<T>(run: ActiveRun, work: () => T): T {
  return running.run(run, work);
}

/** The result of a function that was called. */
type Outcome<T> = { readonly value: T } | { readonly thrown: unknown };

/**
 * Calls `work` as code of a run or its call: with {@link ActiveRun} set, and in the span's context if the sink has
 * spans. `work` is called exactly once, synchronously. Its outcome is returned or thrown, even if the sink fails.
 */
export function carried<T>(
  sink: AgentEventSink,
  target: Omit<SpanTarget, "tenant_id" | "run_id">,
  run: ActiveRun,
  work: () => T,
): T {
  if (!isSpanActivator(sink)) return withCurrentRun(run, work);
  let outcome: Outcome<T> | undefined;
  const once = (): T => {
    outcome ??= attempt(run, work);
    if ("thrown" in outcome) throw outcome.thrown;
    return outcome.value;
  };
  try {
    const given: unknown = sink.withSpan(
      { tenant_id: run.tenantId, run_id: run.runId, ...target },
      once,
    );
    if (outcome !== undefined && "value" in outcome && given === outcome.value)
      return outcome.value;
    // A rejection of the sink's own promise must not end the process.
    if (isPromise(given)) given.then(undefined, () => {});
  } catch {
    // An error of `work` is thrown below. An error of the sink is ignored.
  }
  return once();
}

/** Calls `work` inside the span of a tool call of the run, as code of that call. */
export function inToolCall<T>(
  run: ActiveRun,
  { key, tool, toolUseId }: Pick<ToolCall, "key" | "tool" | "toolUseId">,
  work: () => T,
): T {
  const target = { tool_use_id: key ?? toolUseId };
  return carried(run.sink, target, { ...run, toolUseId, callKey: key, tool }, work);
}

/**
 * Calls `work` inside the span of a model call of the run. A model call inside a tool belongs to the tool, and so do
 * runs that it starts.
 */
export function inModelCall<T>(
  run: ActiveRun,
  { modelCallId }: Pick<ModelCall, "modelCallId">,
  work: () => T,
): T {
  return carried(run.sink, { model_call_id: modelCallId }, currentIn(run), work);
}

function attempt<T>(run: ActiveRun, work: () => T): Outcome<T> {
  try {
    return { value: withCurrentRun(run, work) };
  } catch (thrown) {
    return { thrown };
  }
}
