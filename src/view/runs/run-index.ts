import type { ViewRun, ViewSpan } from "../format.ts";
import { textIn } from "../model/attributes.ts";
import { CountColumn, NumberColumn, WideColumn } from "./columns.ts";
import {
  decisionsOf,
  type RunTraits,
  type RunUsage,
  traitsOf,
  usageOf,
  waitsOf,
} from "./run-facts.ts";
import { RunKeys } from "./run-keys.ts";
import { RunTrees } from "./run-trees.ts";
import { TextTable } from "./text-table.ts";
import { Waits } from "./waits.ts";

/** Traits that are held as objects. */
const MOST_PARSED = 1_000;

/** Bits of a standing. */
const STANDING_BITS = 4;
const STANDING = 15;

/** Beside the standing: a run's usage is that of its whole tree. */
const WHOLE_USAGE = 16;

/** Where the audit rows of a run are: its log, and the places of its first row and behind its last one. */
export interface RowRange {
  /** Number of the log. */
  readonly log: number;
  readonly from: RowPlace;
  readonly to: RowPlace;
}

/** A place of a row in a log: segment and offset. Both are 0 in a database, which has an index of its own. */
export interface RowPlace {
  readonly segment: number;
  readonly offset: number;
}

/** Whether a place comes before another one of the same log. */
export function isBefore(one: RowPlace, other: RowPlace): boolean {
  return (
    one.segment < other.segment || (one.segment === other.segment && one.offset < other.offset)
  );
}

/** A segment has at most 2^40 bytes. */
const OFFSET_BITS = 40n;

/** A place as one number, in the same order. */
function packed({ offset, segment }: RowPlace): bigint {
  return (BigInt(segment) << OFFSET_BITS) | BigInt(offset);
}

function unpacked(place: bigint): RowPlace {
  const segment = place >> OFFSET_BITS;
  return { segment: Number(segment), offset: Number(place - (segment << OFFSET_BITS)) };
}

/** An audit row, as far as the list counts it. */
export interface IndexedRow {
  readonly tenant_id: string;
  readonly run_id: string;
  readonly log: number;
  /** Rows of a better log take the place of those that others have. */
  readonly standing: number;
  readonly from: RowPlace;
  readonly to: RowPlace;
}

/**
 * All runs in columns: some 200 bytes a run, outside of the heap. Spans and rows come in any order; of runs that several
 * sources have, the spans and rows of the source with the highest standing count.
 */
export class RunIndex {
  /** Counts changes: it is the same as long as nothing has changed. */
  revision = 0;
  /** Spans of others in traces without a run. */
  otherSpans = 0;
  readonly keys = new RunKeys();
  readonly trees = new RunTrees();
  /** Runs whose span came twice: the others may have, too. */
  readonly suspects = new Set<number>();
  readonly #traces: TextTable;
  readonly #words = new TextTable();
  readonly #waits = new Waits();
  /** Traits by their number: many runs have the same. */
  readonly #parsed = new Map<number, RunTraits>();
  readonly #traits = new CountColumn();
  readonly #trace = new CountColumn();
  readonly #resumed = new CountColumn();
  readonly #start = new WideColumn();
  readonly #end = new WideColumn();
  readonly #waited = new NumberColumn();
  readonly #input = new NumberColumn();
  readonly #output = new NumberColumn();
  readonly #cost = new CountColumn();
  readonly #spans = new CountColumn();
  /** Standing of the source of its spans, and {@link WHOLE_USAGE}. */
  readonly #spanSource = new CountColumn();
  readonly #rows = new CountColumn();
  /** Standing of its log, and its number. */
  readonly #rowSource = new CountColumn();
  /** Places of its first row and behind its last one. */
  readonly #from = new WideColumn();
  readonly #to = new WideColumn();
  readonly #changedAt = new CountColumn();
  /** Traces beyond the first of runs that have several. */
  readonly #moreTraces = new Map<number, Set<string>>();
  /** By trace: twice the number of its spans of others, and 1 where it has a run. */
  readonly #foreign = new CountColumn();

  /** @param traces numbers of trace ids. */
  constructor(traces: TextTable) {
    this.#traces = traces;
  }

  get size(): number {
    return this.keys.size;
  }

