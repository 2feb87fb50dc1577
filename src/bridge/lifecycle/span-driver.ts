import type {
  CallEnd,
  DecisionDetails,
  Instant,
  ModelEnd,
  ModelOpening,
  RunEnd,
  SpanAttributes,
  StepEnd,
} from "../../events/door.ts";
import type { RunMemory } from "./closed-runs.ts";
import type { Link } from "./parent-context.ts";
import type { Call, ModelCall, Step } from "./part.ts";
import type { Run } from "./run.ts";

/**
 * What the lifecycle calls to make spans. Each span it opens it closes exactly once.
 *
 * A driver must not throw. It may read the run and the call it is given, and must not change them.
 *
 * @typeParam H its handle of a span: kept with the run after the close, as the parent of late
 *   children, so it must become light then.
 */
export interface SpanDriver<H> extends RunMemory<H> {
  openRun(
    run: Run<H>,
    at: Instant,
    parent: H | undefined,
    links: readonly Link<H>[] | undefined,
  ): H;
  /** The `started` of a run that another event had to open: its name, its parent as a link. */
  completeRun(run: Run<H>, links: readonly Link<H>[]): void;
  /** What an open run was asked is known. */
  runAsked(run: Run<H>, asked: unknown): void;
  /** Whether anybody will see anything of the calls of a run that has just opened. */
  followsCalls(run: Run<H>): boolean;
  /** @param byEvent an event says so: its audit row may follow. */
  closeRun(run: Run<H>, at: Instant, end: RunEnd, byEvent: boolean): void;
  /**
   * @param step the span of the step that the call belongs to. Default: it stands under its run.
   * @returns `undefined` where the call gets no span, as in a run that is not sampled.
   */
  openCall(
    run: Run<H>,
    call: Call<H>,
    at: Instant,
    content: unknown,
    step: H | undefined,
  ): H | undefined;
  closeCall(run: Run<H>, call: Call<H>, at: Instant, end: CallEnd): void;
  openModelCall(
    run: Run<H>,
    call: ModelCall<H>,
    at: Instant,
    opening: ModelOpening,
    step: H | undefined,
  ): H | undefined;
  closeModelCall(run: Run<H>, call: ModelCall<H>, at: Instant, end: ModelEnd): void;
  /** @param parent the span of the step or call that it stands in. Default: it stands under its run. */
  openStep(
    run: Run<H>,
    step: Step<H>,
    at: Instant,
    content: unknown,
    parent: H | undefined,
  ): H | undefined;
  closeStep(run: Run<H>, step: Step<H>, at: Instant, end: StepEnd): void;
  /** More is known of something open. */
  addAttributes(handle: H, attributes: SpanAttributes): void;
  /** A point in the life of something open. */
  addEvent(
    run: Run<H>,
    handle: H,
    at: Instant,
    name: string,
    attributes: SpanAttributes | undefined,
  ): void;
  /**
   * A point in the run's life: an approval was given.
   *
   * @returns what the span of its call will say of it; `undefined` where nothing is known of the
   *   decision.
   */
  addApprovalEvent(
    run: Run<H>,
    at: Instant,
    callId: string,
    name: string,
    decision: DecisionDetails | undefined,
  ): SpanAttributes | undefined;
  /** A run that is open for long: something in the backend to find it by. */
  mark(run: Run<H>, at: Instant): void;
  /** The run was resumed from another one, which became known after its start. */
  linkResumed(run: Run<H>, link: Link<H>): void;
  /**
   * A handle for a span that is known by its ids alone.
   *
   * @param near a span of ours in the same trace: its sampling decision holds. It is what is
   *   returned where derived ids say nothing, since its own come from elsewhere.
   */
  derived(traceId: string, spanId: string, near?: H): H;
}
