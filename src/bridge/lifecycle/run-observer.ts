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

/** The decision about a call. */
export interface CallDecision {
  /** How long the approver took, in ms. */
  readonly waitMs?: number | undefined;
  readonly decision?: DecisionDetails | undefined;
  readonly attributes?: SpanAttributes | undefined;
}

/**
 * Receives every run and call, also without spans, so that metrics do not depend on sampling.
 *
 * Each is reported once, since duplicates are dropped before. An observer must not throw, and must not
 * change its arguments, except its own `run.observed`.
 */
export interface RunObserver {
  /** A segment of the run opened. */
  runOpened(run: Run<unknown>): void;
  /** The late `started` of a run set its name, thread or parent. */
  runNamed(run: Run<unknown>): void;
  /** The run that this one resumes became known after the start. */
  runResumed(run: Run<unknown>, resumedFromRunId: string): void;
  /** The segment closed. It took from `run.startedAt` to `at` if `run.startSeen`. */
  runClosed(run: Run<unknown>, at: Instant, end: RunEnd): void;
  /** A call was approved or denied. */
  callDecided(run: Run<unknown>, at: Instant, decision: CallDecision): void;
  /**
   * An event ended a call. There is no `Call` parameter, so that ends of calls that are not followed can
   * be reported, too.
   *
   * @param name of the tool.
   * @param durationMs in ms: measured by the source, else the time from start to end.
   */
  callEnded(run: Run<unknown>, name: string, durationMs: number, end: CallEnd): void;
  /** The calls of the open run are in a loop. Reported once for each segment. */
  loopFound(run: Run<unknown>, loop: Loop): void;
  /** A model call ended by an event, or was closed. It took from `call.startedAt` to `at`, as its span. */
  modelEnded(run: Run<unknown>, call: ModelCall<unknown>, at: Instant, end: ModelEnd): void;
}

/** An observer that calls both. At most one of them may use `run.observed`. */
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

  callDecided(run: Run<unknown>, at: Instant, decision: CallDecision): void {
    this.#first.callDecided(run, at, decision);
    this.#second.callDecided(run, at, decision);
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
