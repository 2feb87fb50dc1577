import type { ViewDecision, ViewRun } from "../format.ts";
import { isSameDecision } from "./decisions.ts";
import { compareNs, msOf } from "./formats.ts";
import type { RunRow } from "./run-index.ts";
import { sumsOf } from "./run-sums.ts";
import { figuresText } from "./search-text.ts";
import { isWaiting } from "./story-words.ts";

/**
 * The row of a run with the paused runs that it continues: outcome and answer of the newest run, the first question, all
 * decisions, and sums. If a pause was resumed several times, a run that still waits for a person counts as the newest.
 *
 * @param runs at least one, of one tenant, in any order.
 */
export function storyRow(runs: readonly RunRow[]): RunRow {
  const [only] = runs;
  if (only !== undefined && runs.length === 1) return only;
  const byStart = [...runs].sort((one, other) => startOrder(one.run, other.run));
  // Clocks of two machines differ: the newest run is one that no other run continues.
  const continued = new Set(byStart.map(({ run }) => run.resumed_from));
  const last = byStart.filter(({ run }) => !continued.has(run.run_id));
  const newest = last.findLast(({ run }) => isWaiting(run)) ?? last.at(-1) ?? byStart.at(-1);
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
  const made = decisionsOf(runs);
  const decisions = runs.flatMap((run) => made.get(run) ?? []);
  const { waiting_ms: _waiting, working_ms, ...sums } = sumsOf(runs);
  const waited = waitedMs(runs, made);
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

/** The decisions of each run without those that one before it has: who resumes again says them again. */
function decisionsOf(runs: readonly ViewRun[]): ReadonlyMap<ViewRun, readonly ViewDecision[]> {
  const made = new Map<ViewRun, readonly ViewDecision[]>();
  const byTool = new Map<string, { of: ViewRun; decision: ViewDecision }[]>();
  for (const run of runs) {
    const own = (run.decisions ?? []).filter((decision) => {
      const { call_id, tool, wait_ms = 0 } = decision;
      const before = byTool.get(tool) ?? [];
      // A wait of the same ms tells more than an ID: each resumption may give the call another one. Without a wait, a
      // later pause may have a call with the same ID.
      const isRepeated = before.some(({ decision: one, of }) => {
        if (of === run) return false;
        if (wait_ms > 0)
          return one.wait_ms === wait_ms && isSameDecision({ ...one, call_id }, decision);
        return of.resumed_from === run.resumed_from && isSameDecision(one, decision);
      });
      if (!isRepeated) byTool.set(tool, [...before, { of: run, decision }]);
      return !isRepeated;
    });
    made.set(run, own);
  }
  return made;
}

/**
 * Waits in the runs and between them, in ms. A run knows the wait before it only if a decision says how long it was.
 *
 * @param made the decisions of each run that no run before it has.
 */
function waitedMs(
  runs: readonly ViewRun[],
  made: ReadonlyMap<ViewRun, readonly ViewDecision[]>,
): number {
  /** When the time began that a run has waited for its next resumption. */
  const since = new Map(runs.map(({ end_ns, run_id }) => [run_id, end_ns]));
  let sum = 0;
  for (const run of runs) {
    const { decisions = [], resumed_from = "", waiting_ms = 0 } = run;
    const paused = since.get(resumed_from);
    const between = paused == null ? 0 : Math.max(msOf(run.start_ns) - msOf(paused), 0);
    since.set(resumed_from, run.end_ns);
    const within = waitedWithin(run);
    const own = made.get(run) ?? [];
    const longest = own.reduce((most, { wait_ms = 0 }) => Math.max(most, wait_ms), 0);
    const known =
      own.length === decisions.length ? waiting_ms : Math.min(waiting_ms, within + longest);
    sum += Math.max(known, between + within);
  }
  return Math.round(sum * 1000) / 1000;
}

function waitedWithin({ end_ns, start_ns, working_ms }: ViewRun): number {
  if (end_ns === null || working_ms === undefined) return 0;
  return Math.max(msOf(end_ns) - msOf(start_ns) - working_ms, 0);
}
