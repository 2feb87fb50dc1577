import type { ViewSpan } from "../format.ts";
import { type IndexedRun, NO_USAGE } from "./indexed-run.ts";
import { type OtherRun, otherRunIn } from "./other-runs.ts";
import type { RunUsage } from "./run-facts.ts";
import { withOuterStory } from "./run-story.ts";
import { type Facts, type Origin, type OriginalSpan, TraceFacts } from "./span-facts.ts";
import type { Trace } from "./traces.ts";

/** What {@link OtherRuns} needs of the index. */
interface Index {
  /** Reads the spans of a trace that are in the file of spans. */
  readonly readTrace: (trace: Trace) => readonly OriginalSpan[];
  /** The run of other instrumentation in a trace. */
  readonly find: (trace: Trace) => IndexedRun | undefined;
  /** That run, a new one if there is none. `undefined` if it was left out. */
  readonly make: (trace: Trace, start: bigint) => IndexedRun | undefined;
  readonly remove: (trace: Trace) => void;
  readonly forgetSpans: (run: IndexedRun) => void;
  readonly addSpan: (run: IndexedRun, span: ViewSpan, trace: Trace) => void;
  readonly setUsage: (run: IndexedRun, usage: RunUsage) => void;
  readonly touch: (run: IndexedRun) => void;
}

/**
 * Runs of other instrumentation in the index. Sums of their spans are added as the spans come. What depends on the tree
 * of a trace, such as the outcome, is read from the facts of its spans when the index is read.
 */
export class OtherRuns {
  readonly #index: Index;
  readonly #facts: TraceFacts;
  /** Traces whose run may have changed. */
  readonly #unsettled = new Set<Trace>();

  constructor(index: Index) {
    this.#index = index;
    this.#facts = new TraceFacts(index.readTrace, (traces) => this.settle(traces));
  }

  /** The known facts of the spans of a trace. */
  factsOf(trace: Trace): Facts {
    return this.#facts.of(trace);
  }

  add(trace: Trace, span: ViewSpan, origin: Origin): void {
    this.#facts.add(trace, span, origin);
    this.#unsettled.add(trace);
  }

  /** Reads changed runs anew. Call it before the index is read. @param traces default: all. */
  settle(traces: Iterable<Trace> = this.#unsettled): void {
    for (const trace of traces) if (this.#unsettled.delete(trace)) this.#settle(trace);
  }

  #settle(trace: Trace): void {
    const run = this.#index.find(trace);
    const facts = this.#facts.known(trace);
    if (facts === undefined || (run === undefined && !trace.hasOwnRun)) return;
    const found = otherRunIn(facts, trace.hasOwnRun);
    if (found === undefined) {
      if (trace.hasOwnRun) this.#index.remove(trace);
    } else if (trace.hasOwnRun) this.#addBeside(trace, found);
    else if (run !== undefined) this.#set(run, found);
  }

  /** An agent of others is beside a run of this package, in the same trace. */
  #addBeside(trace: Trace, found: OtherRun): void {
    const run = this.#index.make(trace, found.start);
    if (run === undefined) return;
    this.#index.forgetSpans(run);
    const missing = new Set(found.spans);
    for (const { span, standing } of this.#index.readTrace(trace)) {
      if (!missing.delete(span.span_id)) continue;
      run.spanStanding = Math.max(run.spanStanding, standing);
      this.#index.addSpan(run, span, trace);
    }
    this.#set(run, found);
  }

  #set(run: IndexedRun, { end, failure, spans, start, outerStory, traits, usage }: OtherRun): void {
    run.start = start;
    run.end = end;
    run.traits = traits;
    run.spans = spans.size;
    run.firstFailure = failure;
    run.story = withOuterStory(run.story, outerStory);
    const hasCalls = !run.usage.whole && run.usage !== NO_USAGE;
    if (!hasCalls) this.#index.setUsage(run, usage ?? NO_USAGE);
    this.#index.touch(run);
  }
}
