import { AgentError } from "../errors/agent-error.ts";
import type { UsageLimitBreach } from "../errors/agent-error-detail.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import type { CurrentRun } from "./current-run.ts";
import type { Interruption } from "./interruption.ts";
import { OpenCall } from "./open-call.ts";
import type { RunPolicy } from "./run-policy.ts";

/** A run as its calls see it. */
export interface RunCore {
  /** As events name it. */
  readonly ids: { readonly run_id: string; readonly tenant_id: string };
  /** As the code that runs in it finds it. */
  readonly place: CurrentRun;
  readonly policy: RunPolicy;
  /** Sends an event that the run goes on without; resolves when the sink has taken or refused it. */
  tell(event: AgentEvent): void | Promise<void>;
  /** @throws RunEndedError after the run's end, the interruption while it pauses. */
  assertOpen(what: string): void;
  /** A UUID for a call that nobody named. */
  newId(): string;
  /** The call ends with the run, at the latest. */
  track(call: OpenCall): void;
  untrack(call: OpenCall): void;
  /** The run fails now, whatever its function does; one that pauses has paused now. */
  fail(error: AgentError): void;
  /** The run pauses as soon as the calls that are open have ended, whatever its function does. */
  pause(interruption: Interruption): void;
}

/**
 * A promise of what `perform` does with a call, which the run may cut off. A caller that forgot to
 * await it is no reason to end the process: how the call ended is told by its events.
 */
export function tracked<T>(run: RunCore, perform: (call: OpenCall) => Promise<T>): Promise<T> {
  const result = new Promise<T>((resolve, reject) => {
    const call = new OpenCall(reject);
    perform(call)
      .finally(() => run.untrack(call))
      .then(resolve, reject);
  });
  result.catch(() => {});
  return result;
}

/** @throws the error that the run fails with, where a limit is passed. */
export function refuseAt(run: RunCore, call: OpenCall, breach: UsageLimitBreach | undefined): void {
  if (breach === undefined) return;
  const error = AgentError.usageLimitExceeded(breach);
  // Before the run's end would cut it off, and call it cancelled.
  call.reject(error);
  run.fail(error);
  throw error;
}
