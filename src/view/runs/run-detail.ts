import {
  FORMAT,
  FORMAT_VERSION,
  type RelatedRun,
  type RunDetail,
  type ViewRow,
  type ViewSpan,
} from "../format.ts";
import { compareNs } from "../model/formats.ts";
import { partLines, type RunHead, withRowCount } from "../run-parts.ts";
import { withEstimates } from "./estimates.ts";
import { firstFailureOf } from "./first-failure.ts";
import { type RowRange, rowRange } from "./indexed-row.ts";
import { type IndexedRun, isKnown, tracesOf } from "./indexed-run.ts";
import { inOwnRuns, otherRunIn } from "./other-runs.ts";
import { Progress } from "./progress.ts";
import { tenantOf } from "./run-facts.ts";
import { isBefore } from "./run-log.ts";
import { traitsIn } from "./run-row.ts";
import type { RunStore } from "./run-store.ts";
import { childrenOf } from "./run-trees.ts";
import { factOf } from "./span-facts.ts";
import { hasEnded, namesEnded } from "./stories.ts";

/** Levels of child runs in a detail. */
export const DEEPEST_CHILD = 64;

interface DetailOptions {
  /** Whether spans and rows have content. */
  readonly content: boolean;
  /** Address of Jaeger's page. */
  readonly jaeger?: string | undefined;
}

/** A run without its spans and rows. */
type Head = Omit<RunDetail, "spans" | "rows">;

/** A run in parts: what the index knows at once, and the rest. */
export interface RunParts {
  readonly head: RunHead;
  /** The rest as lines of JSON, each a part. */
  lines(): AsyncIterable<string>;
}

/** Everything about a run. Its spans are read from the file of spans, its rows from the logs. */
export async function runDetail(
  store: RunStore,
  found: IndexedRun,
  options: DetailOptions,
): Promise<RunDetail> {
  const runs = withChildren(store, found);
  const head = headOf(store, found, runs, options);
  const { rows, spans } = await contentOf(store, found, runs, await store.make(runs));
  return { ...head, run: withRowCount(head.run, rows), spans, rows };
}

/** @param since the head says only that nothing has changed if the run did not change after this revision. */
export function runParts(
  store: RunStore,
  found: IndexedRun,
  options: DetailOptions & { readonly since?: number | undefined },
): RunParts {
  const runs = withChildren(store, found);
  const head = headOf(store, found, runs, options);
  let spanCount = 0;
  for (const { spans } of runs) spanCount += spans;
  const { since } = options;
  const unchanged = since !== undefined && !hasChanged(store, runs, since);
  return {
    head: { ...head, span_count: spanCount, ...(unchanged ? { unchanged } : {}) },
    async *lines() {
      if (unchanged) return;
      const making = new Progress();
      const made = store.make(runs, (share) => making.set(share));
      for await (const share of making.until(made)) yield `${JSON.stringify({ made: share })}\n`;
      const { rows, spans } = await contentOf(store, found, runs, await made);
      yield* partLines("spans", spans);
      yield* partLines("rows", rows);
      yield `${JSON.stringify({ end: true })}\n`;
    },
  };
}

function headOf(
  store: RunStore,
  found: IndexedRun,
  runs: ReadonlySet<IndexedRun>,
  { content, jaeger }: DetailOptions,
): Head {
  const range = rowRange(found);
  const log = range === undefined ? undefined : store.logs[range.log];
  const failure = firstFailureOf([...runs].map(({ firstFailure }) => firstFailure));
  const run = store.view(found);
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    revision: store.index.publish(),
    run,
    ...(failure === undefined ? {} : { first_failure: failure }),
    rows_from: log?.from ?? (store.isMade(found) ? "replay" : "none"),
    ...(log?.verdict === undefined ? {} : { verdict: log.verdict }),
    related: related(store, found),
    content,
    ...(jaeger === undefined ? {} : { trace_url: `${jaeger}/trace/${run.trace_id}` }),
  };
}

function hasChanged(store: RunStore, runs: ReadonlySet<IndexedRun>, since: number): boolean {
  if (store.rebuiltAt > since) return true;
  const isLater = ({ changedAt }: { readonly changedAt: number }) => changedAt > since;
  return [...runs].some((run) => isLater(run) || tracesOf(run).some(isLater));
}

/** The spans of a run and of everything under it, in the order of their start, and their rows. */
async function contentOf(
  store: RunStore,
  found: IndexedRun,
  known: ReadonlySet<IndexedRun>,
  made: Awaited<ReturnType<RunStore["make"]>>,
): Promise<Pick<RunDetail, "rows" | "spans">> {
  const traces = new Set([...known].flatMap(tracesOf));
  const ids = new Set([...known].map(({ run_id }) => run_id));
  const spans = [...traces].flatMap(({ hasOwnRun, id }) => {
    const all = store.spansOf(id, made);
    // A trace of others is one run.
    if (!hasOwnRun) return all;
    const isOther = found.run_id === id && found.tenant_id === "";
    return isOther ? besideOwn(all) : inOwnRuns(under(all, ids, found.tenant_id));
  });
  const runs = new Set(known);
  for (const span of spans) {
    const nested = store.runOf(span);
    if (nested !== undefined) runs.add(nested);
  }
  const rows = await rowsOf(store, runs);
  for (const run of runs) {
    if (rowRange(run) !== undefined) continue;
    for (const { rowsOf } of made.values()) for (const row of rowsOf(run)) rows.push(row);
  }
  const shown = estimatedSpans(store, found, spans);
  return { spans: [...shown].sort(byStart), rows: rows.sort(byPosition) };
}

