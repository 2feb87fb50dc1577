import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * SIGINT and SIGTERM of a service. During the start, a signal ends the process at once. This loses nothing: no event is
 * acknowledged yet, and the next start reads the disk again. After the start, the first signal asks the service to
 * stop, and the second one ends it at once.
 */
export class StopSignals {
  #stop: (() => void) | undefined;
  readonly #onSignal = (signal: (typeof SIGNALS)[number]) => {
    const stop = this.#stop;
    this.#stop = undefined;
    if (stop === undefined) endBy(signal);
    else stop();
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Call it once, after the start. Resolves at the first signal. */
  started(): Promise<void> {
    return new Promise((resolve) => {
      this.#stop = resolve;
    });
  }

  /** Restores the default action of the signals. */
  release(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}

/**
 * Handles SIGHUP, which no longer ends the process. A signal before {@link HangUps.answerBy} is handled then.
 */
export class HangUps {
  #answer: (() => Promise<void>) | undefined;
  #isPending = false;
  #last: Promise<void> = Promise.resolve();
  readonly #onSignal = () => {
    this.#isPending = true;
    this.#next();
  };

  constructor() {
    process.on("SIGHUP", this.#onSignal);
  }

  /** Calls `answer` at each signal, one call at a time. A signal that came earlier is answered at once. */
  answerBy(answer: () => Promise<void>): void {
    this.#answer = answer;
    this.#next();
  }

  /** Restores the default action of SIGHUP. */
  release(): void {
    process.off("SIGHUP", this.#onSignal);
  }

  #next(): void {
    const answer = this.#answer;
    if (answer === undefined || !this.#isPending) return;
    this.#isPending = false;
    this.#last = this.#last.then(answer);
  }
}

/**
 * Ends this process by a signal, without its listeners. `process.exit` would wait for threads in a system call, which
 * may never return from a disk or a named pipe.
 */
export function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Only reached by the first process of a container, which ignores signals without a listener.
  process.exit(128 + constants.signals[signal]);
}

/** Clean-up functions that run before a signal ends the process. */
const cleanings = new Map<NodeJS.Signals, Set<() => void>>();

/**
 * Calls `clean` when the process ends, also by a signal. If the signal has other listeners, `clean` is only called when
 * they let the process exit.
 *
 * @param clean must be synchronous.
 * @returns removes `clean` again.
 */
export function cleanAtEnd(
  clean: () => void,
  signals: readonly NodeJS.Signals[] = SIGNALS,
): () => void {
  process.on("exit", clean);
  for (const signal of signals) {
    const known = cleanings.get(signal);
    if (known === undefined) cleanings.set(signal, new Set([clean]));
    else known.add(clean);
    // First, because it counts the listeners, and those added with `once` are removed when they run.
    if (known === undefined) process.prependListener(signal, onEndingSignal);
  }
  return () => {
    process.off("exit", clean);
    for (const signal of signals) {
      const left = cleanings.get(signal);
      left?.delete(clean);
      if (left?.size !== 0) continue;
      cleanings.delete(signal);
      process.off(signal, onEndingSignal);
    }
  };
}

function onEndingSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  for (const clean of cleanings.get(signal) ?? []) clean();
  endBy(signal);
}

/** How long open connections may keep the process running, in ms. */
const LEAVE_MS = 2_000;

/** Pending calls on files, which may never return from a disk or a named pipe. */
const OF_FILES = /^(?:FSReq|FileHandleCloseReq)/;

/**
 * Ends the process after 2 s, even if a connection to a store or broker is still open. Output to pipes is delivered by
 * then.
 */
export function leaveSoon(): void {
  setTimeout(() => {
    if (process.getActiveResourcesInfo().some((name) => OF_FILES.test(name))) endBy("SIGTERM");
    else process.exit();
  }, LEAVE_MS).unref();
}

/** Handles SIGINT and SIGTERM for a command that has to clean up before it ends. */
export class Interruption {
  readonly #controller = new AbortController();
  #signal: "SIGINT" | "SIGTERM" | undefined;
  readonly #onInt = () => this.#take("SIGINT");
  readonly #onTerm = () => this.#take("SIGTERM");

  /** From now on the first signal aborts {@link Interruption.signal}, and the second one ends the process. */
  constructor() {
    process.once("SIGINT", this.#onInt);
    process.once("SIGTERM", this.#onTerm);
  }

  /** Aborted at the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Exit code after a signal; `undefined` without one. */
  get exitCode(): number | undefined {
    if (this.#signal === undefined) return undefined;
    return this.#signal === "SIGINT" ? 130 : 143;
  }

  /** Restores the default action of the signals. */
  release(): void {
    process.off("SIGINT", this.#onInt);
    process.off("SIGTERM", this.#onTerm);
  }

  #take(signal: "SIGINT" | "SIGTERM"): void {
    this.#signal = signal;
    this.release();
    this.#controller.abort();
  }
}
