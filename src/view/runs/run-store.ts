import { join } from "node:path";
import type { ViewRow, ViewRun, ViewSpan } from "../format.ts";
import type { CostEstimates } from "./estimates.ts";
import type { IndexedRun } from "./indexed-run.ts";
import { isOfOthers } from "./other-runs.ts";
import { tenantOf } from "./run-facts.ts";
import { RunIndex } from "./run-index.ts";
import type { RunIndexOptions } from "./run-index-options.ts";
import type { RunLog } from "./run-log.ts";
import { rowOf } from "./run-row.ts";
import { type SourcedSpan, SpanSpool } from "./span-spool.ts";
import { namesEnded, pausedBefore } from "./stories.ts";
import type { Trace } from "./traces.ts";

/** A span that has no end yet. */
export interface OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Reads the span as it is now. */
  readonly read: () => ViewSpan;
}

/** Spans and rows that were made of a recording. */
export interface MadeRuns {
  readonly spansOf: (traceId: string) => readonly ViewSpan[];
  readonly rowsOf: (run: IndexedRun) => readonly ViewRow[];
}

/** A source whose spans and rows are made when a run is opened. Only the index has them before. */
export interface RunMaker {
  /**
   * @param onProgress called with the share that is made, 0 to 1.
   * @returns `undefined` if it has none of the runs.
   */
  make(runs: ReadonlySet<IndexedRun>, onProgress: OnProgress): Promise<MadeRuns | undefined>;
}

type OnProgress = (share: number) => void;

/**
 * If several sources have a run, the spans of the source with the highest standing count: a recording has most, a log
 * least. `gone` is the standing of a source that was replaced.
 */
export const STANDING = { gone: 0, log: 1, spans: 2, recording: 3 } as const;

/** Part of the limit of the file that spans may have when some were left out. */
const KEPT = 0.75;

/** Pauses of a conversation through which its question is looked for. It also ends a ring. */
const MOST_PAUSES = 64;

export interface RunStoreOptions extends RunIndexOptions {
  /**
   * Bytes of the file of spans above which the older half of the runs is left out. If the others have more than three
   * quarters of it, the oldest spans of the longest traces are left out, too. Default: no limit.
   */
  readonly mostBytes?: number | undefined;
  /** Called with the number of spans that were left out of runs that are retained, each time it has grown. */
  readonly onSpansLeftOut?: ((spans: number) => void) | undefined;
}

/** The runs of all sources: an index in memory, and their spans in a file. */
export class RunStore {
  index: RunIndex;
  readonly logs: RunLog[] = [];
  /** Estimates costs that the senders do not say. */
  readonly estimates: CostEstimates | undefined;
  readonly #folder: string;
  readonly #options: RunStoreOptions;
  #spool: SpanSpool;
  #spools = 0;
  /** Standing of each source. */
  readonly #sources: number[] = [];
  /** Makers of the sources that have one, by source. */
  readonly #makers = new Map<number, RunMaker>();
  /** By source, and then by trace and span. */
  readonly #open: Map<string, OpenSpan>[] = [];
  /** Open spans that the index does not have, and their sources: most spans end before anyone looks. */
  readonly #unseen = new Map<OpenSpan, number>();
  #rebuiltAt = 0;
  readonly #mostBytes: number;
  #spansLeftOut = 0;

  /** @param folder for the file of spans; only its owner can read it. */
  constructor(folder: string, options: RunStoreOptions = {}) {
    this.#folder = folder;
    this.#options = options;
    this.estimates = options.estimates;
    this.#mostBytes = options.mostBytes ?? Number.POSITIVE_INFINITY;
    this.index = this.#newIndex();
    this.#spool = this.#newSpool();
  }

