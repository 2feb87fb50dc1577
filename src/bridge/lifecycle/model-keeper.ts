import type { Instant, ModelEnd, ModelOpening } from "../../events/door.ts";
import type { CallIdBudget } from "./call-history.ts";
import type { Counters } from "./counters.ts";
import { ModelCall, ModelCalls } from "./model-call.ts";
import { OwnUsage } from "./own-usage.ts";
import type { Run } from "./run.ts";
import type { RunObserver } from "./run-observer.ts";
import type { SpanDriver } from "./span-driver.ts";
import { stepHandle } from "./step-keeper.ts";

const UNFINISHED: ModelEnd = { outcome: "unfinished" };

/**
 * Opens and closes the model calls of a run. Where the source tells them apart by id, several are open
 * at once; of those without an id at most one is.
 */
export class ModelKeeper<H> {
  observer: RunObserver | undefined = undefined;
  readonly #driver: SpanDriver<H>;
  readonly #counters: Counters;
  /** Most calls with an id that are open at once in a run. */
  readonly #most: number;
  readonly #budget: CallIdBudget;

  constructor(driver: SpanDriver<H>, counters: Counters, most: number, budget: CallIdBudget) {
    this.#driver = driver;
    this.#counters = counters;
    this.#most = most;
    this.#budget = budget;
  }

  /**
   * Opens a call. A call without an id that is still open ends now: nobody said how. The run's oldest
   * call with an id is closed when there are too many.
   *
   * @param id empty where the source does not tell calls apart.
   * @param stepId the step that it belongs to.
   * @returns false where a call of this id is open or has ended.
   */
  open(run: Run<H>, id: string, at: Instant, opening: ModelOpening, stepId?: string): boolean {
    if (id === "") {
      this.#closeUnnamed(run, at, UNFINISHED);
      run.modelCall = this.#begin(run, at, id, opening, stepId);
      return true;
    }
    run.modelCallsById ??= new ModelCalls<H>();
    const calls = run.modelCallsById;
    if (calls.get(id) !== undefined || calls.hasEnded(id)) return false;
    calls.add(this.#begin(run, at, id, opening, stepId));
    const { oldest } = calls;
    if (calls.size <= this.#most || oldest === undefined) return true;
    this.#counters.adjustments.evicted_calls++;
    calls.remove(oldest);
    this.#finish(run, oldest, at, UNFINISHED);
    return true;
  }

  /**
   * An event tells of the end of a call.
   *
   * @param from when one that was not seen to start began: its span opens and closes at once. Without
   *   it only an open call ends.
   * @returns false where the call has ended before.
   */
  close(
    run: Run<H>,
    id: string,
    at: Instant,
    end: ModelEnd,
    from?: Instant,
    stepId?: string,
  ): boolean {
    if (id === "") {
      if (!this.#closeUnnamed(run, at, end) && from !== undefined) {
        this.#finish(run, this.#begin(run, from, id, { model: end.model }, stepId), at, end);
      }
      return true;
    }
    const calls = run.modelCallsById;
    const open = calls?.get(id);
    if (open === undefined && calls?.hasEnded(id) === true) return false;
    const call = open ?? (from && this.#begin(run, from, id, { model: end.model }, stepId));
    if (call === undefined) return true;
    run.modelCallsById ??= new ModelCalls<H>();
    run.modelCallsById.remove(call);
    run.modelCallsById.noteEnded(id, this.#budget);
    this.#finish(run, call, at, end);
    return true;
  }

  /** Closes the open ones of a run that is about to end. */
  closeAll(run: Run<H>, at: Instant): void {
    if (run.modelCalls === 0) return;
    this.#closeUnnamed(run, at, UNFINISHED);
    const calls = run.modelCallsById;
    if (calls === undefined) return;
    // Not noted as ended: should the run go on, their ends may still come.
    for (let call = calls.oldest; call !== undefined; call = calls.oldest) {
      calls.remove(call);
      this.#finish(run, call, at, UNFINISHED);
    }
  }

  /** @returns false when no call without an id is open. */
  #closeUnnamed(run: Run<H>, at: Instant, end: ModelEnd): boolean {
    const call = run.modelCall;
    if (call === undefined) return false;
    run.modelCall = undefined;
    this.#finish(run, call, at, end);
    return true;
  }

  #begin(
    run: Run<H>,
    at: Instant,
    id: string,
    opening: ModelOpening,
    stepId: string | undefined,
  ): ModelCall<H> {
    run.modelCalls++;
    const call = new ModelCall<H>(run.modelCalls, opening, at, id);
    this.#counters.spansOpened++;
    const step = stepHandle(run, stepId, this.#driver);
    call.handle = this.#driver.openModelCall(run, call, at, opening, step);
    return call;
  }

  #finish(run: Run<H>, call: ModelCall<H>, asked: Instant, end: ModelEnd): void {
    const at = this.#counters.notBefore(call.startedAt, asked);
    if (end.attributes !== undefined) {
      run.used ??= new OwnUsage();
      run.used.add(end.attributes);
    }
    if (end.outcome === "error") {
      run.used ??= new OwnUsage();
      run.used.failedModel = call.model ?? end.model;
    }
    this.observer?.modelEnded(run, call, at, end);
    this.#driver.closeModelCall(run, call, at, end);
    call.handle = undefined;
  }
}
