import {
  type CallCounts,
  type CallTrail,
  compareInstants,
  type Instant,
  type RunEnd,
  type RunIds,
  type SpanEventTarget,
  type SupposedEnd,
} from "../../events/door.ts";
import type { Approval, Approvals } from "./approvals.ts";
import { CallHistory } from "./call-history.ts";
import type { OwnUsage } from "./own-usage.ts";
import type { RunOwner } from "./parent-context.ts";
import type { Call, ModelCall, Step } from "./part.ts";
import { Parts } from "./parts.ts";
import type { Tree } from "./tree.ts";

/**
 * One run of one tenant: open, or closed and remembered.
 *
 * @typeParam H the driver's handle of a span.
 */
export class Run<H> {
  readonly tenantId: string;
  readonly runId: string;
  readonly ids: RunIds;
  /** Trace of the run: its own when it is a root, else its parent's. */
  traceId: string;
  agent: string | undefined = undefined;
  parentRunId: string | undefined = undefined;
  threadId: string | undefined = undefined;
  resumedFromRunId: string | undefined = undefined;
  /** Whose run it is. */
  owner: RunOwner | undefined = undefined;
  /** The run at the top, as far as it is known. */
  rootRunId: string;
  /** The same, where the parent became known after the start: the trace, and all IDs, stay what they are. */
  lateRootRunId: string | undefined = undefined;
  /** Counts as a root: it has no parent, or nobody vouched for it. */
  root = true;
  parentMissing = false;
  parentInferred = false;
  /** The parent came from outside: a `traceparent`, a resolver, the ambient span. */
  parentFromOutside = false;
  /** Tool-use id of the parent's call it sits under. */
  parentCallId: string | undefined = undefined;
  /** The parent's step that it belongs to, as its `started` says. */
  parentStepId: string | undefined = undefined;
  /** Opened by an event other than its `started`. */
  startUnseen = false;
  /** Number of the segment that is (or was last) open, from 1. */
  segment = 1;
  /** Whether that segment was opened by a `started`: only then is it known how long it took. */
  startSeen = false;
  /** What the segments before it did; `undefined` in the first. */
  before: CallCounts | undefined = undefined;
  /** Whatever the observer keeps with the run. */
  observed: unknown = undefined;

  open = true;
  /** How the last segment ended; `undefined` before the first end. */
  outcome: RunEnd["outcome"] | undefined = undefined;
  startedAt: Instant;
  /** Latest event time of the run and its direct children. */
  lastAt: Instant;
  handle: H | undefined = undefined;
  /** Parent of the segments to come. */
  parentHandle: H | undefined = undefined;
  /** Whether a marker was written; once a run, since its id is the run's. */
  marked = false;

  /** Whether its calls are followed: not where nobody would see anything of them. */
  followsCalls = true;
  #calls: Parts<Call<H>> | undefined = undefined;
  #history: CallHistory<H> | undefined = undefined;
  /** Its model calls. Created with the first one. */
  models: Parts<ModelCall<H>> | undefined = undefined;
  /** How many model calls there were. */
  modelCalls = 0;
  /** Its steps. Created with the first one. */
  steps: Parts<Step<H>> | undefined = undefined;
  /** How many steps there were. */
  stepCount = 0;
  /** What they used so far; made with the first end that says it. */
  used: OwnUsage | undefined = undefined;
  /** How it ended, if no activity follows: where its source has no other end. */
  mayEnd: ({ readonly at: Instant } & SupposedEnd) | undefined = undefined;
  /** Given up as ended, then, though its source had not said that it was over: it may go on later. */
  supposedAt: Instant | undefined = undefined;
  /** Approvals whose tool call has not started yet, and those that its calls wait for. */
  approvals: Approvals | undefined = undefined;
  /** The approval that came last, to recognise it when it is redelivered without an event id. */
  lastApproval: Approval | undefined = undefined;
  toolCalls = 0;
  toolErrors = 0;
  approvedCalls = 0;
  deniedCalls = 0;
  /** What its tool calls show together, in the segment that is or was last open. */
  callTrail: CallTrail = undefined;

  tree: Tree<H>;
  /** Neighbours in the tree's list of open runs, least recently active first. */
  previous: Run<H> | undefined = undefined;
  next: Run<H> | undefined = undefined;
  openChildren = 0;
  parent: Run<H> | undefined = undefined;

  constructor(tenantId: string, runId: string, ids: RunIds, at: Instant, tree: Tree<H>) {
    this.tenantId = tenantId;
    this.runId = runId;
    this.ids = ids;
    this.traceId = ids.traceId;
    this.rootRunId = runId;
    this.startedAt = at;
    this.lastAt = at;
    this.tree = tree;
  }

  /** Its open calls; made when first asked for, since a run may have none that are followed. */
  get calls(): Parts<Call<H>> {
    this.#calls ??= new Parts<Call<H>>();
    return this.#calls;
  }

  /** The calls it had. */
  get history(): CallHistory<H> {
    this.#history ??= new CallHistory<H>();
    return this.#history;
  }

  /** Span id of the open (or last) segment. */
  get spanId(): string {
    return this.segment === 1 ? this.ids.spanId : this.ids.childSpanId("s", String(this.segment));
  }
}

/** The span that an event stands on; the run's where that is not open. */
export function handleOn<H>(run: Run<H>, target: SpanEventTarget): H | undefined {
  if (target === "run") return run.handle;
  if (target === "model") return run.models?.newestOf("")?.handle ?? run.handle;
  return run.calls.newestOf(target.callId)?.handle ?? run.handle;
}

/** How many of them the run's segment made, that is or was last open. */
export function inSegment<H>(run: Run<H>, count: keyof CallCounts): number {
  return run[count] - (run.before?.[count] ?? 0);
}

/** Whether a `started` at that time opens the next segment of a run that is not open. */
export function startsAgain<H>({ outcome, startedAt }: Run<H>, at: Instant): boolean {
  const continues = outcome === "interrupted" || outcome === "abandoned";
  return continues && compareInstants(at, startedAt) > 0;
}

/** The run goes on: what looked like its end was none. */
export function goesOn<H>(run: Run<H>): void {
  if (run.mayEnd !== undefined) run.mayEnd = undefined;
}
