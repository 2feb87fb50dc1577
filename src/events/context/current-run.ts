import { AsyncLocalStorage } from "node:async_hooks";
import type { AgentError } from "../errors/agent-error.ts";
import type { AgentEventSink } from "../sinks/agent-event-sink.ts";

/** The run and tool call to which the running code belongs. */
export interface CurrentRun {
  readonly tenantId: string;
  readonly runId: string;
  /** The run at the top of its tree. */
  readonly rootRunId: string;
  readonly threadId?: string | undefined;
  /** The tool call that the code runs in. */
  readonly toolUseId?: string | undefined;
}

/** The same, with what adapters and contexts need of it. */
export interface RunScope extends CurrentRun {
  /** Name of the tool that is called, where {@link toolUseId} names a call and its adapter says it. */
  readonly tool?: string | undefined;
  /** Where the run's events go. */
  readonly sink: AgentEventSink;
  /** The step that the code runs in. */
  readonly stepId?: string | undefined;
  /**
   * Calls `cut` when the run ends while an adapter's call in it is open, unless what this returns was called before.
   * Runs of `entelix-otel/runtime` have it; every other run ends after its calls.
   */
  readonly whileOpen?: ((cut: (error: AgentError) => void) => () => void) | undefined;
}

/** One for the process, however often this package is loaded: as CommonJS and ESM, or in two versions. */
const KEY = Symbol.for("entelix-otel.current-run.v1");

/** The scope of the running code. Agents keep more in it than the bridge asks for. */
export function runStorage<R extends RunScope>(): AsyncLocalStorage<R> {
  const known: unknown = Reflect.get(globalThis, KEY);
  if (known instanceof AsyncLocalStorage) return known;
  const made = new AsyncLocalStorage<R>();
  Reflect.set(globalThis, KEY, made);
  return made;
}

const running = runStorage<RunScope>();

/** The run to which the calling code belongs, or `undefined` outside a run. */
export function currentRun(): CurrentRun | undefined {
  const run = running.getStore();
  if (run === undefined) return undefined;
  const { tenantId, runId, rootRunId, threadId, toolUseId } = run;
  return { tenantId, runId, rootRunId, threadId, toolUseId };
}

/** The same, with its sink: for this package alone. */
export function currentScope(): RunScope | undefined {
  return running.getStore();
}
