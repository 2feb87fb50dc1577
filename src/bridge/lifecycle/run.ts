import {
  type CallCounts,
  type CallTrail,
  compareInstants,
  type Instant,
  type RunEnd,
  type RunIds,
  type RunOperation,
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
 * A run of a tenant: open, or closed and in memory.
 *
 * @typeParam H the driver's handle of a span.
 */
export class Run<H> {
  readonly tenantId: string;
  readonly runId: string;
  readonly ids: RunIds;
  /** Trace of the run: its own for a root, else its parent's. */
  traceId: string;
  agent: string | undefined = undefined;
  operation: RunOperation = "invoke_agent";
  parentRunId: string | undefined = undefined;
  threadId: string | undefined = undefined;
  resumedFromRunId: string | undefined = undefined;
  /** User, session, tags and metadata of the run. */
  owner: RunOwner | undefined = undefined;
  /** The root run, as far as it is known. */
  rootRunId: string;
  /** The root run if the parent became known after the start. Trace and IDs do not change then. */
  lateRootRunId: string | undefined = undefined;
  /** Whether it counts as a root: it has no parent, or the parent is not confirmed. */
  root = true;
  parentMissing = false;
  parentInferred = false;
  /** Whether the parent comes from a `traceparent`, a resolver or the ambient span. */
  parentFromOutside = false;
  /** Tool-use ID of the parent's call above it. */
  parentCallId: string | undefined = undefined;
  /** The key of that call, if it has one. */
  parentCallKey: string | undefined = undefined;
  /** The parent's step above it, from its `started`. */
  parentStepId: string | undefined = undefined;
  /** Whether an event other than its `started` opened it. */
  startUnseen = false;
  /** Number of the current or last segment, from 1. */
  segment = 1;
  /** Whether a `started` opened the segment. Only then is its duration known. */
  startSeen = false;
  /** Counts at the start of the segment; `undefined` in the first. */
  before: CallCounts | undefined = undefined;
  /** Data of the observer. */
  observed: unknown = undefined;

  open = true;
  /** How the last segment ended; `undefined` before the first end. */
  outcome: RunEnd["outcome"] | undefined = undefined;
  startedAt: Instant;
  /** Latest event time of the run and its direct children. */
  lastAt: Instant;
  handle: H | undefined = undefined;
  /** Parent of all segments. */
  parentHandle: H | undefined = undefined;
  /** Whether a marker was written. A run gets only one, since the marker's ID is derived from the run's. */
  marked = false;

  /** Whether its calls are followed. They are not if nothing uses them. */
  followsCalls = true;
  #calls: Parts<Call<H>> | undefined = undefined;
  #history: CallHistory<H> | undefined = undefined;
  /** Its model calls. Created with the first one. */
  models: Parts<ModelCall<H>> | undefined = undefined;
  /** How many model calls there were. */
  modelCalls = 0;
  /** How many of the current or last segment were for an answer, not for embeddings. */
  inferences = 0;
  /** Its steps. Created with the first one. */
  steps: Parts<Step<H>> | undefined = undefined;
  /** How many steps there were. */
  stepCount = 0;
  /** Usage of the model calls so far. Created with the first one that reports it. */
  used: OwnUsage | undefined = undefined;
  /** The end of the run if no activity follows. For sources without an event for the end. */
  mayEnd: ({ readonly at: Instant } & SupposedEnd) | undefined = undefined;
  /** Time of a presumed end. The run can continue later. */
  supposedAt: Instant | undefined = undefined;
  /** Approvals without a started call, and open requests for approval. */
  approvals: Approvals | undefined = undefined;
  /** The last approval, for detecting a redelivery without an event ID. */
  lastApproval: Approval | undefined = undefined;
  /** The agent's own calls, without those that the code of a call makes. */
  toolCalls = 0;
  toolErrors = 0;
  approvedCalls = 0;
  deniedCalls = 0;
  /** The tool calls of the current or last segment, for detecting loops. */
  callTrail: CallTrail = undefined;

  tree: Tree<H>;
  /** Neighbors in the tree's list of open runs, least recently active first. */
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

  /** Its open tool calls. Created on first access, since a run may have none. */
  get calls(): Parts<Call<H>> {
    this.#calls ??= new Parts<Call<H>>();
    return this.#calls;
  }

  /** The tool calls it had. */
  get history(): CallHistory<H> {
    this.#history ??= new CallHistory<H>();
    return this.#history;
  }

  /** Span ID of the current or last segment. */
  get spanId(): string {
    return this.segment === 1 ? this.ids.spanId : this.ids.childSpanId("s", String(this.segment));
  }
}

/** The span of an event: its target if that is open, else the run's. */
export function handleOn<H>(run: Run<H>, target: SpanEventTarget): H | undefined {
  if (target === "run") return run.handle;
  if (target === "model") return run.models?.newestOf("")?.handle ?? run.handle;
  return run.calls.newestOf(target.callId)?.handle ?? run.handle;
}

/** A count of the run's current or last segment. */
export function inSegment<H>(run: Run<H>, count: keyof CallCounts): number {
  return run[count] - (run.before?.[count] ?? 0);
}

/** Whether a `started` at this time opens the next segment of a closed run. */
export function startsAgain<H>({ outcome, startedAt }: Run<H>, at: Instant): boolean {
  const canContinue = outcome === "interrupted" || outcome === "abandoned";
  return canContinue && compareInstants(at, startedAt) > 0;
}

/** The run continues, so its presumed end is dropped. */
export function dropPresumedEnd<H>(run: Run<H>): void {
  if (run.mayEnd !== undefined) run.mayEnd = undefined;
}
