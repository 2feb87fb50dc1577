import { type Instant, sourceMoment } from "../../events/door.ts";
import {
  fieldsOf,
  type KnownPause,
  type RunRef,
  RunWriter,
  type SafeSink,
  textOf,
  UsageTotals,
} from "../core/door.ts";
import type { ActiveRun, SubjectFields } from "../runtime/door.ts";
import { AskedCalls } from "./asked-calls.ts";
import type { PendingReviews } from "./pending-reviews.ts";
import type { ModelScope, ToolScope } from "./scope.ts";
import { StopSignals } from "./stop-signals.ts";

/** LangGraph's data of a pause. */
export interface Pause {
  /** LangGraph's status, such as `interrupt_before`. Older versions have none. */
  readonly status: string | undefined;
  /** Content: LangGraph's interrupts, `{id, value}` each. */
  readonly interrupts: readonly unknown[];
  /** The thread's checkpoint. Older versions have none. */
  readonly checkpointId?: string | undefined;
}

export interface RunFields {
  readonly sink: SafeSink;
  readonly ref: RunRef;
  /** The run of this package around LangChain's call, if any. */
  readonly outerId: string | undefined;
  /** Whether no run of this package is above it. */
  readonly root: boolean;
  readonly graph: boolean;
  /** Whether the run, or a LangChain run above it, is a graph. */
  readonly inGraph: boolean;
  /** Shared with the LangChain runs above it. */
  readonly totals: UsageTotals;
  /** Shared with the LangChain runs above it. */
  readonly stops: StopSignals;
}

/** A run with its state. */
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
  readonly stops: StopSignals;
  /** Its events. They have no sequence numbers, because several handlers may report calls of one run. */
  readonly writer: RunWriter<void, ToolScope>;
  /** Its start, for finding the source of an error. */
  readonly since = sourceMoment();
  /** No more events are sent after the end. */
  ended = false;
  /** Its open model calls. */
  readonly openModels = new Set<ModelScope>();
  /** Ends a call with a run of the runtime. */
  whileOpen: ActiveRun["whileOpen"] = undefined;
  pause: Pause | undefined = undefined;
  /** The agent name in its metadata, which may be inherited. */
  namedAgent: string | undefined = undefined;
  /** The tenant that its invocation named. `undefined`: the default or the paused run's. */
  givenTenant: string | undefined = undefined;
  /** The paused run that it resumes. */
  resumes: KnownPause | undefined = undefined;
  /** Whether it, or the graph around it, goes on from a checkpoint. */
  continues = false;
  /** Number of its segment. Above 1 if it resumes under its own ID. */
  part = 1;
  /** The last error below it. The run's own error may have less data. */
  lastError: unknown = undefined;
  /** LangChain's ID of the call around it. */
  aroundId: string | undefined = undefined;
  /** An aborted node of the graph, if nothing started since. */
  aborted: { readonly thrown: unknown; readonly at: Instant } | undefined = undefined;
  /** The graph's current step, and its node if the step has only one. */
  step: unknown = undefined;
  node: string | undefined = undefined;
  /** The graph around this graph. */
  outerGraph: RunState | undefined = undefined;
  /** Open graphs inside this graph. Created with the first one. */
  openRuns: Set<RunState> | undefined = undefined;
  /** Decisions that the run resumes with. */
  reviews: PendingReviews | undefined = undefined;
  readonly asked = new AskedCalls();
  /** The tool definitions of the last model request. */
  tools: unknown = undefined;

  constructor(fields: RunFields) {
    const { ref, sink } = fields;
    this.id = ref.runId;
    this.rootId = ref.rootRunId;
    this.tenant = ref.tenantId;
    this.threadId = ref.threadId;
    this.subject = ref.subject;
    this.outerId = fields.outerId;
    this.root = fields.root;
    this.graph = fields.graph;
    this.inGraph = fields.inGraph;
    this.totals = fields.totals;
    this.stops = fields.stops;
    const totals = fields.root ? fields.totals : undefined;
    this.writer = new RunWriter(sink, ref, { others: true, totals });
  }

  /** A run whose events the runtime or another adapter sends. */
  static foreign(current: ActiveRun, sink: SafeSink): RunState {
    const { rootRunId, runId, subject, tenantId, threadId } = current;
    const run = new RunState({
      sink,
      // Other fields of the current run are not for all events.
      ref: { runId, rootRunId, tenantId, threadId, subject },
      outerId: runId,
      root: false,
      graph: false,
      inGraph: false,
      totals: new UsageTotals(),
      stops: new StopSignals(),
    });
    run.ended = current.hasEnded?.() === true;
    run.whileOpen = current.whileOpen;
    return run;
  }
}

/** Notes the node of a step, if the step has only one. */
export function noteNode(run: RunState, metadata: unknown, runName: unknown): void {
  const step = fieldsOf(metadata)?.langgraph_step;
  run.node = run.step === step ? undefined : textOf(runName);
  run.step = step;
}
