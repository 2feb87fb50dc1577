import { join } from "node:path";
import type { ViewRun, ViewSpan } from "../format.ts";
import { RunIndex } from "./run-index.ts";
import type { RunLog } from "./run-log.ts";
import { type SourcedSpan, SpanSpool } from "./span-spool.ts";
import { TextTable } from "./text-table.ts";

/** A span that has no end yet, read as it is now. */
export type OpenSpan = () => ViewSpan;

/**
 * Which spans of a run count where several sources have it: a recording has most, a log alone least.
 * 0 is that of a source whose spans were taken back.
 */
export const STANDING = { gone: 0, log: 1, spans: 2, recording: 3 } as const;

/** Everything that is known of runs: an index in memory, and their spans in a file. */
export class RunStore {
  index: RunIndex;
  readonly logs: RunLog[] = [];
  readonly #traces = new TextTable();
  readonly #spool: SpanSpool;
  /** Standing of each source. */
  readonly #sources: number[] = [];
  /** By source, and then by trace and span. */
  readonly #open: Map<string, OpenSpan>[] = [];
  /** Revision up to which lists must be read anew. */
  #rebuiltAt = 0;

  /** @param folder of the owner's alone, for the file of spans. */
  constructor(folder: string) {
    this.index = new RunIndex(this.#traces);
    this.#spool = new SpanSpool(join(folder, "spans.ndjson"), this.#traces);
  }

  /** Revision at which runs were last taken back. */
  get rebuiltAt(): number {
    return this.#rebuiltAt;
  }

  /** @returns the number of a new source. */
  addSource(standing: number): number {
    this.#open.push(new Map());
    return this.#sources.push(standing) - 1;
  }

  /** @returns the number of a new log. */
  addLog(log: RunLog): number {
    return this.logs.push(log) - 1;
  }

  /** Takes a span that has ended. */
  add(source: number, span: ViewSpan): void {
    if (this.#sources[source] === STANDING.gone) return;
    const counted = this.#open[source]?.delete(nameOf(span)) === true;
    this.#spool.add(span, source);
    this.index.addSpan(span, this.#sources[source] ?? STANDING.gone, counted);
  }

  /** Takes a span that has no end yet. */
  start(source: number, read: OpenSpan): void {
    if (this.#sources[source] === STANDING.gone) return;
    const span = read();
    this.#open[source]?.set(nameOf(span), read);
    this.index.addSpan(span, this.#sources[source] ?? STANDING.gone);
  }

  /** Takes back all that came from a source: it has other content now. Rows have to be given again, too. */
  forget(source: number): void {
    this.#sources[source] = STANDING.gone;
    this.#open[source]?.clear();
    const before = this.index;
    this.index = new RunIndex(this.#traces);
    this.index.revision = before.publish() + 1;
    this.#rebuiltAt = this.index.revision;
    for (const { source: from, span } of this.#spool.all()) {
      const standing = this.#sources[from] ?? STANDING.gone;
      if (standing > STANDING.gone) this.index.addSpan(span, standing);
    }
    for (const [from, spans] of this.#open.entries()) {
      for (const read of spans.values()) this.index.addSpan(read(), this.#sources[from] ?? 0);
    }
    this.index.touchAll();
  }

  /**
   * The spans of a trace, each once: of those that several sources have, that of the best one. Spans of a run that a
   * better source has are left out.
   */
  spansOf(traceId: string): ViewSpan[] {
    const found = this.#spool.read(traceId);
    for (const [source, spans] of this.#open.entries()) {
      for (const read of spans.values()) {
        const span = read();
        if (span.trace_id === traceId) found.push({ source, span });
      }
    }
    const best = new Map<string, SourcedSpan>();
    for (const each of found) {
      const standing = this.#sources[each.source] ?? STANDING.gone;
      if (standing === STANDING.gone || standing < this.#standingOf(each.span)) continue;
      const known = best.get(each.span.span_id);
      const other = known === undefined ? -1 : (this.#sources[known.source] ?? STANDING.gone);
      if (standing >= other) best.set(each.span.span_id, each);
    }
    return [...best.values()].map(({ span }) => span);
  }

  /** Ids of the spans of a trace that a source has given. */
  spanIdsOf(traceId: string, source: number): string[] {
    const own = this.#spool.read(traceId).filter((each) => each.source === source);
    return own.map(({ span }) => span.span_id);
  }

  /** The run of a row, its spans counted again where some may have come twice. */
  run(row: number): ViewRun {
    if (this.index.suspects.has(row)) this.#recount();
    return this.index.run(row);
  }

  /** Counts the spans of all such runs: many may be in one trace, which is read once. */
  #recount(): void {
    const { keys, suspects } = this.index;
    const counts = new Map([...suspects].map((row) => [row, 0]));
    const traces = new Set([...suspects].flatMap((row) => this.index.tracesOf(row)));
    for (const trace of traces) {
      for (const span of this.spansOf(trace)) {
        const row = span.run_id === undefined ? undefined : keys.find(tenantOf(span), span.run_id);
        const count = row === undefined ? undefined : counts.get(row);
        if (row !== undefined && count !== undefined) counts.set(row, count + 1);
      }
    }
    for (const [row, count] of counts) this.index.recount(row, count);
  }

  /** Writes what is held to be written in larger pieces. */
  flush(): void {
    this.#spool.flush();
  }

  /** Removes the file of spans. */
  close(): void {
    this.#spool.close();
  }

  #standingOf(span: ViewSpan): number {
    if (span.run_id === undefined) return STANDING.gone;
    const row = this.index.keys.find(tenantOf(span), span.run_id);
    return row === undefined ? STANDING.gone : this.index.spanStandingOf(row);
  }
}

/** Whose span it is; empty for one of others. */
export function tenantOf({ attributes }: ViewSpan): string {
  const tenant = attributes["entelix.tenant_id"];
  return typeof tenant === "string" ? tenant : "";
}

function nameOf({ span_id, trace_id }: ViewSpan): string {
  return `${trace_id}/${span_id}`;
}
