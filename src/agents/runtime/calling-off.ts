import { setMaxListeners } from "node:events";
import { AgentError, asAgentError } from "../../events/door.ts";

/** What a run fails with when a signal calls it off: a timeout is a deadline, all else a cancellation. */
export function calledOff(reason: unknown): AgentError {
  return asAgentError(reason)?.detail.type === "deadline_exceeded"
    ? AgentError.deadlineExceeded({ cause: reason })
    : AgentError.cancelled({ cause: reason });
}

/** What the calls that are open get when their run ends: its error is not theirs. */
export function cutBy(ending: unknown): AgentError {
  const known = asAgentError(ending);
  const type = known?.detail.type;
  return known !== undefined && (type === "cancelled" || type === "deadline_exceeded")
    ? known
    : AgentError.cancelled({ cause: ending });
}

interface Listening {
  readonly fired: Set<() => void>;
  readonly tell: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls `fired` when the signal fires, until the answer is called. A signal has one listener of ours,
 * however many runs share it: Node warns of a leak beyond ten.
 */
function listen(signal: AbortSignal, fired: () => void): () => void {
  const known = listening.get(signal) ?? listenFirst(signal);
  known.fired.add(fired);
  return () => {
    known.fired.delete(fired);
    if (known.fired.size > 0 || listening.get(signal) !== known) return;
    listening.delete(signal);
    signal.removeEventListener("abort", known.tell);
  };
}

function listenFirst(signal: AbortSignal): Listening {
  const fired = new Set<() => void>();
  const tell = () => {
    for (const one of [...fired]) one();
  };
  const made = { fired, tell };
  listening.set(signal, made);
  signal.addEventListener("abort", tell, { once: true });
  return made;
}

/** Watches the signals and timers that may call a run off. `stop` removes every listener and timer. */
export class Watch {
  readonly #stops: (() => void)[] = [];
  #stopped = false;

  /** Calls `off` at once if the signal has fired already. */
  signal(signal: AbortSignal, off: (error: AgentError) => void): void {
    if (this.#stopped) return;
    const fired = () => off(calledOff(signal.reason));
    if (signal.aborted) fired();
    else this.#stops.push(listen(signal, fired));
  }

  timer(ms: number, off: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(off, ms);
    this.#stops.push(() => clearTimeout(timer));
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stops.splice(0)) stop();
  }
}

/** An abort signal that is made when somebody asks for it: most code never does. */
export class LazySignal {
  #controller: AbortController | undefined;
  #fired: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Everything that is done at once may listen; Node warns of a leak beyond ten.
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