  /** Revision of the last rebuild. Lists of earlier revisions must be read anew. */
  get rebuiltAt(): number {
    return Math.max(this.#rebuiltAt, this.index.removedAt);
  }

  /**
   * @param maker of a source whose spans are not written to the file of spans.
   * @returns the number of a new source.
   */
  addSource(standing: number, maker?: RunMaker): number {
    this.#open.push(new Map());
    const source = this.#sources.push(standing) - 1;
    if (maker !== undefined) this.#makers.set(source, maker);
    return source;
  }

  /** @returns the number of a new log. */
  addLog(log: RunLog): number {
    return this.logs.push(log) - 1;
  }

  /** Takes a span that has ended. */
  add(source: number, span: ViewSpan): void {
    const standing = this.#standing(source);
    if (standing === STANDING.gone) return;
    const counted = this.#close(source, nameOf(span.trace_id, span.span_id));
    if (this.#makers.has(source)) {
      this.index.addSpan(span, standing, { source, counted, isMade: true });
      return;
    }
    this.#take(source, span, counted);
    if (this.#spool.bytes > this.#mostBytes) this.#leaveOutHalf();
  }

  /** Writes a span to the file, and adds it to the index. A span that came before counts once. */
  #take(source: number, span: ViewSpan, counted: boolean): void {
    const standing = this.#standing(source);
    const trace = this.index.traces.get(span.trace_id);
    const known = this.index.others.factsOf(trace).get(span.span_id);
    const isKnown = known !== undefined && known.end > 0n;
    if (isKnown && known.source === source) return;
    this.#spool.add(span, source, trace);
    if (isKnown && known.standing >= standing) return;
    this.index.addSpan(span, standing, { source, counted });
  }

  /** Takes a span that has no end yet. */
  start(source: number, span: OpenSpan): void {
    if (this.#standing(source) === STANDING.gone) return;
    this.#open[source]?.set(nameOf(span.traceId, span.spanId), span);
    this.#unseen.set(span, source);
  }

  /** Adds open spans to the index. Call it before the index is read. */
  look(): void {
    for (const [span, source] of this.#unseen) {
      this.#addOpen(span, source);
    }
    this.#unseen.clear();
    this.index.others.settle();
  }

  /** An open span has ended. @returns whether the index has counted it. */
  #close(source: number, name: string): boolean {
    const open = this.#open[source];
    const span = open?.get(name);
    if (span === undefined) return false;
    open?.delete(name);
    return !this.#unseen.delete(span);
  }

  /**
   * Removes everything of a source that was replaced. The index is rebuilt from the spans of the other sources, since
   * runs that were left out may be among the newest now. The caller must add all rows again.
   */
  forget(source: number): void {
    this.#sources[source] = STANDING.gone;
    this.#open[source]?.clear();
    this.#makers.delete(source);
    this.#unseen.clear();
    const revision = this.index.publish() + 1;
    this.index = this.#newIndex();
    this.index.revision = revision;
    this.#rebuiltAt = revision;
    const before = this.#spool;
    this.#spool = this.#newSpool();
    for (const { source: from, span } of before.all()) {
      const standing = this.#standing(from);
      if (standing !== STANDING.gone) this.#take(from, span, false);
    }
    before.close();
    for (const [from, spans] of this.#open.entries()) {
      for (const span of spans.values()) this.#addOpen(span, from);
    }
    this.index.touchAll();
  }

  #addOpen(span: OpenSpan, source: number): void {
    const isMade = this.#makers.has(source);
    this.index.addSpan(span.read(), this.#standing(source), { source, isMade });
  }

  /** Makes what the sources keep only as events. */
  async make(
    runs: ReadonlySet<IndexedRun>,
    onProgress: OnProgress = () => {},
  ): Promise<ReadonlyMap<number, MadeRuns>> {
    const made = new Map<number, MadeRuns>();
    for (const [source, maker] of this.#makers) {
      const found = await maker.make(runs, onProgress);
      if (found !== undefined) made.set(source, found);
    }
    return made;
  }

  /**
   * The spans of a trace, each once: that of the source with the highest standing, which is that of its run.
   *
   * @param made from {@link RunStore.make}.
   */
  spansOf(traceId: string, made: ReadonlyMap<number, MadeRuns> = new Map()): ViewSpan[] {
    const found = this.#spooled(traceId);
    for (const [source, { spansOf }] of made) {
      for (const span of spansOf(traceId)) found.push({ source, span });
    }
    for (const [source, spans] of this.#open.entries()) {
      for (const open of spans.values()) {
        if (open.traceId === traceId) found.push({ source, span: open.read() });
      }
    }
    const best = new Map<string, SourcedSpan>();
    for (const each of found) {
      const standing = this.#standing(each.source);
      const runStanding = this.runOf(each.span)?.spanStanding ?? STANDING.gone;
      if (standing === STANDING.gone || standing < runStanding) continue;
      const known = best.get(each.span.span_id);
      const other = known === undefined ? -1 : this.#standing(known.source);
      if (standing > other) best.set(each.span.span_id, each);
    }
    return [...best.values()].map(({ span }) => span);
  }

  /** IDs of the spans of a trace that came from a source. */
  spanIdsOf(traceId: string, source: number): string[] {
    const own = this.#spooled(traceId).filter((each) => each.source === source);
    return own.map(({ span }) => span.span_id);
  }

  /** The run of a span. */
  runOf(span: ViewSpan): IndexedRun | undefined {
    const tenant = isOfOthers(span) ? "" : tenantOf(span);
    return span.run_id === undefined ? undefined : this.index.find(tenant, span.run_id);
  }

  /** Whether the spans of a run are made when it is opened. A replay makes each span once. */
  isMade({ spanStanding }: IndexedRun): boolean {
    return spanStanding === STANDING.recording && this.#makers.size > 0;
  }

  /** A run as the list has it. */
  view(run: IndexedRun): ViewRun {
    const row = rowOf(run, this.estimates);
    if (namesEnded(this.index, run)) return { ...row, resumed_from: undefined };
    if (run.resumedFrom === undefined || row.question !== undefined) return row;
    return { ...row, question: this.#questionBefore(run) };
  }

  /** The question before the pauses that a run continues. */
  #questionBefore(run: IndexedRun): string | undefined {
    let paused = pausedBefore(this.index, run);
    for (let pauses = 0; paused !== undefined && pauses < MOST_PAUSES; pauses += 1) {
      if (paused.story.question !== undefined) return paused.story.question;
      paused = pausedBefore(this.index, paused);
    }
    return undefined;
  }

  /** Writes buffered spans to the file. */
  flush(): void {
    this.#spool.flush();
  }

  /** Removes the file of spans. */
  close(): void {
    this.#spool.close();
  }

  /** Leaves out the older half of the runs, and all spans without a run. */
  #leaveOutHalf(): void {
    this.index.leaveOutHalf();
    const before = this.#spool;
    this.#spool = this.#newSpool();
    // As bytes: parsing would take seconds, in which no sender is answered.
    const leftOut = before.copyTo(this.#spool, this.index.traces.ofRuns(), this.#mostBytes * KEPT);
    before.close();
    if (leftOut === 0) return;
    this.#spansLeftOut += leftOut;
    this.#options.onSpansLeftOut?.(this.#spansLeftOut);
  }

  #newIndex(): RunIndex {
    const readTrace = (trace: Trace) =>
      this.#spool.read(trace).flatMap(({ source, span }) => {
        const standing = this.#standing(source);
        return standing === STANDING.gone ? [] : [{ source, span, standing }];
      });
    return new RunIndex({ ...this.#options, readTrace });
  }

  #newSpool(): SpanSpool {
    this.#spools += 1;
    return new SpanSpool(join(this.#folder, `spans-${this.#spools}.ndjson`));
  }

  #spooled(traceId: string): SourcedSpan[] {
    const trace = this.index.traces.find(traceId);
    return trace === undefined ? [] : this.#spool.read(trace);
  }

  #standing(source: number): number {
    return this.#sources[source] ?? STANDING.gone;
  }
}

function nameOf(traceId: string, spanId: string): string {
  return `${traceId}/${spanId}`;
}