  /**
   * Takes a span.
   *
   * @param standing of its source.
   * @param counted whether it was counted before, as an open one.
   */
  addSpan(span: ViewSpan, standing: number, counted = false): void {
    const trace = this.#traces.idOf(span.trace_id);
    if (span.run_id === undefined) {
      if (!counted) this.#addForeign(trace);
      return;
    }
    const tenant = textIn(span.attributes, "entelix.tenant_id") ?? "";
    const row = this.keys.rowOf(tenant, span.run_id);
    const known = this.spanStandingOf(row);
    if (standing < known) return;
    if (standing > known) this.#forgetSpans(row, standing);
    const foreign = this.#foreign.get(trace);
    if (foreign % 2 === 0) {
      this.otherSpans -= foreign / 2;
      this.#foreign.set(trace, foreign + 1);
    }
    this.#placeIn(row, trace, span.trace_id);
    if (!counted) this.#spans.add(row, 1);
    this.#waits.add(row, waitsOf(span));
    for (const { at, callId } of decisionsOf(span)) this.#waits.decided(row, callId, at);
    if (span.kind === "run") this.#addRun(row, tenant, span);
    else {
      this.#startAt(row, span.start_ns);
      if (this.#traits.get(row) === 0) this.#setTraits(row, traitsOf(span));
    }
    this.touch(row);
  }

  /** @returns whether it counts: no better log has rows of its run. */
  addRow({ from, log, run_id, standing, tenant_id, to }: IndexedRow): boolean {
    const row = this.keys.rowOf(tenant_id, run_id);
    const known = this.rowStandingOf(row);
    const source = (log << STANDING_BITS) | standing;
    if (standing < known || (standing === known && this.#rowSource.get(row) !== source))
      return false;
    const isFirst = standing > known;
    if (isFirst) {
      this.#rowSource.set(row, source);
      this.#rows.set(row, 0);
    }
    const [begin, end] = [packed(from), packed(to)];
    if (isFirst || begin < this.#from.get(row)) this.#from.set(row, begin);
    if (isFirst || end > this.#to.get(row)) this.#to.set(row, end);
    this.#rows.add(row, 1);
    this.touch(row);
    return true;
  }

  /** Notes that a run has changed. */
  touch(row: number): void {
    this.#changedAt.set(row, this.revision + 1);
    this.#changed = true;
  }

  /** Notes that something else than a run has changed. */
  touchAll(): void {
    this.#changed = true;
  }

  #changed = false;

  /** The present revision: what changes from now on has a later one. */
  publish(): number {
    if (this.#changed) this.revision += 1;
    this.#changed = false;
    return this.revision;
  }

  /** Whether a run has changed since that revision, and is one that a list shows. */
  isListed(row: number, since: number): boolean {
    return this.#changedAt.get(row) > since && this.isKnown(row);
  }

  /** Puts the number of a run's spans right. */
  recount(row: number, spans: number): void {
    this.suspects.delete(row);
    if (this.#spans.get(row) !== spans) this.touch(row);
    this.#spans.set(row, spans);
  }

  /** Whether it has spans; else only others name it. */
  isKnown(row: number): boolean {
    return this.#spans.get(row) > 0;
  }

  run(row: number): ViewRun {
    const { run_id, tenant_id } = this.keys.idOf(row);
    const start = this.#start.get(row);
    const end = this.#end.get(row);
    const waiting = (this.#waited.get(row) ?? 0) + this.#waits.ms(row, msOf(end || start));
    const usage = this.trees.total(row, this.#usageOf(row));
    const parent = this.trees.parentOf(row);
    const working = Math.max(Math.round(Number(end - start) - waiting * 1e6) / 1e6, 0);
    return {
      key: this.keys.keyOf(row),
      run_id,
      ...this.traits(row),
      tenant_id,
      trace_id: this.#traces.text(this.#trace.get(row)),
      ...(parent === undefined ? {} : { parent_run_id: this.keys.idOf(parent).run_id }),
      ...(this.#resumed.get(row) > 0
        ? { resumed_from: this.keys.runIds.text(this.#resumed.get(row)) }
        : {}),
      start_ns: String(start),
      end_ns: end === 0n ? null : String(end),
      ...(end === 0n ? {} : { working_ms: working }),
      ...(waiting > 0 ? { waiting_ms: waiting } : {}),
      ...(usage.input === undefined ? {} : { input_tokens: usage.input }),
      ...(usage.output === undefined ? {} : { output_tokens: usage.output }),
      ...(usage.cost === undefined ? {} : { cost_usd: usage.cost }),
      spans: this.#spans.get(row),
      rows: this.#rows.get(row),
      child_runs: this.trees.childCount(row),
    };
  }

  traits(row: number): RunTraits {
    const id = this.#traits.get(row);
    if (id === 0) return { tenant_id: this.keys.idOf(row).tenant_id, outcome: "open" };
    const known = this.#parsed.get(id);
    if (known !== undefined) return known;
    const traits: RunTraits = JSON.parse(this.#words.text(id));
    if (this.#parsed.size >= MOST_PARSED) this.#parsed.clear();
    this.#parsed.set(id, traits);
    return traits;
  }

  startOf(row: number): bigint {
    return this.#start.get(row);
  }

  /** All traces that spans of a run are in. */
  tracesOf(row: number): string[] {
    return [this.#traces.text(this.#trace.get(row)), ...(this.#moreTraces.get(row) ?? [])];
  }

  /** Standing of the source whose spans of a run count. */
  spanStandingOf(row: number): number {
    return this.#spanSource.get(row) & STANDING;
  }

  /** Standing of the log whose rows of a run count; 0 without one. */
  rowStandingOf(row: number): number {
    return this.#rowSource.get(row) & STANDING;
  }

  rowRange(row: number): RowRange | undefined {
    if (this.#rows.get(row) === 0) return undefined;
    const [from, to] = [unpacked(this.#from.get(row)), unpacked(this.#to.get(row))];
    return { log: this.#rowSource.get(row) >>> STANDING_BITS, from, to };
  }

  /** Rows of the runs that continue this one. */
  resumedBy(row: number): number[] {
    const { run_id, tenant_id } = this.keys.idOf(row);
    const id = this.keys.runIds.find(run_id);
    const found: number[] = [];
    for (let other = 0; other < this.size; other += 1) {
      if (this.#resumed.get(other) !== id) continue;
      if (this.keys.idOf(other).tenant_id === tenant_id) found.push(other);
    }
    return found;
  }

  #addRun(row: number, tenant: string, span: ViewSpan): void {
    const { attributes } = span;
    const before =
      this.#start.get(row) === 0n || this.#traits.get(row) === 0 ? undefined : this.#end.get(row);
    const starts = BigInt(span.start_ns);
    const ends = span.end_ns === null ? 0n : BigInt(span.end_ns);
    if (before === ends && ends > 0n) this.suspects.add(row);
    const follows = before !== undefined && before > 0n && starts > before;
    // A pause between segments is a wait for people as well. The time after a segment that was given up may be work.
    const paused = follows && this.traits(row).outcome === "interrupted";
    if (paused) {
      this.#waited.set(row, (this.#waited.get(row) ?? 0) + Number(starts - before) / 1e6);
    }
    this.#startAt(row, span.start_ns);
    const resumed = textIn(attributes, "entelix.run.resumed_from");
    if (resumed !== undefined) this.#resumed.set(row, this.keys.runIds.idOf(resumed));
    const parent = textIn(attributes, "entelix.parent_run_id");
    const known = this.#usageOf(row);
    if (parent !== undefined) {
      const above = this.keys.rowOf(tenant, parent);
      if (this.trees.attach(row, above, known)) this.touch(above);
    }
    // An earlier segment that comes late says nothing new.
    if (before !== undefined && before > starts && span.end_ns !== null && ends < before) return;
    this.#setTraits(row, traitsOf(span));
    this.#end.set(row, ends);
    if (ends === 0n) return;
    this.#setUsage(row, known, usageOf(span));
    // A decision that took longer than the age limit began before this segment.
    const since = follows && !paused ? before : starts;
    const waited = this.#waits.end(row, msOf(since), msOf(ends), this.trees);
    if (waited > 0) this.#waited.set(row, (this.#waited.get(row) ?? 0) + waited);
  }

  #usageOf(row: number): RunUsage {
    const cost = this.#cost.get(row);
    return {
      input: this.#input.get(row),
      output: this.#output.get(row),
      cost: cost === 0 ? undefined : this.#words.text(cost),
      whole: (this.#spanSource.get(row) & WHOLE_USAGE) !== 0,
    };
  }

  #setUsage(row: number, known: RunUsage, usage: RunUsage): void {
    this.trees.changed(row, known, usage);
    this.#input.set(row, usage.input);
    this.#output.set(row, usage.output);
    this.#cost.set(row, usage.cost === undefined ? 0 : this.#words.idOf(usage.cost));
    this.#spanSource.set(row, this.spanStandingOf(row) | (usage.whole ? WHOLE_USAGE : 0));
    this.#touchAbove(row);
  }

  #touchAbove(row: number): void {
    let above = this.trees.parentOf(row);
    for (let level = 0; above !== undefined && level < 64; level += 1) {
      this.touch(above);
      above = this.trees.parentOf(above);
    }
  }

  #setTraits(row: number, traits: RunTraits): void {
    this.#traits.set(row, this.#words.idOf(JSON.stringify(traits)));
  }

  #startAt(row: number, start_ns: string): void {
    const start = BigInt(start_ns);
    const known = this.#start.get(row);
    if (known === 0n || start < known) this.#start.set(row, start);
  }

  #placeIn(row: number, trace: number, traceId: string): void {
    const first = this.#trace.get(row);
    if (first === 0) this.#trace.set(row, trace);
    if (first === 0 || first === trace) return;
    const more = this.#moreTraces.get(row) ?? new Set();
    this.#moreTraces.set(row, more.add(traceId));
  }

  #addForeign(trace: number): void {
    this.#foreign.add(trace, 2);
    if (this.#foreign.get(trace) % 2 === 0) this.otherSpans += 1;
    this.#changed = true;
  }

  /** Spans of a better source have come. */
  #forgetSpans(row: number, standing: number): void {
    this.#spanSource.set(row, standing);
    if (this.#spans.get(row) === 0) return;
    this.#spans.set(row, 0);
    this.#traits.set(row, 0);
    this.#start.set(row, 0n);
    this.#end.set(row, 0n);
    this.#waited.set(row, undefined);
    const nothing = { input: undefined, output: undefined, cost: undefined, whole: false };
    this.#setUsage(row, this.#usageOf(row), nothing);
  }
}

/** Unix time in ms of one in ns. */
function msOf(ns: bigint): number {
  return Number(ns) / 1e6;
}
