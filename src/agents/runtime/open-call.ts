import {
  AgentError,
  type AgentEvent,
  type EventDetails,
  sourceMoment,
  type UsageLimitBreach,
} from "../../events/door.ts";
import type { ActiveRun } from "./active-run.ts";
import { LazySignal } from "./calling-off.ts";
import type { Interruption } from "./run-errors.ts";
import type { RunPolicy } from "./run-policy.ts";
import type { ToolLoops } from "./tool-loops.ts";

/** A run as its calls see it. */
export interface RunCore {
  /** As events name it. */
  readonly ids: { readonly run_id: string; readonly tenant_id: string };
  /** As the code that runs in it finds it. */
  readonly current: ActiveRun;
  readonly policy: RunPolicy;
  /**
   * Sends an event that the run goes on without; resolves when the sink has taken or refused it.
   *
   * @param details what the event's own fields do not say.
   */
  send(event: AgentEvent, details?: EventDetails): void | Promise<void>;
  /** @throws RunEndedError after the run's end, the interruption while it pauses. */
  assertOpen(what: string): void;
  /** Where loops of tool calls end the run. */
  readonly loops: ToolLoops | undefined;
  /** A UUID for a call without an id. */
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
 * await it is no reason to end the process: the events of the call say how it ended.
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

/** Sends the event of a call that was cut off. */
export type SendCut = (error: AgentError, durationMs: number) => void;

/**
 * A tool or model call, or a step, that somebody waits for, from when it was asked for until its caller has the
 * answer. The run may cut it off at any moment: then its caller gets the error at once, though what it
 * called may go on for ever, and nothing that this does later is sent.
 */
export class OpenCall {
  readonly #signal = new LazySignal();
  readonly #reject: (error: unknown) => void;
  /** When it was asked for, among what errors come out of. */
  readonly since = sourceMoment();
  #state: "asked" | "open" | "ended" = "asked";
  #begunAt = 0;
  #sendCut: SendCut | undefined;
  #cutBy: AgentError | undefined;

  /** @param reject of the promise that the caller waits for. */
  constructor(reject: (error: unknown) => void) {
    this.#reject = reject;
  }

  /** Fires when the run cuts the call off. */
  get signal(): AbortSignal {
    return this.#signal.signal;
  }

  /** It waits for a decision, and no event of it is a start. */
  get isAsked(): boolean {
    return this.#state === "asked";
  }

  get isCut(): boolean {
    return this.#cutBy !== undefined;
  }

  /** @throws the error that its caller got when it was cut off. */
  assertNotCut(): void {
    if (this.#cutBy !== undefined) throw this.#cutBy;
  }

  /** Its start is sent now: from here on, a cut is sent too. */
  begin(sendCut: SendCut): void {
    this.#state = "open";
    this.#sendCut = sendCut;
    this.#begunAt = performance.now();
  }

  /** What it called begins now; the time before was the sink's. */
  restart(): void {
    this.#begunAt = performance.now();
  }

  /** Whole milliseconds since it began. */
  elapsedMs(): number {
    return Math.trunc(performance.now() - this.#begunAt);
  }

  /** It ended by itself; the caller of this sends how. Not when it {@link isCut}. */
  end(): number {
    this.#state = "ended";
    return this.elapsedMs();
  }

  /** Answers the caller, whatever happens later. */
  reject(error: unknown): void {
    this.#reject(error);
  }

  /** The run ends, or pauses, first. */
  cut(error: AgentError): void {
    if (this.isCut) return;
    this.#cutBy = error;
    const open = this.#state === "open";
    this.#state = "ended";
    // What runs inside it and listens ends before it does.
    this.#signal.abort(error);
    if (open) this.#sendCut?.(error, this.elapsedMs());
    this.#reject(error);
  }
}

/**
 * Checks what names a call. The events say it as it is, and no reader of them takes anything but text.
 *
 * @param of the method, for the error.
 * @throws TypeError for a name that is empty, and for anything else that is there and no text.
 */
export function checkCallTexts(
  of: "tool" | "model" | "step",
  name: unknown,
  texts: { readonly [field: string]: unknown },
): void {
  if (typeof name !== "string" || name === "") {
    throw new TypeError(`${of}: expected a name that is not empty, got ${typeof name}`);
  }
  for (const field in texts) {
    const value = texts[field];
    if (value === undefined || value === null || typeof value === "string") continue;
    throw new TypeError(`${of} ${name}: expected ${field} to be a text, got ${typeof value}`);
  }
}
