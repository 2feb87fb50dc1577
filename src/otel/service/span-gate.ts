import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-node";
import { tenantKey } from "../../events/agent-event.ts";
import type { Instant } from "../../events/instant.ts";
import type { Run } from "../../lifecycle/run.ts";
import type { RunObserver } from "../../lifecycle/run-observer.ts";
import type { RunEnd } from "../../lifecycle/signal.ts";
import { SpanHandle } from "../span-handle.ts";
import { Segment } from "./segment.ts";
import type { SpanExports } from "./span-exports.ts";
import type { Shift, Work } from "./work.ts";

/** A run that is over and whose span waits for its rows. */
interface Closing {
  readonly muted: boolean;
  readonly shift: Shift;
}

/**
 * Watches the runs of a lane: which line opened each, and which spans are stored, since an earlier
 * life of the lane has stored those of the lines before.
 */
export class SpanGate implements RunObserver, SpanProcessor {
  /** Offset of the line that is being played. */
  offset = 0;
  /** Whether all that comes of this line is stored already. */
  muted = false;
  readonly #from: number;
  readonly #exports: SpanExports;
  readonly #work: Work;
  readonly #open = new Map<string, Segment>();
  /** Spans of the open runs that are muted: those of their calls are muted too. */
  readonly #mutedSpans = new Set<string>();
  readonly #closing = new Map<unknown, Closing>();

  /** @param from segments that were opened by lines below it are over and stored. */
  constructor(from: number, exports: SpanExports, work: Work) {
    this.#from = from;
    this.#exports = exports;
    this.#work = work;
  }

  /** The lowest offset that an open run needs; `Infinity` where none is open. */
  get needed(): number {
    let needed = Number.POSITIVE_INFINITY;
    for (const { first, muted } of this.#open.values()) {
      if (!muted && first < needed) needed = first;
    }
    return needed;
  }

  /** The open segment of a run, by whichever letters its id has. */
  segmentOf(tenantId: string, runId: string): Segment | undefined {
    const known = this.#open.get(tenantKey(tenantId, runId));
    return known ?? this.#open.get(tenantKey(tenantId, runId.toLowerCase()));
  }

  runOpened(run: Run<unknown>): void {
    const { observed } = run;
    // A run that goes on still needs the lines that it began with.
    const first = observed instanceof Segment ? Math.min(observed.first, this.offset) : this.offset;
    const segment = new Segment(first, this.offset < this.#from);
    run.observed = segment;
    this.#open.set(tenantKey(run.tenantId, run.runId), segment);
    if (segment.muted) this.#mutedSpans.add(run.spanId);
  }

  runClosed(run: Run<unknown>, _at: Instant, _end: RunEnd): void {
    const { handle, observed } = run;
    if (!(observed instanceof Segment)) return;
    this.#open.delete(tenantKey(run.tenantId, run.runId));
    if (observed.muted) this.#mutedSpans.delete(run.spanId);
    const muted = observed.muted || this.muted;
    if (handle instanceof SpanHandle && handle.recording) {
      this.#closing.set(handle.span, { muted, shift: this.#work.begin() });
    }
    observed.close(!muted);
  }

  onEnd(span: ReadableSpan): void {
    const closing = this.#closing.get(span);
    if (closing === undefined) {
      if (!this.muted && !this.#isMutedCall(span)) this.#exports.add(span, this.#work.begin());
      return;
    }
    this.#closing.delete(span);
    if (closing.muted) closing.shift.end();
    else this.#exports.add(span, closing.shift);
  }

  runNamed(): void {}

  runResumed(): void {}

  callEnded(): void {}

  modelEnded(): void {}

  onStart(): void {}

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}

  #isMutedCall({ parentSpanContext }: ReadableSpan): boolean {
    if (this.#mutedSpans.size === 0 || parentSpanContext === undefined) return false;
    return this.#mutedSpans.has(parentSpanContext.spanId);
  }
}
