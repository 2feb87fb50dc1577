import type { Decimal } from "../../events/door.ts";
import type { ViewFailure, ViewStory } from "../format.ts";
import type { EstimatedCost } from "./estimates.ts";
import type { RunTraits, RunUsage, Wait } from "./run-facts.ts";
import type { RowPosition } from "./run-log.ts";
import type { Trace, Traces } from "./traces.ts";

/** Usage of the runs below a run. */
export interface Below {
  input: number | undefined;
  output: number | undefined;
  cost: Decimal | undefined;
}

/** Waits of a run that has not ended. */
export interface OpenWaits {
  /** Sum of the oldest waits, in ms. */
  olderMs: number;
  readonly byCall: Map<string, Wait>;
}

/** A run of the index. */
export interface IndexedRun {
  /** Its run ID; `tenant/run ID` if another tenant had the ID first, and for IDs with a slash. */
  readonly key: string;
  readonly run_id: string;
  readonly tenant_id: string;
  /** Time of the span, row or child run that first named it, Unix time in ns. Orders runs without spans. */
  readonly namedAt: bigint;
  /** Trace of its first span. */
  trace: Trace | undefined;
  /** Other traces with spans of the run. */
  moreTraces: Set<Trace> | undefined;
  /** From its spans. */
  traits: RunTraits | undefined;
  /** Unix times in ns; 0 if unknown. */
  start: bigint;
  end: bigint;
  /** When the last of its calls and steps after its end began; 0 if none is known. */
  lastStart: bigint;
  resumedFrom: string | undefined;
  /** Runs that continue it. `undefined`: none ever did. */
  resumedBy: Set<IndexedRun> | undefined;
  story: ViewStory;
  /** Of its own spans. */
  firstFailure: ViewFailure | undefined;
  parentId: string | undefined;
  /** `undefined` if it has no parent, or its parent was left out. */
  parent: IndexedRun | undefined;
  childCount: number;
  below: Below | undefined;
  /** The usage of all segments. */
  usage: RunUsage;
  /** Usage of whole trees before the last pause: a framework counts it anew after a pause. That of own calls goes on. */
  usageBefore: RunUsage;
  /** Estimates by a list of prices, of calls whose senders say no cost. */
  estimated: EstimatedCost | undefined;
  /** Waits of its ended segments, and pauses between them, in ms. */
  waitedMs: number;
  /** The wait before it, if it resumes another run, in ms. */
  waitedBeforeMs: number;
  waits: OpenWaits | undefined;
  spans: number;
  /** Standing of the source whose spans count. */
  spanStanding: number;
  rows: number;
  /** Standing of the log whose rows count; 0 without one. */
  rowStanding: number;
  /** Number of that log. */
  log: number;
  from: RowPosition;
  to: RowPosition;
  /** Revision of its last change. */
  changedAt: number;
  /** It is older than the runs of the list, and retained because the user asked for it. */
  isUnlisted: boolean;
}

export const NO_USAGE: RunUsage = {
  input: undefined,
  output: undefined,
  cost: undefined,
  whole: false,
};

const NO_STORY: ViewStory = {};
const START: RowPosition = { segment: 0, offset: 0 };

export function newRun({
  key,
  namedAt,
  run_id,
  tenant_id,
}: Pick<IndexedRun, "key" | "run_id" | "tenant_id" | "namedAt">): IndexedRun {
  // Without a spread, which would take 60 µs here.
  return {
    key,
    run_id,
    tenant_id,
    namedAt,
    trace: undefined,
    moreTraces: undefined,
    traits: undefined,
    start: 0n,
    end: 0n,
    lastStart: 0n,
    resumedFrom: undefined,
    resumedBy: undefined,
    story: NO_STORY,
    firstFailure: undefined,
    parentId: undefined,
    parent: undefined,
    childCount: 0,
    below: undefined,
    usage: NO_USAGE,
    usageBefore: NO_USAGE,
    estimated: undefined,
    waitedMs: 0,
    waitedBeforeMs: 0,
    waits: undefined,
    spans: 0,
    spanStanding: 0,
    rows: 0,
    rowStanding: 0,
    log: 0,
    from: START,
    to: START,
    changedAt: 0,
    isUnlisted: false,
  };
}

/** Removes the data of a run that its spans said, except its usage. */
export function clearSpans(run: IndexedRun): void {
  run.spans = 0;
  run.story = NO_STORY;
  run.firstFailure = undefined;
  run.traits = undefined;
  run.start = 0n;
  run.end = 0n;
  run.lastStart = 0n;
  run.waitedMs = 0;
  run.waitedBeforeMs = 0;
  run.usageBefore = NO_USAGE;
}

/** All traces with spans of a run. */
export function tracesOf({ moreTraces, trace }: IndexedRun): Trace[] {
  return trace === undefined ? [] : [trace, ...(moreTraces ?? [])];
}

/** Whether it has spans. Otherwise only rows and other runs name it, and the list does not have it. */
export function isKnown({ spans }: IndexedRun): boolean {
  return spans > 0;
}

/** Whether a run that paused, or was given up, works again under its own ID. Its span comes when it ends. */
export function goesOn({ end, lastStart, traits }: IndexedRun): boolean {
  const mayGoOn = traits?.outcome === "interrupted" || traits?.outcome === "abandoned";
  return mayGoOn && lastStart > end;
}

/** Takes a time at which a span of the run began, Unix time in ns. */
export function startAt(run: IndexedRun, start: bigint): void {
  if (run.start === 0n || start < run.start) run.start = start;
}

/** When it began, as far as it is known, Unix time in ns. */
export function beginOf({ namedAt, start }: IndexedRun): bigint {
  return start || namedAt;
}

export function byBegin(one: IndexedRun, other: IndexedRun): number {
  const [a, b] = [beginOf(one), beginOf(other)];
  return a < b ? -1 : Number(a > b);
}

/** Takes a trace that has spans of the run. */
export function addTrace(run: IndexedRun, trace: Trace, traces: Traces): void {
  if (run.trace === trace || run.moreTraces?.has(trace) === true) return;
  if (run.trace === undefined) run.trace = trace;
  else run.moreTraces = (run.moreTraces ?? new Set()).add(trace);
  traces.addRun(trace);
}

/** Tenant and run ID in one text. */
export function runName(tenantId: string, runId: string): string {
  return `${tenantId.length} ${tenantId}${runId}`;
}

/** Unix time in ms. */
export function msOfNs(ns: bigint): number {
  return Number(ns) / 1e6;
}
