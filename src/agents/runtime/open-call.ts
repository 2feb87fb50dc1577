import { AgentError, sourceMoment, type UsageLimitBreach } from "../../events/door.ts";
import type { RunWriter, Timed } from "../writer/door.ts";
import { LazySignal } from "./aborts.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Interruption } from "./run-errors.ts";
import type { RunPolicy } from "./run-policy.ts";
import type { ToolLoops } from "./tool-loops.ts";

/** The part of a run that its calls use. */
export interface RunCore {
  /**
   * Sends the events of the run. Its methods resolve when the sink has accepted or refused the event. A failure does
   * not stop the run.
   */
  readonly writer: RunWriter<void | Promise<void>>;
  /** The run for code inside it. */
  readonly current: ActiveRun;
  readonly policy: RunPolicy;
  /** @throws RunEndedError after the run's end, and the interruption while the run pauses. */
  assertOpen(what: string): void;
  /** Set if loops of tool calls end the run. */
  readonly loops: ToolLoops | undefined;
  /** Registers a call, which ends with the run at the latest. */
  track(call: OpenCall): void;
  untrack(call: OpenCall): void;
  /** Ends the run as failed at once. A pausing run ends as paused. */
  fail(error: AgentError): void;
  /** Pauses the run once its open calls have ended. */
  pause(interruption: Interruption): void;
}

/**
 * Calls `perform` with a call that the run may cut off. If the caller does not await the promise, a rejection does
 * not end the process, because the call's events report it.
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

/** @throws the error that the run fails with, if a limit is exceeded. */
export function refuseAt(run: RunCore, call: OpenCall, breach: UsageLimitBreach | undefined): void {
  if (breach === undefined) return;
  const error = AgentError.usageLimitExceeded(breach);
  // The end of the run would otherwise reject the call as cancelled.
  call.reject(error);
  run.fail(error);
  throw error;
}

/** The call's times, which its writer reads. */
export interface Measured extends Timed {
  startedMs: number;
  durationMs: number | undefined;
}

/**
 * A tool call, model call or step, from the request until the caller has the result. The run may cut it off at any
 * time. The caller then gets the error at once, and nothing later of the call is sent, even if its code continues.
 */
export class OpenCall {
  readonly #signal = new LazySignal();
  readonly #reject: (error: unknown) => void;
  /** Its start, for finding the source of an error. */
  readonly since = sourceMoment();
  #state: "asked" | "open" | "ended" = "asked";
  #times: Measured = { startedMs: 0, durationMs: undefined };
  #sendCut: ((error: AgentError) => void) | undefined;
  #cutBy: AgentError | undefined;

  /** @param reject rejects the caller's promise. */
  constructor(reject: (error: unknown) => void) {
    this.#reject = reject;
  }

  /** Fires when the run cuts the call off. */
  get signal(): AbortSignal {
    return this.#signal.signal;
  }

  /** Whether it waits for a decision, and its start was not sent. */
  get isAsked(): boolean {
    return this.#state === "asked";
  }

  get isCut(): boolean {
    return this.#cutBy !== undefined;
  }

  /** @throws the error of the run, if the call was cut off. */
  assertNotCut(): void {
    if (this.#cutBy !== undefined) throw this.#cutBy;
  }

  /**
   * Its start is sent now. From now on, cutting it off also sends an end.
   *
   * @param sendCut sends that end.
   * @param times are set now, and when the call ends by itself.
   */
  begin(sendCut: (error: AgentError) => void, times = this.#times): void {
    this.#state = "open";
    this.#sendCut = sendCut;
    this.#times = times;
    this.restart();
  }

  /** Restarts the time measurement, so that it excludes the sink's time. */
  restart(): void {
    this.#times.startedMs = performance.now();
  }

  /** Milliseconds since the start. */
  elapsedMs(): number {
    return performance.now() - this.#times.startedMs;
  }

  /** The call ended by itself. The caller sends the event. Not for a call that {@link isCut}. */
  end(): void {
    this.#state = "ended";
    this.#times.durationMs = this.elapsedMs();
  }

  /** Rejects the caller's promise. */
  reject(error: unknown): void {
    this.#reject(error);
  }

  /** Cuts the call off, because the run ends or pauses. */
  cut(error: AgentError): void {
    if (this.isCut) return;
    this.#cutBy = error;
    const open = this.#state === "open";
    this.#state = "ended";
    // Sub-agents inside it listen to the signal. They must end before the call.
    this.#signal.abort(error);
    if (open) this.#sendCut?.(error);
    this.#reject(error);
  }
}

/**
 * Checks the texts that identify a call, because readers of events accept only text.
 *
 * @param of the method, for the error.
 * @throws TypeError for an empty name, and for any other value that is set and not a text.
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
    const value = Object.hasOwn(texts, field) ? texts[field] : undefined;
    if (value === undefined || value === null || typeof value === "string") continue;
    throw new TypeError(`${of} ${name}: expected ${field} to be a text, got ${typeof value}`);
  }
}
