import { type Instant, type StepEnd, type StepOpening, subtractMs } from "../../events/door.ts";
import { Step } from "./part.ts";
import { PartKeeper, UNFINISHED } from "./part-keeper.ts";
import { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

type StepStart = StepOpening & { readonly stepId: string; readonly at: Instant };
type StepStop = StepStart & { readonly durationMs: number; readonly end: StepEnd };

/** Opens and closes the steps of a run. */
export class StepKeeper<H> extends PartKeeper<H, Step<H>, StepEnd> {
  /** @returns false if a step of this ID is open or has ended. */
  open(run: Run<H>, opening: StepStart): boolean {
    run.steps ??= new Parts();
    if (run.steps.find(opening.stepId) !== undefined) return false;
    this.add(run, run.steps, this.#begin(run, opening, opening.at));
    return true;
  }

  /** @returns false if the step has ended before. */
  close(run: Run<H>, closing: StepStop): boolean {
    run.steps ??= new Parts();
    const { at, durationMs, end, stepId } = closing;
    const begin = () => this.#begin(run, closing, subtractMs(at, durationMs));
    return this.stopById(run, run.steps, stepId, at, end, begin);
  }

  /** Closes the open steps of a run that is about to end, the inner ones first. */
  closeAll(run: Run<H>, at: Instant): void {
    const { steps } = run;
    // Not noted as ended: if the run continues, their ends may still come.
    while (steps?.newest !== undefined) this.stop(run, steps, steps.newest, at, UNFINISHED);
  }

  /** A late end of an evicted step is a duplicate. */
  protected override evict(run: Run<H>, steps: Parts<Step<H>>, step: Step<H>, at: Instant): void {
    this.counters.adjustments.evicted_steps++;
    this.stop(run, steps, step, at, UNFINISHED);
    this.budget.forgotten += steps.noteEnded(step);
  }

  protected override end(run: Run<H>, step: Step<H>, at: Instant, end: StepEnd): void {
    this.driver.closeStep(run, step, at, end);
  }

  #begin(run: Run<H>, opening: StepStart, at: Instant): Step<H> {
    run.stepCount++;
    const step = new Step<H>(opening.stepId, run.stepCount, opening, at);
    this.counters.spansOpened++;
    step.handle = this.driver.openStep(run, step, at, opening.content, this.around(run, opening));
    return step;
  }
}
