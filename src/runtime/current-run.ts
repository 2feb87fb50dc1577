import { AsyncLocalStorage } from "node:async_hooks";
import type { AgentEventSink } from "../sinks/agent-event-sink.ts";
import type { RunPolicy } from "./run-policy.ts";

/** The run, and the tool call of it, that the running code belongs to. */
export interface CurrentRun {
  readonly tenantId: string;
  readonly runId: string;
  /** The run at the top of its tree. */
  readonly rootRunId: string;
  readonly threadId?: string | undefined;
  /** The tool call that the code runs in. */
  readonly toolUseId?: string | undefined;
  /** Where the run's events go. */
  readonly sink: AgentEventSink;
  /** What runs started inside this one share with it; only runs of `entelix-otel/runtime` have it. */
  readonly policy?: RunPolicy | undefined;
}

/** One for the process, however often this package is loaded: as CommonJS and ESM, or in two versions. */
const KEY = Symbol.for("entelix-otel.current-run.v1");

function storage(): AsyncLocalStorage<CurrentRun> {
  const known: unknown = Reflect.get(globalThis, KEY);
  if (known instanceof AsyncLocalStorage) return known;
  const made = new AsyncLocalStorage<CurrentRun>();
  Reflect.set(globalThis, KEY, made);
  return made;
}

const running = storage();

/** The run that the calling code belongs to; `undefined` outside any. */
export function currentRun(): CurrentRun | undefined {
  return running.getStore();
}

/** Calls `work` as code of that run: what it starts, and awaits, belongs to the run too. */
export function withCurrentRun<T>(run: CurrentRun, work: () => T): T {
  return running.run(run, work);
}
