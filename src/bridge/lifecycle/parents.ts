import type { Counters } from "./counters.ts";
import type { Link, ParentContext } from "./parent-context.ts";
import type { Call } from "./part.ts";
import { handleOfStep } from "./part-keeper.ts";
import type { Run } from "./run.ts";
import type { RunTable } from "./run-table.ts";
import type { SpanDriver } from "./span-driver.ts";

/** Levels of known parents that are searched for the run itself. */
const DEEPEST = 256;
/** Number of the last calls of one ID that are searched for a given span ID. */
const MOST_NAMED = 64;

/**
 * Finds the parent of a run that starts. A parent run id is never dropped.
 *
 * The first of these that applies:
 *
 * 1. The parent run, open or closed and in memory, and in it the call that started the run.
 * 2. The context of the event or of an operator's resolver.
 * 3. IDs derived from the root run ID and the parent run ID.
 * 4. IDs of the parent as if it were a root. The parent counts as missing.
 *
 * @returns the parent's handle, or `undefined` for the root of a trace. It sets the run's trace, root and
 *   parent fields, and adds to `links`.
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
      // Parents in a circle: the last run becomes the root.
      if (parent.handle !== undefined) links.push({ kind: "late_parent", to: parent.handle });
      return undefined;
    }
    const foreign = runs.ownerOf(parentRunId)?.handle;
    if (foreign !== undefined) {
      // The parent belongs to another tenant. A trace of its own keeps the tenants apart.
      counters.tenantConflict(run.tenantId);
      links.push({ kind: "parent_of_other_tenant", to: foreign });
      return undefined;
    }
  }
  const rootRunId = rootOf(run, context, runs);
  const outer = context?.outerParent?.();
  // A run cannot be its own parent, even if the sender says so.
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
 * Links a run to the parent that its late `started` names. The span is open already, so it cannot get
 * another parent.
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
  const foreign = runs.ownerOf(parentRunId)?.handle;
  if (foreign !== undefined && parent === undefined) {
    counters.tenantConflict(run.tenantId);
    links.push({ kind: "parent_of_other_tenant", to: foreign });
    return;
  }
  const { ids } = runs.identify(run.tenantId, parentRunId);
  links.push({ kind: "late_parent", to: driver.derived(ids.traceId, ids.spanId) });
}

/** The root run ID that the event names, if it is not the run's own. */
function rootOf<H>(
  run: Run<H>,
  context: ParentContext<H> | undefined,
  runs: RunTable<H>,
): string | undefined {
  if (context?.rootRunId === undefined) return undefined;
  const rootRunId = runs.canonical(context.rootRunId);
  return rootRunId === run.runId ? undefined : rootRunId;
}

/** Whether `from` is a descendant of `run` and so cannot be its parent. */
function isBelow<H>(from: Run<H>, run: Run<H>, runs: RunTable<H>): boolean {
  if (from.traceId === run.ids.traceId) return true;
  let above: Run<H> | undefined = from;
  for (let level = 0; above?.parentRunId !== undefined && level < DEEPEST; level++) {
    if (above.parentRunId === run.runId) return true;
    // `parent` first: 256 lookups cost more than opening the run.
    above = above.parent ?? runs.find(run.tenantId, above.parentRunId);
  }
  return false;
}

/** Puts a run under a parent that was never seen, with IDs derived from the run IDs of parent and root. */
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
  // The parent has the run's own 16 bytes, or the root is below the run: the run itself is the root.
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
 * Whether a run without a parent resumes the paused root of its trace under another ID. It then counts as
 * a root.
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
 * Puts a run under a known parent run: under its call or step, the inner one if both are known. If neither
 * is known, under the parent's only open call, else under the parent.
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
  // Compared by ID, since a closed run that is looked up again is another object.
  const inParent = around?.run.runId === parent.runId && around.run.tenantId === parent.tenantId;
  const ambient = inParent ? around.call : undefined;
  const callId = ambient?.id ?? context?.parentCallId ?? undefined;
  if (callId !== undefined) {
    run.parentCallId = callId;
    run.parentCallKey = ambient === undefined ? context?.parentCallKey : ambient.key;
  }
  const step = run.parentStepId === undefined ? undefined : parent.steps?.find(run.parentStepId);
  // If the step is not in the call, the call is in the step.
  const isInStep = callId === undefined || step?.inCallId === (run.parentCallKey ?? callId);
  if (step !== undefined && isInStep) {
    return handleOfStep(parent, step, driver) ?? parent.handle;
  }
  if (callId !== undefined) {
    const call = ambient ?? namedCall(parent, callId, run.parentCallKey);
    const last = call?.occurrence ?? Math.max(parent.history.occurrences(callId), 1);
    const named = ambient === undefined ? context?.namedSpanId : undefined;
    const occurrence = named === undefined ? last : occurrenceOf(named, parent, callId, last);
    if (call?.handle !== undefined && occurrence === last) return call.handle;
    const spanId = parent.ids.childSpanId("t", callId, occurrence);
    return driver.derived(parent.traceId, spanId, parent.handle);
  }
  // The code that started the run may be outside the open call.
  const isInNone = context?.parentCallId === null || context?.namedSpanId === parent.spanId;
  if (isInNone) return parent.handle;
  const only = parent.calls.size === 1 ? parent.calls.oldest : undefined;
  if (only?.handle !== undefined) {
    run.parentInferred = true;
    return only.handle;
  }
  return parent.handle;
}

/** The call of that key. Without keys, the last one of that ID. */
function namedCall<H>(
  parent: Run<H>,
  callId: string,
  callKey: string | undefined,
): Call<H> | undefined {
  const last = parent.history.last(callId);
  if (last?.key === callKey) return last;
  return parent.calls.newestOf(callKey ?? callId) ?? last;
}

/**
 * The tree with open runs of the nearest ancestor of a closed run, which may wait for late children.
 * A restored closed run has no tree.
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

/** The occurrence of the call ID that has this span ID, else the last one. */
function occurrenceOf<H>(spanId: string, parent: Run<H>, callId: string, last: number): number {
  for (let each = last; each > 0 && each > last - MOST_NAMED; each--) {
    if (parent.ids.childSpanId("t", callId, each) === spanId) return each;
  }
  return last;
}
