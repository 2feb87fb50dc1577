import type { Instant, ModelEnd, ModelOpening } from "../../events/door.ts";
import { OwnUsage } from "./own-usage.ts";
import { ModelCall } from "./part.ts";
import { type Around, PartKeeper, UNFINISHED } from "./part-keeper.ts";
import { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

/** Opens and closes the model calls of a run. At most one call without an ID is open at a time. */
export class ModelKeeper<H> extends PartKeeper<H, ModelCall<H>, ModelEnd> {
  /**
   * Opens a call. An open call without an ID ends before the next one without an ID opens.
   *
   * @param id empty if the source has no IDs of model calls.
   * @param around the step and the tool call that the call belongs to.
   * @returns false if a call of this ID is open or has ended.
   */
  open(run: Run<H>, id: string, at: Instant, opening: ModelOpening, around: Around = {}): boolean {
    run.models ??= new Parts();
    const known = run.models.find(id);
    if (known !== undefined && id !== "") return false;
    if (known !== undefined) this.stop(run, run.models, known, at, UNFINISHED);
    this.add(run, run.models, this.#begin(run, at, id, opening, around));
    return true;
  }

  /**
   * Closes a call.
   *
   * @param from start of a call that was not seen to start: it opens and closes at once. Default: only an
   *   open call ends.
   * @returns false if the call has ended before.
   */
  close(
    run: Run<H>,
    id: string,
    at: Instant,
    end: ModelEnd,
    from?: Instant,
    around: Around = {},
  ): boolean {
    run.models ??= new Parts();
    const { model, operation } = end;
    const begin = () => from && this.#begin(run, from, id, { model, operation }, around);
    return this.stopById(run, run.models, id, at, end, begin);
  }

  /** Closes the open calls of a run that is about to end. */
  closeAll(run: Run<H>, at: Instant): void {
    const { models } = run;
    // Not noted as ended: if the run continues, their ends may still come.
    while (models?.oldest !== undefined) this.stop(run, models, models.oldest, at, UNFINISHED);
  }

  protected override end(run: Run<H>, call: ModelCall<H>, at: Instant, end: ModelEnd): void {
    if (end.attributes !== undefined) {
      run.used ??= new OwnUsage();
      run.used.add(end.attributes);
    }
    if (end.outcome === "error") {
      run.used ??= new OwnUsage();
      run.used.failedModel = call.model ?? end.model;
    }
    this.observer?.modelEnded(run, call, at, end);
    this.driver.closeModelCall(run, call, at, end);
  }

  #begin(
    run: Run<H>,
    at: Instant,
    id: string,
    opening: ModelOpening,
    around: Around,
  ): ModelCall<H> {
    run.modelCalls++;
    const call = new ModelCall<H>(run.modelCalls, opening, at, id);
    if (call.operation === "chat") run.inferences++;
    this.counters.spansOpened++;
    const parent = this.around(run, around);
    call.handle = this.driver.openModelCall(run, call, at, opening, parent);
    return call;
  }
}
