import type { AgentError } from "../../events/door.ts";
import { abortError, isReason } from "../runtime/door.ts";
import { isStopped } from "./langchain-errors.ts";

/** Maximum number of signals that a run and the runs in it remember. LangGraph makes one for each step. */
const MOST_SIGNALS = 16;

/**
 * The latest abort signals of the calls in a run and in the runs inside it. LangChain's errors do not say that a signal
 * fired: they are its reason, which may have any type.
 */
export class StopSignals {
  readonly #signals = new Set<AbortSignal>();
  /** Reasons of the signals that clients answered with an error of their own. */
  #reasons: WeakMap<object, unknown> | undefined;

  add(signal: AbortSignal | undefined): void {
    if (signal === undefined || this.#signals.has(signal)) return;
    this.#signals.add(signal);
    if (this.#signals.size <= MOST_SIGNALS) return;
    for (const oldest of this.#signals) {
      this.#signals.delete(oldest);
      return;
    }
  }

  /** A call failed that had this signal. A client may throw an error of its own, which does not have the reason. */
  callFailed(thrown: unknown, signal: AbortSignal | undefined): void {
    if (signal?.aborted !== true || typeof thrown !== "object" || thrown === null) return;
    if (!isStopped(thrown)) return;
    this.#reasons ??= new WeakMap();
    this.#reasons.set(thrown, signal.reason);
  }

  /** The error of work that failed because a signal fired. `undefined`: it failed otherwise. */
  errorFor(thrown: unknown): AgentError | undefined {
    const reasons = this.#reasons;
    if (typeof thrown === "object" && thrown !== null && reasons?.has(thrown) === true) {
      return abortError(reasons.get(thrown));
    }
    for (const { aborted, reason } of this.#signals) {
      if (aborted && isReason(thrown, reason)) return abortError(reason);
    }
    return undefined;
  }
}
