import { type Instant, type StepEnd, type StepOpening, subtractMs } from "../../events/door.ts";
import type { CallIdBudget } from "./call-history.ts";
import type { Counters } from "./counters.ts";
import type { Run } from "./run.ts";
import type { SpanDriver } from "./span-driver.ts";
import { Step, Steps } from "./step.ts";

/** What an event says of a step. */
type ToldStep = StepOpening & { readonly stepId: string; readonly at: Instant };

const UNFINISHED: StepEnd = { outcome: "unfinished" };

/** Opens and closes the steps of a run, and finds the parents of what is inside them. */
export class StepKeeper<H> {
  readonly #driver: SpanDriver<H>;
  readonly #counters: Counters;
  /** Most steps that are open at once in a run. */
  readonly #most: number;
  readonly #budget: CallIdBudget;

  constructor(driver: SpanDriver<H>, counters: Counters, most: number, budget: CallIdBudget) {
    this.#driver = driver;
    this.#counters = counters;
    this.#most = most;
    this.#budget = budget;
  }

  /**
   * Opens a step. The run's oldest open step is closed when there are too many.
   *
   * @returns false where a step of this id is open or has ended.
   */
  open(run: Run<H>, told: ToldStep): boolean {
    run.steps ??= new Steps<H>();
    const { steps } = run;
    if (steps.find(told.stepId) !== undefined) return false;
    steps.add(this.#begin(run, told, told.at));
    const { oldest } = steps;
    if (steps.size <= this.#most || oldest === undefined) return true;
    this.#counters.adjustments.evicted_steps++;
    this.#close(run, steps, oldest, told.at, UNFINISHED);
    return true;
  }

  /**
   * An event tells of the end of a step. The span of one that was not seen to start opens and closes at
   * once.
   *
   * @returns false where the step has ended before.
   */
  close(
    run: Run<H>,
    told: ToldStep & { readonly durationMs: number; readonly end: StepEnd },
  ): boolean {
    run.steps ??= new Steps<H>();
    const { steps } = run;
    const { at, durationMs, end, stepId } = told;
    const open = steps.openOf(stepId);
    if (open === undefined && steps.find(stepId) !== undefined) return false;
    const step = open ?? this.#begin(run, told, subtractMs(at, durationMs));
    this.#close(run, steps, step, at, end);
    return true;
  }

  /** Closes the open ones of a run that is about to end, the inner ones first. */
  closeAll(run: Run<H>, at: Instant): void {
    const { steps } = run;
    if (steps === undefined || steps.size === 0) return;
    // Not noted as ended: should the run go on, their ends may still come.
    for (const step of steps.newestFirst) {
      steps.remove(step);
      this.#finish(run, step, at, UNFINISHED);
    }
  }

  #begin(run: Run<H>, told: ToldStep, at: Instant): Step<H> {
    run.stepCount++;
    const step = new Step<H>(told.stepId, run.stepCount, told, at);
    const parent = this.#parentOf(run, told);
    this.#counters.spansOpened++;
    step.handle = this.#driver.openStep(run, step, at, told.content, parent);
    return step;
  }

  /** What it stands in: the inner one of step and call, where both are named. */
  #parentOf(run: Run<H>, { inCallId, inStepId }: StepOpening): H | undefined {
    const call = inCallId === undefined ? undefined : run.calls.newestOf(inCallId)?.handle;
    const step = run.steps?.find(inStepId ?? "");
    if (call !== undefined && step?.inCallId !== inCallId) return call;
    return step === undefined ? undefined : handleOfStep(run, step, this.#driver);
  }

  #close(run: Run<H>, steps: Steps<H>, step: Step<H>, at: Instant, end: StepEnd): void {
    this.#finish(run, step, at, end);
    this.#budget.forgotten += steps.noteEnded(step);
  }

  #finish(run: Run<H>, step: Step<H>, asked: Instant, end: StepEnd): void {
    const at = this.#counters.notBefore(step.startedAt, asked);
    this.#driver.closeStep(run, step, at, end);
    step.handle = undefined;
  }
}

/** The span of a step of this run, also where it has ended; `undefined` where it is not known. */
export function stepHandle<H>(
  run: Run<H>,
  stepId: string | undefined,
  driver: SpanDriver<H>,
): H | undefined {
  if (stepId === undefined || run.steps === undefined) return undefined;
  const step = run.steps.find(stepId);
  return step === undefined ? undefined : handleOfStep(run, step, driver);
}

export function handleOfStep<H>(run: Run<H>, step: Step<H>, driver: SpanDriver<H>): H | undefined {
  if (step.handle !== undefined || run.handle === undefined) return step.handle;
  const spanId = run.ids.childSpanId("p", String(step.ordinal));
  return driver.derived(run.traceId, spanId, run.handle);
}
