import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * SIGINT and SIGTERM of a service. While it starts, the first one ends the process at once, whatever the start
 * waits for: nothing is acknowledged yet, and what is on the disk is read again by the next start. Once it has
 * started, the first one asks it to end, and the second one ends it at once.
 */
export class StopSignals {
  #ask: (() => void) | undefined;
  readonly #onSignal = (signal: (typeof SIGNALS)[number]) => {
    const ask = this.#ask;
    this.#ask = undefined;
    if (ask === undefined) endBy(signal);
    else ask();
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** To be called once, when the service has started. Resolves when it is asked to end. */
  started(): Promise<void> {
    return new Promise((resolve) => {
      this.#ask = resolve;
    });
  }

  /** Signals do again what they always do. */
  release(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}

/**
 * The SIGHUPs that come: from here on none ends the process. One that comes while a service is still
 * opening its journal is answered when it can be.
 */
export class HangUps {
  #answer: (() => Promise<void>) | undefined;
  #came = false;
  #last: Promise<void> = Promise.resolve();
  readonly #onSignal = () => {
    this.#came = true;
    this.#next();
  };

  constructor() {
    process.on("SIGHUP", this.#onSignal);
  }

  /** Has `answer` called at each signal, one call after the other; at once where one has come before. */
  answerBy(answer: () => Promise<void>): void {
    this.#answer = answer;
    this.#next();
  }

  /** SIGHUP does again what it always does. */
  release(): void {
    process.off("SIGHUP", this.#onSignal);
  }

  #next(): void {
    const answer = this.#answer;
    if (answer === undefined || !this.#came) return;
    this.#came = false;
    this.#last = this.#last.then(answer);
  }
}

/**
 * Ends this process by a signal, as if nothing listened to it. `process.exit` would wait for threads that are
 * in a call of the system, and one that waits for a disk or a named pipe may never come back.
 */
export function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Still here: the first process of a container gets no signal that nothing listens to.
  process.exit(128 + constants.signals[signal]);
}

/** Clean-up functions that run before a signal ends the process. */
const cleanings = new Map<NodeJS.Signals, Set<() => void>>();

/**
 * Has something cleared away at the end of the process, also where a signal ends it. While somebody else listens
 * to the signal, the end is left to them, and so is the clearing away.
 *
 * @param clean must be synchronous.
 * @returns takes it back.
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
    // Before those who listen once: they would be gone when it asks for them.
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

/** So long what is left open may keep the process, in ms. */
const LEFT_OPEN_MS = 2_000;

/** Calls that a thread waits for, and that may never come back: those of a disk or a named pipe. */
const OF_FILES = /^(?:FSReq|FileHandleCloseReq)/;

/**
 * The process ends soon, though a connection to a store or broker that does not answer is still open. What was
 * written to a pipe has got there by then.
 */
export function leaveSoon(): void {
  setTimeout(() => {
    if (process.getActiveResourcesInfo().some((name) => OF_FILES.test(name))) endBy("SIGTERM");
    else process.exit();
  }, LEFT_OPEN_MS).unref();
}

/** Ctrl-C, or being asked to end: the command puts things in order first, then ends. */
export class Interruption {
  readonly #controller = new AbortController();
  #signal: "SIGINT" | "SIGTERM" | undefined;
  readonly #onInt = () => this.#take("SIGINT");
  readonly #onTerm = () => this.#take("SIGTERM");

  /** From here on the first signal does not end the process; the second one does. */
  constructor() {
    process.once("SIGINT", this.#onInt);
    process.once("SIGTERM", this.#onTerm);
  }

  /** Aborted when a signal came. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What the process is to end with; `undefined` when no signal came. */
  get exitCode(): number | undefined {
    if (this.#signal === undefined) return undefined;
    return this.#signal === "SIGINT" ? 130 : 143;
  }

  /** Signals do again what they always do. */
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
