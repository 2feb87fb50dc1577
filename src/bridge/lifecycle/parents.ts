import type { Counters } from "./counters.ts";
import type { Link, ParentContext } from "./parent-context.ts";
import { handleOfStep } from "./part-keeper.ts";
import type { Run } from "./run.ts";
import type { RunTable } from "./run-table.ts";
import type { SpanDriver } from "./span-driver.ts";

/** Levels of known parents that are searched for the run itself. */
const DEEPEST = 256;
/** Calls of one id, the last ones, that are looked through for the one that a sender names. */
const MOST_NAMED = 64;

/**
 * Finds the parent of a run that starts. A parent run id is never dropped.
 *
 * In this order: the parent run, open or remembered (there, the call that dispatched the run); the
 * context given with the event or by an operator's resolver; the ids that follow from the root's and
 * the parent's run id; the ids of the parent as if it were a root, marked as missing.
 *
 * @returns the parent's handle, or `undefined` for a run that is the root of its own trace. The
 *   run's own fields (trace, root, marks) are set; links are added to `links`.
 */
export function findParent<H>(
  run: Run<H>,
  context: ParentContext<H> | undefined,
  links: Link<H>[],
  runs: RunTable<H>,
  driver: SpanDriver<H>,
  counters: Counters,
): H | undefined {
  const { parentRunId } = run;
  if (parentRunId !== undefined) {
    const parent = runs.find(run.tenantId, parentRunId);
    if (parent !== undefined) {
      if (!isBelow(parent, run, runs)) return under(parent, run, context, runs, driver);
      // Spans in a circle can't be shown: the run that comes last is the top.
      if (parent.handle !== undefined) links.push({ kind: "late_parent", to: parent.handle });
      return undefined;
    }
    const stranger = runs.ownerOf(parentRunId)?.handle;
    if (stranger !== undefined) {
      // A parent in another tenant: a trace of its own, so that neither tenant sees the other's.
      counters.tenantConflict(run.tenantId);
      links.push({ kind: "parent_of_other_tenant", to: stranger });
      return undefined;
    }
  }
  const rootRunId = rootOf(run, context, runs);
  const outer = context?.outerParent?.();
  // Nobody is its own parent, whatever a sender says.
  if (outer !== undefined && outer.spanId !== run.ids.spanId) {
    if (!runs.isForeignTrace(run.tenantId, outer.traceId)) {
      run.traceId = outer.traceId;
      run.parentFromOutside = true;
      if (parentRunId !== undefined) {
        run.root = false;
        run.rootRunId = rootRunId ?? parentRunId;
      }
      return outer.handle;
    }
    counters.tenantConflict(run.tenantId);
    links.push({ kind: "parent_of_other_tenant", to: outer.handle });
    return undefined;
  }
  if (parentRunId === undefined && rootRunId === undefined) {
    if (context?.ambient !== undefined) links.push({ kind: "ambient", to: context.ambient });
    return undefined;
  }
  return byDerivation(run, rootRunId, context, runs, driver, counters);
}

/**
 * Links a run that another event had to open to the parent that its `started` names: a span can't
 * move to another parent.
 */
export function linkToLateParent<H>(
  run: Run<H>,
  parentRunId: string,
  context: ParentContext<H> | undefined,
  links: Link<H>[],
  runs: RunTable<H>,
  driver: SpanDriver<H>,
  counters: Counters,
): void {
  const parent = runs.find(run.tenantId, parentRunId);
  const rootRunId = rootOf(run, context, runs);
  if (parent !== undefined || rootRunId !== undefined) run.root = false;
  run.lateRootRunId =
    parent?.lateRootRunId ?? parent?.rootRunId ?? rootRunId ?? runs.canonical(parentRunId);
  if (parent?.handle !== undefined) {
    if (parent.handle !== run.parentHandle) links.push({ kind: "late_parent", to: parent.handle });
    return;
  }
  const stranger = runs.ownerOf(parentRunId)?.handle;
  if (stranger !== undefined && parent === undefined) {
    counters.tenantConflict(run.tenantId);
    links.push({ kind: "parent_of_other_tenant", to: stranger });
    return;
  }
  const { ids } = runs.identify(run.tenantId, parentRunId);
  links.push({ kind: "late_parent", to: driver.derived(ids.traceId, ids.spanId) });
}

/** The run at the top, where the event names one that is not the run itself. */
function rootOf<H>(
  run: Run<H>,
  context: ParentContext<H> | undefined,
  runs: RunTable<H>,
): string | undefined {
  if (context?.rootRunId === undefined) return undefined;
  const rootRunId = runs.canonical(context.rootRunId);
  return rootRunId === run.runId ? undefined : rootRunId;
}

/** Whether `from` is in the trace that `run` is to begin, or names it above: then it is no parent. */
function isBelow<H>(from: Run<H>, run: Run<H>, runs: RunTable<H>): boolean {
  if (from.traceId === run.ids.traceId) return true;
  let above: Run<H> | undefined = from;
  for (let level = 0; above?.parentRunId !== undefined && level < DEEPEST; level++) {
    if (above.parentRunId === run.runId) return true;
    // An open run has its parent at hand: looking up 256 of them cost more than opening the run.
    above = above.parent ?? runs.find(run.tenantId, above.parentRunId);
  }
  return false;
}

