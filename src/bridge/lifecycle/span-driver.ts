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
 * Makes spans for the lifecycle. The lifecycle closes every span that it opens exactly once.
 *
 * A driver must not throw, and must not change the run and the call that it gets.
 *
 * @typeParam H its handle of a span. The run keeps it after the close, as the parent of late children, so
 *   it must become small then.
 */
export interface SpanDriver<H> extends RunMemory<H> {
  openRun(
    run: Run<H>,
    at: Instant,
    parent: H | undefined,
    links: readonly Link<H>[] | undefined,
  ): H;
  /** Adds the data of a late `started`: the name, and the parent as a link. */
  completeRun(run: Run<H>, links: readonly Link<H>[]): void;
  /** Sets the input of an open run. */
  runAsked(run: Run<H>, asked: unknown): void;
  /** Whether anything uses the calls of a run that has just opened. */
  followsCalls(run: Run<H>): boolean;
  /** @param byEvent an event says so: its audit row may follow. */
  closeRun(run: Run<H>, at: Instant, end: RunEnd, byEvent: boolean): void;
  /**
   * @param step the parent: a step or a call. Default: the run.
   * @returns `undefined` if the call gets no span, for example in a run that is not sampled.
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
  /** @param parent a step or a call. Default: the run. */
  openStep(
    run: Run<H>,
    step: Step<H>,
    at: Instant,
    content: unknown,
    parent: H | undefined,
  ): H | undefined;
  closeStep(run: Run<H>, step: Step<H>, at: Instant, end: StepEnd): void;
  /** Adds attributes to an open span. */
  addAttributes(handle: H, attributes: SpanAttributes): void;
  /** Adds a span event to an open span. */
  addEvent(
    run: Run<H>,
    handle: H,
    at: Instant,
    name: string,
    attributes: SpanAttributes | undefined,
  ): void;
  /**
   * Adds the span event of an approval to the run.
   *
   * @returns attributes for the span of the approved call; `undefined` if the decision has no details.
   */
  addApprovalEvent(
    run: Run<H>,
    at: Instant,
    callId: string,
    name: string,
    decision: DecisionDetails | undefined,
  ): SpanAttributes | undefined;
  /** Exports a marker span, by which a long open run is found in the backend. */
  mark(run: Run<H>, at: Instant): void;
  /** Links a run to the one that it resumes, if that became known after the start. */
  linkResumed(run: Run<H>, link: Link<H>): void;
  /**
   * A handle for a span of which only the IDs are known.
   *
   * @param near a span of the bridge in the same trace, for its sampling decision. It is returned itself
   *   if its IDs are not derived, since the derived IDs are wrong then.
   */
  derived(traceId: string, spanId: string, near?: H): H;
}
