import type { Instant } from "../events/instant.ts";
import type { Counters } from "./counters.ts";
import { ModelCall } from "./model-call.ts";
import type { Run } from "./run.ts";
import type { Facts, ModelEnd } from "./signals.ts";
import type { SpanDriver } from "./span-driver.ts";

const UNFINISHED: ModelEnd = { outcome: "unfinished" };

/** Opens and closes the model calls of a run, of which at most one is open. */
export class ModelKeeper<H> {
  readonly #driver: SpanDriver<H>;
  readonly #counters: Counters;

  constructor(driver: SpanDriver<H>, counters: Counters) {
    this.#driver = driver;
    this.#counters = counters;
  }

  /** One that is still open ends now: nobody said how. */
  open(run: Run<H>, at: Instant, model: string | undefined, facts: Facts | undefined): void {
    this.closeOpen(run, at);
    run.modelCalls++;
    const call = new ModelCall<H>(run.modelCalls, model, at);
    run.modelCall = call;
    this.#counters.spansOpened++;
    call.handle = this.#driver.openModelCall(run, call, at, facts);
  }

  /** @returns false when none is open. */
  close(run: Run<H>, asked: Instant, end: ModelEnd): boolean {
    const call = run.modelCall;
    if (call === undefined) return false;
    run.modelCall = undefined;
    this.#driver.closeModelCall(run, call, this.#counters.notBefore(call.startedAt, asked), end);
    return true;
  }

  /** Closes the open one, whose run is about to end or to call its model again. */
  closeOpen(run: Run<H>, at: Instant): void {
    if (run.modelCall !== undefined) this.close(run, at, UNFINISHED);
  }
}
