import type { ViewRun } from "../format.ts";
import { compareNs, msOf } from "./formats.ts";
import type { RunRow } from "./run-index.ts";
import { sumsOf } from "./run-sums.ts";
import { figuresText } from "./search-text.ts";

/**
 * The row of a run with the paused runs that it continues: outcome and answer of the newest run, the first question, all
 * decisions, and sums.
 *
 * @param runs at least one, of one tenant, in any order.
 */
export function storyRow(runs: readonly RunRow[]): RunRow {
  const [only] = runs;
  if (only !== undefined && runs.length === 1) return only;
  const byStart = [...runs].sort((one, other) => startOrder(one.run, other.run));
  // Clocks of two machines differ: the newest run is one that no other run continues.
  const continued = new Set(byStart.map(({ run }) => run.resumed_from));
  const newest = byStart.findLast(({ run }) => !continued.has(run.run_id)) ?? byStart.at(-1);
  if (newest === undefined) throw new RangeError("runs: expected at least one run");
  const run = joined(
    byStart.map((row) => row.run),
    newest.run,
  );
  return {
    id: newest.id,
    run,
    startMs: newest.startMs,
    text: newest.text,
    sums: figuresText(run),
    folded: { kind: "pauses", rows: byStart.filter((row) => row !== newest).reverse() },
  };
}

/** By the start of the runs. */
export function startOrder(one: ViewRun, other: ViewRun): number {
  return compareNs(one.start_ns, other.start_ns) || (one.key < other.key ? -1 : 1);
}

function joined(runs: readonly ViewRun[], newest: ViewRun): ViewRun {
  const named = <F extends "question" | "thread_id" | "user" | "session" | "model">(field: F) =>
    runs.find((run) => run[field] !== undefined)?.[field];
  const models = new Set(runs.flatMap((run) => run.models ?? run.model ?? []));
  const values = <F extends "tools" | "tags">(field: F) => {
    const all = new Set(runs.flatMap((run) => run[field] ?? []));
    return all.size === 0 ? undefined : [...all];
  };
  const decisions = runs.flatMap((run) => run.decisions ?? []);
  const { waiting_ms: _waiting, working_ms, ...sums } = sumsOf(runs);
  const waited = waitedMs(runs);
  return {
    ...newest,
    ...sums,
    question: named("question"),
    thread_id: newest.thread_id ?? named("thread_id"),
    user: newest.user ?? named("user"),
    session: newest.session ?? named("session"),
    model: newest.model ?? named("model"),
    models: models.size > 1 ? [...models] : undefined,
    tools: values("tools"),
    tags: values("tags"),
    ...(decisions.length > 0 ? { decisions } : {}),
    // Without an end, the newest run has no working time yet.
    ...(newest.working_ms === undefined || working_ms === undefined ? {} : { working_ms }),
    ...(waited > 0 ? { waiting_ms: waited } : {}),
  };
}

/** Waits in the runs and between them, in ms. A run knows the wait before it only if a decision says how long it was. */
function waitedMs(runs: readonly ViewRun[]): number {
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  let sum = 0;
  for (const run of runs) {
    const { resumed_from, waiting_ms = 0 } = run;
    const paused = resumed_from === undefined ? undefined : byId.get(resumed_from);
    const between =
      paused?.end_ns == null ? 0 : Math.max(msOf(run.start_ns) - msOf(paused.end_ns), 0);
    sum += Math.max(waiting_ms, between + waitedWithin(run));
  }
  return Math.round(sum * 1000) / 1000;
}

function waitedWithin({ end_ns, start_ns, working_ms }: ViewRun): number {
  if (end_ns === null || working_ms === undefined) return 0;
  return Math.max(msOf(end_ns) - msOf(start_ns) - working_ms, 0);
}
