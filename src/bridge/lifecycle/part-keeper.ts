import type { Instant } from "../../events/door.ts";
import type { CallIdBudget } from "./call-history.ts";
import type { Counters } from "./counters.ts";
import type { LifecycleRules } from "./limits.ts";
import type { Step } from "./part.ts";
import type { Part, Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import type { RunObserver } from "./run-observer.ts";
import type { SpanDriver } from "./span-driver.ts";

/** The end of a part that is still open when its run ends, or when too many are open. */
export const UNFINISHED = { outcome: "unfinished" } as const;
type Unfinished = typeof UNFINISHED;

export interface KeeperOptions<H> {
  readonly driver: SpanDriver<H>;
  readonly counters: Counters;
  readonly limits: LifecycleRules;
  readonly budget: CallIdBudget;
}

/** The call (its ID or key) and the step of the run that a part is inside. */
export interface Around {
  readonly inCallId?: string | undefined;
  readonly inStepId?: string | undefined;
}

/**
 * Opens and closes the parts of a run that are of one kind: its tool calls, model calls or steps.
 *
 * @typeParam E the end of such a part.
 */
export abstract class PartKeeper<H, P extends Part<P> & { handle: H | undefined }, E> {
  /** Receives the ends of calls and model calls. */
  observer: RunObserver | undefined = undefined;
  protected readonly driver: SpanDriver<H>;
  protected readonly counters: Counters;
  protected readonly limits: LifecycleRules;
  protected readonly budget: CallIdBudget;

  constructor({ driver, counters, limits, budget }: KeeperOptions<H>) {
    this.driver = driver;
    this.counters = counters;
    this.limits = limits;
    this.budget = budget;
  }

  /** Ends the span of a part. */
  protected abstract end(run: Run<H>, part: P, at: Instant, end: E | Unfinished, ms?: number): void;

  /** Adds a part that has opened. Closes the run's oldest one if too many are open. */
  protected add(run: Run<H>, parts: Parts<P>, part: P): void {
    parts.add(part);
    const { oldest } = parts;
    if (parts.size > this.limits.openCalls && oldest !== undefined) {
      this.evict(run, parts, oldest, part.startedAt);
    }
  }

  protected evict(run: Run<H>, parts: Parts<P>, part: P, at: Instant): void {
    this.counters.adjustments.evicted_calls++;
    this.stop(run, parts, part, at, UNFINISHED);
  }

  /** Closes an open part. */
  protected stop(
    run: Run<H>,
    parts: Parts<P>,
    part: P,
    at: Instant,
    end: E | Unfinished,
    ms?: number,
  ): void {
    parts.remove(part);
    this.finish(run, part, at, end, ms);
  }

  /** @param asked moved to the start of the part if it is earlier. */
  protected finish(run: Run<H>, part: P, asked: Instant, end: E | Unfinished, ms?: number): void {
    this.end(run, part, this.counters.notBefore(part.startedAt, asked), end, ms);
    part.handle = undefined;
  }

  /**
   * Closes the open part of an ID that is unique in its run. If none is open, the part opens and closes
   * at once.
   *
   * @param begin opens it; `undefined` if only an open part can end.
   * @returns false if the part has ended before.
   */
  protected stopById(
    run: Run<H>,
    parts: Parts<P>,
    id: string,
    at: Instant,
    end: E,
    begin: () => P | undefined,
  ): boolean {
    const open = parts.newestOf(id);
    if (open !== undefined) parts.remove(open);
    else if (parts.find(id) !== undefined) return false;
    const part = open ?? begin();
    if (part === undefined) return true;
    this.finish(run, part, at, end);
    if (id !== "") this.budget.forgotten += parts.noteEnded(part);
    return true;
  }

  /** The span that a part is inside; `undefined` if that is its run's. If both are known, the inner one. */
  protected around(run: Run<H>, { inCallId, inStepId }: Around): H | undefined {
    const call = inCallId === undefined ? undefined : handleOfCall(run, inCallId, this.driver);
    const step = inStepId === undefined ? undefined : run.steps?.find(inStepId);
    if (step === undefined || (call !== undefined && step.inCallId !== inCallId)) return call;
    return handleOfStep(run, step, this.driver);
  }
}

/** Whether a call of this run has that key, or that ID, also if it has ended. */
export function hasCall<H>(run: Run<H>, inCallId: string): boolean {
  return run.calls.newestOf(inCallId) !== undefined || run.history.last(inCallId) !== undefined;
}

/** The span of a call of this run, derived if the call has ended: code that it left behind goes on, as a timer. */
function handleOfCall<H>(run: Run<H>, inCallId: string, driver: SpanDriver<H>): H | undefined {
  const open = run.calls.newestOf(inCallId);
  if (open !== undefined || run.handle === undefined) return open?.handle;
  const ended = run.history.last(inCallId);
  if (ended === undefined) return undefined;
  const spanId = run.ids.childSpanId("t", inCallId, ended.occurrence);
  return driver.derived(run.traceId, spanId, run.handle);
}

/** The span of a step of this run, derived if the step has ended. */
export function handleOfStep<H>(run: Run<H>, step: Step<H>, driver: SpanDriver<H>): H | undefined {
  if (step.handle !== undefined || run.handle === undefined) return step.handle;
  const spanId = run.ids.childSpanId("p", String(step.ordinal));
  return driver.derived(run.traceId, spanId, run.handle);
}
