import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";
import { EMPTY_THREAD, type RowAnchor } from "../../audit/door.ts";
import { type Instant, type RunEnd, tenantKey } from "../../events/door.ts";
import type { Run, RunObserver } from "../lifecycle/door.ts";
import { SpanHandle } from "../spans/span-handle.ts";
import type { SpanExports } from "./span-exports.ts";
import type { Epoch, InFlightSet } from "./store-flow.ts";

/** A row that an earlier process stored. Its position is looked up only if needed. */
interface Remembered {
  readonly resolve: (anchor: RowAnchor | Promise<RowAnchor>) => void;
  readonly find: () => Promise<RowAnchor>;
}

/** An open segment of a run. */
export class RunSegment {
  /** Offset of the run's first line, the highest that may be committed while the segment is open. */
  readonly first: number;
  /** Whether an earlier process stored all of it, so that it is not stored again. */
  readonly alreadyExported: boolean;
  /** The last stored row of each thread. */
  #remembered: Map<string, Remembered> | undefined;
  #isClosed = false;

  constructor(first: number, alreadyExported: boolean) {
    this.first = first;
    this.alreadyExported = alreadyExported;
  }

  /**
   * Records a row that is stored already. The span gets only the position of the last row, so earlier rows
   * resolve without one.
   *
   * @param repeated whether the event is a repeat. Its row is then the last one only if it is the only one.
   */
  remember(
    thread: string,
    repeated: boolean,
    find: () => Promise<RowAnchor>,
  ): Promise<RowAnchor> | undefined {
    // The row of the closing event. The span is stored already, and needs no position.
    if (this.#isClosed) return undefined;
    this.#remembered ??= new Map();
    const last = this.#remembered.get(thread);
    if (last !== undefined && repeated) return undefined;
    last?.resolve(EMPTY_THREAD);
    return new Promise((resolve) => {
      this.#remembered?.set(thread, { resolve, find });
    });
  }

  /** @param wanted whether its span will be stored, and needs the position of the last row. */
  close(wanted: boolean): void {
    this.#isClosed = true;
    for (const { find, resolve } of this.#remembered?.values() ?? []) {
      resolve(wanted ? find() : EMPTY_THREAD);
    }
    this.#remembered = undefined;
  }
}

/** A closed run whose span waits for its rows. */
interface Closing {
  readonly alreadyExported: boolean;
  readonly epoch: Epoch;
}

/**
 * Drops spans of replayed lines that an earlier process exported, and computes the low watermark: the lowest
 * offset that open runs need.
 */
export class ReplayFilter implements RunObserver, SpanProcessor {
  /** Offset of the current line. */
  #offset = 0;
  /** Whether spans and rows of the current line are stored already. */
  alreadyExported = false;
  readonly #from: number;
  readonly #exports: SpanExports;
  readonly #inFlight: InFlightSet;
  readonly #open = new Map<string, RunSegment>();
  /** Segments that the current line closed. Their last rows follow. */
  readonly #closed = new Map<string, RunSegment>();
  /** Span IDs of open runs that are exported already, and so are the spans of their calls. */
  readonly #exportedSpans = new Set<string>();
  /** By the context of the span, which is one object for a span, also if it is wrapped. */
  readonly #closing = new Map<unknown, Closing>();

  /** @param from segments that were opened before this offset have ended and are stored. */
  constructor(from: number, exports: SpanExports, inFlight: InFlightSet) {
    this.#from = from;
    this.#exports = exports;
    this.#inFlight = inFlight;
  }

  /** The lowest offset that an open run needs; `Infinity` if none is open. */
  get lowWatermark(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { first, alreadyExported } of this.#open.values()) {
      if (!alreadyExported && first < lowest) lowest = first;
    }
    return lowest;
  }

  /** Begins a line. @param alreadyExported whether its spans and rows are stored already. */
  beginLine(offset: number, alreadyExported: boolean): void {
    this.#offset = offset;
    this.alreadyExported = alreadyExported;
    if (this.#closed.size > 0) this.#closed.clear();
  }

  /** The run's segment that is open, or that this line closed. The case of a UUID does not matter. */
  segmentOf(tenantId: string, runId: string): RunSegment | undefined {
    const key = tenantKey(tenantId, runId);
    const known = this.#open.get(key) ?? this.#closed.get(key);
    if (known !== undefined) return known;
    const lower = tenantKey(tenantId, runId.toLowerCase());
    return this.#open.get(lower) ?? this.#closed.get(lower);
  }

  loopFound(): void {}

  runOpened(run: Run<unknown>): void {
    const { observed } = run;
    // A run that continues still needs its first lines.
    const first =
      observed instanceof RunSegment ? Math.min(observed.first, this.#offset) : this.#offset;
    const segment = new RunSegment(first, this.#offset < this.#from);
    run.observed = segment;
    this.#open.set(tenantKey(run.tenantId, run.runId), segment);
    if (segment.alreadyExported) this.#exportedSpans.add(run.spanId);
  }

  runClosed(run: Run<unknown>, _at: Instant, _end: RunEnd): void {
    const { handle, observed } = run;
    if (!(observed instanceof RunSegment)) return;
    const key = tenantKey(run.tenantId, run.runId);
    this.#open.delete(key);
    this.#closed.set(key, observed);
    if (observed.alreadyExported) this.#exportedSpans.delete(run.spanId);
    const alreadyExported = observed.alreadyExported || this.alreadyExported;
    if (handle instanceof SpanHandle && handle.recording) {
      this.#closing.set(handle.spanContext, { alreadyExported, epoch: this.#inFlight.begin() });
    }
    observed.close(!alreadyExported);
  }

  onEnd(span: ReadableSpan): void {
    const context = span.spanContext();
    const closing = this.#closing.get(context);
    if (closing === undefined) {
      const wanted = !this.alreadyExported && !this.#isExportedCall(span);
      if (wanted) this.#exports.add(span, this.#inFlight.begin());
      return;
    }
    this.#closing.delete(context);
    if (closing.alreadyExported) closing.epoch.end();
    else this.#exports.add(span, closing.epoch);
  }

  runNamed(): void {}

  runResumed(): void {}

  callDecided(): void {}

  callEnded(): void {}

  modelEnded(): void {}

  onStart(): void {}

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}

  #isExportedCall({ parentSpanContext }: ReadableSpan): boolean {
    if (this.#exportedSpans.size === 0 || parentSpanContext === undefined) return false;
    return this.#exportedSpans.has(parentSpanContext.spanId);
  }
}