/** Under a parent that was never seen: its ids follow from its run id, its trace from the root's. */
function byDerivation<H>(
  run: Run<H>,
  rootRunId: string | undefined,
  context: ParentContext<H> | undefined,
  runs: RunTable<H>,
  driver: SpanDriver<H>,
  counters: Counters,
): H | undefined {
  const root = rootRunId === undefined ? undefined : runs.find(run.tenantId, rootRunId);
  const above = run.parentRunId ?? rootRunId ?? run.runId;
  const parentIds = runs.identify(run.tenantId, above).ids;
  // Another name for the same 16 bytes, or a root that stands below: the run itself is the top.
  if (parentIds.traceId === run.ids.traceId) return undefined;
  if (root !== undefined && isBelow(root, run, runs)) return undefined;
  run.rootRunId = root?.rootRunId ?? rootRunId ?? above;
  if (root !== undefined) {
    run.traceId = root.traceId;
    if (root.tree.first !== undefined) run.tree = root.tree;
  } else {
    run.traceId =
      rootRunId === undefined
        ? parentIds.traceId
        : runs.identify(run.tenantId, rootRunId).ids.traceId;
  }
  if (rootRunId === undefined) {
    run.parentMissing = true;
    counters.adjustments.missing_parents++;
  } else if (!continuesRoot(run, rootRunId, context, runs)) {
    run.root = false;
  }
  const callId = context?.parentCallId ?? undefined;
  run.parentCallId = callId;
  if (callId !== undefined) {
    return driver.derived(run.traceId, parentIds.childSpanId("t", callId), root?.handle);
  }
  if (run.parentRunId === undefined && root?.handle !== undefined) return root.handle;
  return driver.derived(run.traceId, parentIds.spanId, root?.handle);
}

/**
 * Whether a run without a parent goes on where the root of its trace was paused, under another id: then
 * it is what became of that root, and counts as one.
 */
function continuesRoot<H>(
  run: Run<H>,
  rootRunId: string,
  context: ParentContext<H> | undefined,
  runs: RunTable<H>,
): boolean {
  const resumed = context?.resumedFromRunId;
  return (
    run.parentRunId === undefined && resumed !== undefined && runs.canonical(resumed) === rootRunId
  );
}

/**
 * Under a parent run that is known: under its call or step, the inner one where both are known; where
 * nothing is, under its call if there is one.
 */
function under<H>(
  parent: Run<H>,
  run: Run<H>,
  context: ParentContext<H> | undefined,
  runs: RunTable<H>,
  driver: SpanDriver<H>,
): H | undefined {
  run.traceId = parent.traceId;
  run.root = false;
  run.rootRunId = parent.rootRunId;
  if (parent.open) {
    run.parent = parent;
    run.tree = parent.tree;
  } else {
    run.tree = openTree(parent, runs) ?? run.tree;
  }
  const around = context?.ambientCall;
  // By name, since a run that was closed and asked for again is another object.
  const inParent = around?.run.runId === parent.runId && around.run.tenantId === parent.tenantId;
  const ambient = inParent ? around.call : undefined;
  const callId = ambient?.id ?? context?.parentCallId ?? undefined;
  if (callId !== undefined) run.parentCallId = callId;
  const step = run.parentStepId === undefined ? undefined : parent.steps?.find(run.parentStepId);
  // A call that the step does not stand in stands in the step.
  if (step !== undefined && (callId === undefined || step.inCallId === callId)) {
    return handleOfStep(parent, step, driver) ?? parent.handle;
  }
  if (callId !== undefined) {
    const call = ambient ?? parent.history.last(callId);
    const last = call?.occurrence ?? Math.max(parent.history.occurrences(callId), 1);
    const named = ambient === undefined ? context?.namedSpanId : undefined;
    const occurrence = named === undefined ? last : occurrenceOf(named, parent, callId, last);
    if (call?.handle !== undefined && occurrence === last) return call.handle;
    const spanId = parent.ids.childSpanId("t", callId, occurrence);
    return driver.derived(parent.traceId, spanId, parent.handle);
  }
  // A call may be open beside the code that started the run.
  const isInNone = context?.parentCallId === null || context?.namedSpanId === parent.spanId;
  if (isInNone) return parent.handle;
  const only = parent.calls.size === 1 ? parent.calls.oldest : undefined;
  if (only?.handle !== undefined) {
    run.parentInferred = true;
    return only.handle;
  }
  return parent.handle;
}

/**
 * The tree of the nearest run, from a closed one up, that has open runs in it: a run above may wait for
 * what a closed one has left behind. What is kept of a run that is over does not name its tree.
 */
function openTree<H>(closed: Run<H>, runs: RunTable<H>): Run<H>["tree"] | undefined {
  let above: Run<H> | undefined = closed;
  for (let level = 0; above !== undefined && level < DEEPEST; level++) {
    if (above.tree.first !== undefined) return above.tree;
    const { parentRunId, tenantId }: Run<H> = above;
    above = parentRunId === undefined ? undefined : runs.find(tenantId, parentRunId);
  }
  return undefined;
}

/** Which of the calls of this id has that span; the last one where none has. */
function occurrenceOf<H>(spanId: string, parent: Run<H>, callId: string, last: number): number {
  for (let each = last; each > 0 && each > last - MOST_NAMED; each--) {
    if (parent.ids.childSpanId("t", callId, each) === spanId) return each;
  }
  return last;
}
