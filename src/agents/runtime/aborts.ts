import { setMaxListeners } from "node:events";
import { AgentError, asAgentError } from "../../events/door.ts";

/** The error of a run whose signal fired: a deadline if the reason is a timeout, else a cancellation. */
export function abortError(reason: unknown): AgentError {
  return asAgentError(reason)?.detail.type === "deadline_exceeded"
    ? AgentError.deadlineExceeded({ cause: reason })
    : AgentError.cancelled({ cause: reason });
}

/** Whether work failed because one of these signals fired: the signal's reason may be any value. */
export function isStop(thrown: unknown, signals: Iterable<AbortSignal>): boolean {
  for (const { aborted, reason } of signals) {
    if (!aborted) continue;
    const type = asAgentError(thrown)?.detail.type;
    if (isReason(thrown, reason) || type === "cancelled" || type === "deadline_exceeded")
      return true;
  }
  return false;
}

/** Whether an error is the reason of a signal, has it as its cause, or was made of it: frameworks throw only errors. */
export function isReason(thrown: unknown, reason: unknown): boolean {
  if (thrown === reason) return true;
  if (!(thrown instanceof Error) || reason === undefined) return false;
  return thrown.cause === reason || (typeof reason === "string" && thrown.message === reason);
}

/** The error of calls that are open at the end of their run. They do not get the run's own error. */
export function cutBy(ending: unknown): AgentError {
  const known = asAgentError(ending);
  const type = known?.detail.type;
  return known !== undefined && (type === "cancelled" || type === "deadline_exceeded")
    ? known
    : AgentError.cancelled({ cause: ending });
}

interface Listening {
  readonly fired: Set<() => void>;
  readonly fire: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls `fired` when the signal fires.
 *
 * All runs with the same signal share one listener, because Node warns of a leak above ten.
 *
 * @returns removes the callback.
 */
function listen(signal: AbortSignal, fired: () => void): () => void {
  const known = listening.get(signal) ?? listenFirst(signal);
  known.fired.add(fired);
  return () => {
    known.fired.delete(fired);
    if (known.fired.size > 0 || listening.get(signal) !== known) return;
    listening.delete(signal);
    signal.removeEventListener("abort", known.fire);
  };
}

function listenFirst(signal: AbortSignal): Listening {
  const fired = new Set<() => void>();
  const fire = () => {
    for (const one of [...fired]) one();
  };
  const made = { fired, fire };
  listening.set(signal, made);
  signal.addEventListener("abort", fire, { once: true });
  return made;
}

/** Watches the signals and timers that may abort a run. `stop` removes all listeners and timers. */
export class Watch {
  readonly #stops: (() => void)[] = [];
  #stopped = false;

  /** Calls `abort` at once if the signal has already fired. */
  signal(signal: AbortSignal, abort: (error: AgentError) => void): void {
    if (this.#stopped) return;
    const fired = () => abort(abortError(signal.reason));
    if (signal.aborted) fired();
    else this.#stops.push(listen(signal, fired));
  }

  timer(ms: number, abort: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(abort, ms);
    this.#stops.push(() => clearTimeout(timer));
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stops.splice(0)) stop();
  }
}

/** An abort signal that is created on first use, because most code does not use it. */
export class LazySignal {
  #controller: AbortController | undefined;
  #fired: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // All parallel work may listen. Node would warn of a leak above ten.
      setMaxListeners(0, this.#controller.signal);
      if (this.#fired !== undefined) this.#controller.abort(this.#fired.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#fired ??= { reason };
    this.#controller?.abort(reason);
  }
}
