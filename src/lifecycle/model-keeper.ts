import type { Instant } from "../events/instant.ts";
import type { CallIdBudget } from "./call-history.ts";
import type { Counters } from "./counters.ts";
import { ModelCall } from "./model-call.ts";
import { ModelCalls } from "./model-calls.ts";
import type { Run } from "./run.ts";
import type { RunObserver } from "./run-observer.ts";
import type { ModelEnd, ModelOpening } from "./signals.ts";
import type { SpanDriver } from "./span-driver.ts";

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

  /** Opens a call without an id. One that is still open ends now: nobody said how. */
  open(run: Run<H>, at: Instant, opening: ModelOpening): void {
    if (run.modelCall !== undefined) this.close(run, at, UNFINISHED);
    run.modelCall = this.#begin(run, at, "", opening);
  }

  /**
   * Ends the open call without an id.
   *
   * @returns false when none is open.
   */
  close(run: Run<H>, at: Instant, end: ModelEnd): boolean {
    const call = run.modelCall;
    if (call === undefined) return false;
    run.modelCall = undefined;
    this.#finish(run, call, at, end);
    return true;
  }

  /** Opens a call that has an id; the run's oldest one is closed when there are too many. */
  openOne(run: Run<H>, at: Instant, id: string, opening: ModelOpening): void {
    run.modelCallsById ??= new ModelCalls<H>();
    const calls = run.modelCallsById;
    calls.add(this.#begin(run, at, id, opening));
    const { oldest } = calls;
    if (calls.size <= this.#most || oldest === undefined) return;
    this.#counters.bent.evicted_calls++;
    calls.remove(oldest);
    this.#finish(run, oldest, at, UNFINISHED);
  }

  /** An event tells of the end of an open call that has an id. */
  closeOne(run: Run<H>, call: ModelCall<H>, at: Instant, end: ModelEnd): void {
    run.modelCallsById?.remove(call);
    run.modelCallsById?.noteEnded(call.id, this.#budget);
    this.#finish(run, call, at, end);
  }

  /**
   * A call that is known by its end alone: its span opens and closes at once.
   *
   * @param id empty where its source does not tell calls apart.
   */
  whole(run: Run<H>, startedAt: Instant, at: Instant, id: string, end: ModelEnd): void {
    const call = this.#begin(run, startedAt, id, { model: end.model });
    if (id !== "") {
      run.modelCallsById ??= new ModelCalls<H>();
      run.modelCallsById.noteEnded(id, this.#budget);
    }
    this.#finish(run, call, at, end);
  }

  /** Closes the open ones of a run that is about to end. */
  closeAll(run: Run<H>, at: Instant): void {
    if (run.modelCalls === 0) return;
    this.close(run, at, UNFINISHED);
    const calls = run.modelCallsById;
    if (calls === undefined) return;
    // Not noted as ended: should the run go on, their ends may still come.
    for (let call = calls.oldest; call !== undefined; call = calls.oldest) {
      calls.remove(call);
      this.#finish(run, call, at, UNFINISHED);
    }
  }

  #begin(run: Run<H>, at: Instant, id: string, opening: ModelOpening): ModelCall<H> {
    run.modelCalls++;
    const call = new ModelCall<H>(run.modelCalls, opening, at, id);
    this.#counters.spansOpened++;
    call.handle = this.#driver.openModelCall(run, call, at, opening);
    return call;
  }

  #finish(run: Run<H>, call: ModelCall<H>, asked: Instant, end: ModelEnd): void {
    const at = this.#counters.notBefore(call.startedAt, asked);
    this.observer?.modelEnded(call, at, end);
    this.#driver.closeModelCall(run, call, at, end);
    call.handle = undefined;
  }
}