/** The run of other instrumentation in a trace with a run of this package. */
function besideOwn(spans: readonly ViewSpan[]): readonly ViewSpan[] {
  const origin = { source: 0, standing: 0 };
  const facts = new Map(spans.map((span) => [span.span_id, factOf(span, origin)]));
  const run = otherRunIn(facts, true);
  return spans.filter(({ span_id }) => run?.spans.has(span_id) === true);
}

/** Where a sender says costs, estimates of other calls would not be in their sum. */
function estimatedSpans(
  store: RunStore,
  found: IndexedRun,
  spans: readonly ViewSpan[],
): readonly ViewSpan[] {
  const { cost_usd, estimated_by } = store.view(found);
  const isEstimated = cost_usd === undefined || estimated_by !== undefined;
  const { estimates } = store;
  return isEstimated && estimates !== undefined ? withEstimates(spans, estimates) : spans;
}

/** A run, and all below it. */
function withChildren({ index }: RunStore, run: IndexedRun): Set<IndexedRun> {
  const found = new Set([run]);
  let level = new Set([run]);
  for (let depth = 0; depth < DEEPEST_CHILD && level.size > 0; depth += 1) {
    if (![...level].some(({ childCount }) => childCount > 0)) break;
    const below = childrenOf(index.runs(), level).filter((each) => !found.has(each));
    for (const each of below) found.add(each);
    level = new Set(below);
  }
  return found;
}

/** The spans of some runs, and those under them. */
function under(spans: readonly ViewSpan[], runs: ReadonlySet<string>, tenant: string): ViewSpan[] {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const known = new Map<string, boolean>();
  const isIn = (span: ViewSpan): boolean => {
    const path: string[] = [];
    let found = false;
    for (let at: ViewSpan | undefined = span; at !== undefined; ) {
      const answer = known.get(at.span_id);
      if (answer !== undefined) found = answer;
      if (answer !== undefined || path.length > spans.length) break;
      path.push(at.span_id);
      found = at.run_id !== undefined && runs.has(at.run_id) && tenantOf(at) === tenant;
      if (found) break;
      at = at.parent_span_id === undefined ? undefined : byId.get(at.parent_span_id);
    }
    for (const id of path) known.set(id, found);
    return found;
  };
  return spans.filter(isIn);
}

/** Rows of some runs. Each log is read once. */
async function rowsOf({ logs }: RunStore, runs: ReadonlySet<IndexedRun>): Promise<ViewRow[]> {
  const asked = new Map<string, { range: RowRange; tenantId: string; runIds: Set<string> }>();
  for (const run of runs) {
    const range = rowRange(run);
    if (range === undefined) continue;
    const { run_id, tenant_id: tenantId } = run;
    const name = `${range.log} ${tenantId}`;
    const known = asked.get(name);
    asked.set(name, {
      range: known === undefined ? range : joined(known.range, range),
      tenantId,
      runIds: (known?.runIds ?? new Set()).add(run_id),
    });
  }
  const rows: ViewRow[] = [];
  for (const { range, runIds, tenantId } of asked.values()) {
    const { from, log, to } = range;
    const found = await logs[log]?.rows({ runIds, tenantId, from, to });
    for (const row of found ?? []) rows.push(row);
  }
  return rows;
}

function joined(one: RowRange, other: RowRange): RowRange {
  const isFirst = isBefore(one.from, other.from);
  const isLast = isBefore(other.to, one.to);
  return { log: one.log, from: isFirst ? one.from : other.from, to: isLast ? one.to : other.to };
}

function related({ index }: RunStore, run: IndexedRun): RelatedRun[] {
  const named = (relation: RelatedRun["relation"], run_id: string | undefined) => {
    if (run_id === undefined) return [];
    const found = relatedRun(relation, run_id, index.find(run.tenant_id, run_id));
    // Only that it is there: the rest is the other tenant's.
    const isOfOther = found.key === undefined && index.named(run_id).some(isKnown);
    return [isOfOther ? { ...found, other_tenant: true as const } : found];
  };
  const known = (relation: RelatedRun["relation"], runs: readonly IndexedRun[]) =>
    runs.map((each) => relatedRun(relation, each.run_id, each));
  return [
    ...named("parent", run.parentId),
    ...known("child", run.childCount === 0 ? [] : childrenOf(index.runs(), new Set([run]))),
    ...named("resumes", namesEnded(index, run) ? undefined : run.resumedFrom),
    ...known("resumed_by", hasEnded(run) ? [] : [...(run.resumedBy ?? [])]),
  ];
}

function relatedRun(
  relation: RelatedRun["relation"],
  run_id: string,
  run: IndexedRun | undefined,
): RelatedRun {
  if (run === undefined || !isKnown(run)) return { relation, run_id };
  const { agent, outcome } = traitsIn(run);
  return {
    relation,
    run_id,
    key: run.key,
    ...(agent === undefined ? {} : { agent }),
    outcome,
  };
}

function byStart(one: ViewSpan, other: ViewSpan): number {
  return compareNs(one.start_ns, other.start_ns) || (one.span_id < other.span_id ? -1 : 1);
}

function byPosition(one: ViewRow, other: ViewRow): number {
  if (one.tenant_id !== other.tenant_id) return one.tenant_id < other.tenant_id ? -1 : 1;
  if (one.thread_id !== other.thread_id) return one.thread_id < other.thread_id ? -1 : 1;
  return one.ordinal - other.ordinal;
}
