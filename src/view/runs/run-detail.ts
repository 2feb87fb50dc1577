import {
  FORMAT,
  FORMAT_VERSION,
  type RelatedRun,
  type RunDetail,
  type ViewRow,
  type ViewSpan,
} from "../format.ts";
import { isBefore, type RowRange } from "./run-index.ts";
import { type RunStore, tenantOf } from "./run-store.ts";

/** Levels of child runs that are looked for. */
export const DEEPEST_CHILD = 64;

interface DetailOptions {
  /** Whether spans and rows have their content. */
  readonly content: boolean;
  /** Address of Jaeger's page. */
  readonly jaeger?: string | undefined;
}

/** Everything about a run: read again from where it is. */
export async function runDetail(
  store: RunStore,
  row: number,
  { content, jaeger }: DetailOptions,
): Promise<RunDetail> {
  const { index } = store;
  const runs = withChildren(store, row);
  const { tenant_id } = index.keys.idOf(row);
  const traces = new Set([...runs].flatMap((each) => index.tracesOf(each)));
  const ids = new Set([...runs].map((each) => index.keys.idOf(each).run_id));
  const spans = [...traces].flatMap((trace) => under(store.spansOf(trace), ids, tenant_id));
  const range = index.rowRange(row);
  const log = range === undefined ? undefined : store.logs[range.log];
  for (const span of spans) {
    const nested =
      span.run_id === undefined ? undefined : index.keys.find(tenantOf(span), span.run_id);
    if (nested !== undefined) runs.add(nested);
  }
  const rows = await rowsOf(store, runs);
  const run = store.run(row);
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    revision: index.publish(),
    run,
    spans: spans.sort(byStart),
    rows: rows.sort(byPlace),
    rows_from: rows.length === 0 ? "none" : (log?.from ?? "none"),
    ...(log?.verdict === undefined ? {} : { verdict: log.verdict }),
    related: related(store, row),
    content,
    ...(jaeger === undefined ? {} : { trace_url: `${jaeger}/trace/${run.trace_id}` }),
  };
}

/** A run, and all below it. */
function withChildren({ index }: RunStore, row: number): Set<number> {
  const found = new Set([row]);
  let level = new Set([row]);
  for (let depth = 0; depth < DEEPEST_CHILD && level.size > 0; depth += 1) {
    if (![...level].some((each) => index.trees.childCount(each) > 0)) break;
    const below = index.trees.childrenOf(level, index.size).filter((each) => !found.has(each));
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

/** Rows of some runs, each log asked once. */
async function rowsOf({ index, logs }: RunStore, runs: ReadonlySet<number>): Promise<ViewRow[]> {
  const asked = new Map<string, { range: RowRange; tenantId: string; runIds: Set<string> }>();
  for (const row of runs) {
    const range = index.rowRange(row);
    if (range === undefined) continue;
    const { run_id, tenant_id: tenantId } = index.keys.idOf(row);
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

function related({ index }: RunStore, row: number): RelatedRun[] {
  const { keys, trees } = index;
  const { tenant_id } = keys.idOf(row);
  const run = index.run(row);
  const named = (relation: RelatedRun["relation"], run_id: string | undefined) =>
    run_id === undefined ? [] : [relatedRun(relation, run_id, keys.find(tenant_id, run_id))];
  const known = (relation: RelatedRun["relation"], rows: readonly number[]) =>
    rows.map((each) => relatedRun(relation, keys.idOf(each).run_id, each));
  const relatedRun = (
    relation: RelatedRun["relation"],
    run_id: string,
    found: number | undefined,
  ): RelatedRun => {
    if (found === undefined || !index.isKnown(found)) return { relation, run_id };
    const { agent, outcome } = index.traits(found);
    return {
      relation,
      run_id,
      key: keys.keyOf(found),
      ...(agent === undefined ? {} : { agent }),
      outcome,
    };
  };
  const children = trees.childCount(row) === 0 ? [] : trees.childrenOf(new Set([row]), index.size);
  return [
    ...named("parent", run.parent_run_id),
    ...known("child", children),
    ...named("resumes", run.resumed_from),
    ...known("resumed_by", index.resumedBy(row)),
  ];
}

function byStart(one: ViewSpan, other: ViewSpan): number {
  const [a, b] = [one.start_ns, other.start_ns];
  // Decimal texts: the longer one is the later one.
  return (
    a.length - b.length || (a < b ? -1 : Number(a > b)) || (one.span_id < other.span_id ? -1 : 1)
  );
}

function byPlace(one: ViewRow, other: ViewRow): number {
  if (one.tenant_id !== other.tenant_id) return one.tenant_id < other.tenant_id ? -1 : 1;
  if (one.thread_id !== other.thread_id) return one.thread_id < other.thread_id ? -1 : 1;
  return one.ordinal - other.ordinal;
}
