import { type Instant, sourceMoment } from "../../events/door.ts";
import { UsageTotals } from "../core/usage-totals.ts";
import type { ActiveRun } from "../runtime/active-run.ts";
import type { SubjectFields } from "../runtime/run-subject.ts";
import type { PausedRun } from "./pauses.ts";
import type { PendingReviews } from "./pending-reviews.ts";
import type { ToolScope } from "./scope.ts";

/** What a graph said of its pause. */
export interface Pause {
  /** LangGraph's own word, such as `interrupt_before`; older versions say nothing. */
  readonly status: string | undefined;
  /** Content: LangGraph's interrupts, `{id, value}` each. */
  readonly interrupts: readonly unknown[];
  /** Where the thread stands then; older versions do not say. */
  readonly checkpointId?: string | undefined;
}

export interface RunFields {
  readonly id: string;
  readonly rootId: string;
  readonly tenant: string;
  readonly threadId: string | undefined;
  /** Whose run it is. */
  readonly subject: SubjectFields | undefined;
  /** The run that the code around LangChain's call belonged to, where that was one of ours. */
  readonly outerId: string | undefined;
  /** Whether no run of ours is above it, in LangChain or outside. */
  readonly root: boolean;
  readonly graph: boolean;
  /** Whether it, or a run above it in LangChain, is a graph. */
  readonly inGraph: boolean;
  /** Shared with the runs above it in LangChain. */
  readonly totals: UsageTotals;
}

/** A run that calls of tools and models belong to. */
export class RunState {
  readonly id: string;
  readonly rootId: string;
  readonly tenant: string;
  readonly threadId: string | undefined;
  readonly subject: SubjectFields | undefined;
  readonly outerId: string | undefined;
  readonly root: boolean;
  readonly graph: boolean;
  readonly inGraph: boolean;
  readonly totals: UsageTotals;
  /** Its start, among what errors come out of. */
  readonly since = sourceMoment();
  /** After its end nothing more of it is sent. */
  ended = false;
  pause: Pause | undefined = undefined;
  /** What its metadata calls its agent, or one above it. */
  namedAgent: string | undefined = undefined;
  /** The paused run that it goes on from. */
  resumes: PausedRun | undefined = undefined;
  /** From 2, where it goes on from a pause under its own id. */
  part = 1;
  /** What was thrown below it last: its own error may say less. */
  lastError: unknown = undefined;
  /** A node of the graph was called off, and nothing has begun since. */
  calledOff: { readonly thrown: unknown; readonly at: Instant } | undefined = undefined;
  /** The graph's step, and its node where the step has only one. */
  step: unknown = undefined;
  node: string | undefined = undefined;
  /** Its tool calls that have not ended. */
  readonly openTools = new Set<ToolScope>();
  /** The graph that it was started in, as its node or in one. */
  outerGraph: RunState | undefined = undefined;
  /** Of a graph: the graphs in it that have not ended. Made for the first. */
  openRuns: Set<RunState> | undefined = undefined;
  /** What people have decided, where it goes on after they were asked. */
  reviews: PendingReviews | undefined = undefined;
  /** Names of the tools that a model of it asked for last, by the ids of the calls. */
  asked: Map<string, string> | undefined = undefined;
  /** The definitions of the tools that a model of it was given last. */
  tools: unknown = undefined;

  constructor(fields: RunFields) {
    this.id = fields.id;
    this.rootId = fields.rootId;
    this.tenant = fields.tenant;
    this.threadId = fields.threadId;
    this.subject = fields.subject;
    this.outerId = fields.outerId;
    this.root = fields.root;
    this.graph = fields.graph;
    this.inGraph = fields.inGraph;
    this.totals = fields.totals;
  }

  /** A run whose events something else sends: the runtime helper, or another adapter. */
  static foreign(current: ActiveRun): RunState {
    return new RunState({
      id: current.runId,
      rootId: current.rootRunId,
      tenant: current.tenantId,
      threadId: current.threadId,
      subject: current.subject,
      outerId: current.runId,
      root: false,
      graph: false,
      inGraph: false,
      totals: new UsageTotals(),
    });
  }
}
