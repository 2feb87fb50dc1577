import { AsyncLocalStorage } from "node:async_hooks";
import type { AgentError } from "../errors/agent-error.ts";
import { processWide } from "../process-wide.ts";
import type { AgentEventSink } from "../sinks/agent-event-sink.ts";

/** The run and tool call to which the running code belongs. */
export interface CurrentRun {
  readonly tenantId: string;
  readonly runId: string;
  /** The run at the top of its tree. */
  readonly rootRunId: string;
  readonly threadId?: string | undefined;
  /** The tool call in which the code runs. */
  readonly toolUseId?: string | undefined;
}

/** The same, with fields for adapters and contexts. */
export interface RunScope extends CurrentRun {
  /** Name of the tool of the call {@link toolUseId}, if its adapter reports it. */
  readonly tool?: string | undefined;
  /** The key of that call, if it has one. */
  readonly callKey?: string | undefined;
  /** The sink of the run's events. */
  readonly sink: AgentEventSink;
  /** The step in which the code runs. */
  readonly stepId?: string | undefined;
  /**
   * Calls `cut` when the run ends while an adapter's call in it is open. The returned function cancels this. Only
   * runs of `entelix-otel/runtime` have it, because every other run ends after its calls.
   */
  readonly whileOpen?: ((cut: (error: AgentError) => void) => () => void) | undefined;
  /** Whether the run has ended, although its code goes on. Only runs of `entelix-otel/runtime` have it. */
  readonly hasEnded?: (() => boolean) | undefined;
}

/** The storage of the running code's scope, also of other versions of this package. Agents may store more in it than {@link RunScope}. */
export function runStorage<R extends RunScope>(): AsyncLocalStorage<R> {
  const isStorage = (value: unknown): value is AsyncLocalStorage<R> =>
    value instanceof AsyncLocalStorage;
  return processWide("current-run.v1", isStorage, () => new AsyncLocalStorage<R>());
}

const running = runStorage<RunScope>();

/** The run to which the calling code belongs, or `undefined` outside a run. */
export function currentRun(): CurrentRun | undefined {
  const run = running.getStore();
  if (run === undefined) return undefined;
  const { tenantId, runId, rootRunId, threadId, toolUseId } = run;
  return { tenantId, runId, rootRunId, threadId, toolUseId };
}

/** The same, with its sink. Only for this package. */
export function currentScope(): RunScope | undefined {
  return running.getStore();
}
