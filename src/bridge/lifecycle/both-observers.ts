import type { CallEnd, Instant, Loop, ModelEnd, RunEnd } from "../../events/door.ts";
import type { ModelCall } from "./part.ts";
import type { Run } from "./run.ts";
import type { RunObserver, ToldDecision } from "./run-observer.ts";

/** An observer that tells both, one after the other. `run.observed` belongs to one of them at most. */
export function bothOf(first: RunObserver, second: RunObserver | undefined): RunObserver {
  return second === undefined ? first : new BothObservers(first, second);
}

class BothObservers implements RunObserver {
  readonly #first: RunObserver;
  readonly #second: RunObserver;

  constructor(first: RunObserver, second: RunObserver) {
    this.#first = first;
    this.#second = second;
  }

  runOpened(run: Run<unknown>): void {
    this.#first.runOpened(run);
    this.#second.runOpened(run);
  }

  runNamed(run: Run<unknown>): void {
    this.#first.runNamed(run);
    this.#second.runNamed(run);
  }

  runResumed(run: Run<unknown>, resumedFromRunId: string): void {
    this.#first.runResumed(run, resumedFromRunId);
    this.#second.runResumed(run, resumedFromRunId);
  }

  runClosed(run: Run<unknown>, at: Instant, end: RunEnd): void {
    this.#first.runClosed(run, at, end);
    this.#second.runClosed(run, at, end);
  }

  callDecided(run: Run<unknown>, at: Instant, told: ToldDecision): void {
    this.#first.callDecided(run, at, told);
    this.#second.callDecided(run, at, told);
  }

  callEnded(run: Run<unknown>, name: string, durationMs: number, end: CallEnd): void {
    this.#first.callEnded(run, name, durationMs, end);
    this.#second.callEnded(run, name, durationMs, end);
  }

  loopFound(run: Run<unknown>, loop: Loop): void {
    this.#first.loopFound(run, loop);
    this.#second.loopFound(run, loop);
  }

  modelEnded(run: Run<unknown>, call: ModelCall<unknown>, at: Instant, end: ModelEnd): void {
    this.#first.modelEnded(run, call, at, end);
    this.#second.modelEnded(run, call, at, end);
  }
}
