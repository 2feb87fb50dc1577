import type {
  CallEnd,
  DecisionDetails,
  Instant,
  Loop,
  ModelEnd,
  RunEnd,
  SpanAttributes,
} from "../../events/door.ts";
import type { ModelCall } from "./part.ts";
import type { Run } from "./run.ts";

/** What is known of the decision about a call. */
export interface ToldDecision {
  /** How long the approver took, in ms. */
  readonly waitMs?: number | undefined;
  readonly decision?: DecisionDetails | undefined;
  readonly attributes?: SpanAttributes | undefined;
}

/**
 * Told of every run and call, whether spans are made of them or not: what is counted must not depend
 * on sampling.
 *
 * Each thing is told once: duplicates are dropped before. An observer must not throw, and must not
 * change what it is given, but for `run.observed`, which is its own.
 */
export interface RunObserver {
  /** A segment of the run has opened. */
  runOpened(run: Run<unknown>): void;
  /** The `started` of a run that another event had to open: its name, its thread, its parent. */
  runNamed(run: Run<unknown>): void;
  /** Which interrupted run this one continues became known after its start. */
  runResumed(run: Run<unknown>, resumedFromRunId: string): void;
  /** The segment has closed: `run.startedAt` to `at`, where `run.startSeen`. */
  runClosed(run: Run<unknown>, at: Instant, end: RunEnd): void;
  /** A call was approved or denied at that time. */
  callDecided(run: Run<unknown>, at: Instant, told: ToldDecision): void;
  /**
   * A call has run and ended, as an event tells. It takes no `Call`, so that ends can be told of
   * calls that nobody follows.
   *
   * @param name of the tool.
   * @param durationMs as the source measured it, else from its start to its end, in ms.
   */
  callEnded(run: Run<unknown>, name: string, durationMs: number, end: CallEnd): void;
  /** The calls of the open run are in a loop: once a segment, when it is found. */
  loopFound(run: Run<unknown>, loop: Loop): void;
  /** A model call has ended, told by an event or closed: `call.startedAt` to `at`, as its span. */
  modelEnded(run: Run<unknown>, call: ModelCall<unknown>, at: Instant, end: ModelEnd): void;
}

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
