import type { Instant } from "../../events/door.ts";
import { type SafeSink, textOf } from "../core/door.ts";
import { nextRunId, runIdOfTrace } from "./ids.ts";
import { reportStart, writerOf } from "./run-reports.ts";
import type { SdkSpan } from "./sdk.ts";
import type { AskedCall } from "./span-answer.ts";
import {
  type AgentRun,
  NOWHERE,
  type Scope,
  type TraceRecord,
  takeHandoff,
} from "./trace-record.ts";
import { pausedRun, takeAwaited, taskAbove } from "./waiting.ts";

type NewRun = Pick<
  AgentRun,
  "runId" | "resumedFrom" | "agent" | "handoffFrom" | "parent" | "parentToolUseId" | "top"
>;

/** Starts and resumes the runs of a trace. */
export class RunStarts {
  readonly #sink: SafeSink;

  constructor(sink: SafeSink) {
    this.#sink = sink;
  }

  /**
   * An agent's span started.
   *
   * @param resumedBy the span that shows that the agent continues. Default: the agent started here.
   */
  begin(
    trace: TraceRecord,
    span: SdkSpan,
    parent: Scope,
    at: Instant,
    resumedBy?: string,
  ): AgentRun {
    const agent = textOf(span.spanData.name) ?? trace.name;
    const top = parent.run === undefined;
    const [before, again] = pausedRun(trace, agent, parent) ?? [];
    if (before !== undefined && again !== undefined) {
      trace.agents.delete(before);
      if (parent.run !== undefined) again.parentToolUseId = parent.toolUseId;
      return this.#works(trace, span, this.resume(trace, again, span.spanId, at));
    }
    const first = top && !trace.named && trace.root === undefined;
    const openedBy = resumedBy ?? span.spanId;
    const run = first
      ? this.#openRoot(trace, agent, openedBy, at, true)
      : this.#open(
          trace,
          {
            runId: resumedBy === undefined ? span.spanId : nextRunId(span.spanId, resumedBy),
            resumedFrom: resumedBy === undefined ? undefined : span.spanId,
            agent,
            handoffFrom: takeHandoff(trace, agent, parent),
            parent: parent.run ?? this.rootOf(trace, openedBy, at),
            parentToolUseId: parent.toolUseId,
            top,
          },
          openedBy,
          at,
        );
    return this.#works(trace, span, run);
  }

  /** Continues an agent that was paused in another process, or before the processor was registered. */
  restore(trace: TraceRecord, span: SdkSpan, openedBy: string, at: Instant): AgentRun {
    if (trace.root === undefined) trace.pausedRootId = trace.rootRunId;
    const run = this.begin(trace, span, NOWHERE, at, openedBy);
    run.resumed = true;
    return run;
  }

  /** The run of the trace itself. Opens it if necessary. */
  rootOf(trace: TraceRecord, openedBy: string, at: Instant): AgentRun {
    if (trace.root === undefined) {
      return this.#openRoot(trace, trace.name, openedBy, trace.startedAt ?? at, false);
    }
    return this.resume(trace, trace.root, openedBy, at);
  }

  /** Resumes the run, and the runs above it, if they are paused. */
  resume(trace: TraceRecord, run: AgentRun, openedBy: string, at: Instant): AgentRun {
    if (run.state !== "interrupted") return run;
    if (run.parent !== undefined) this.resume(trace, run.parent, openedBy, at);
    if (run !== trace.root) {
      // A segment of the same run would be below the ended parent.
      run.resumedFrom = run.runId;
      run.runId = nextRunId(run.runId, openedBy);
      run.writer = writerOf(trace, run.runId, this.#sink);
    }
    run.state = "open";
    run.openedBy = openedBy;
    run.startedAt = at;
    run.resumed = true;
    run.toolWaits = false;
    run.waiting = NO_CALLS;
    run.waitsItself = false;
    run.detached = false;
    trace.openRuns += 1;
    if (run.top && run.span !== undefined) trace.openTop += 1;
    reportStart(trace, run);
    return run;
  }

  /** Links an agent's span to its run, at the start or on resumption. */
  #works(trace: TraceRecord, span: SdkSpan, run: AgentRun): AgentRun {
    run.span = span;
    run.taskId = taskAbove(trace, span);
    trace.endedAt = undefined;
    trace.agents.set(span.spanId, run);
    if (trace.awaited.length > 0) takeAwaited(trace, run);
    if (!run.top) return run;
    trace.openTop += 1;
    if (run.handoffFrom === undefined && !run.resumed) trace.topRuns += 1;
    // The code around it continued after an earlier failure.
    trace.problem = undefined;
    return run;
  }

  #openRoot(
    trace: TraceRecord,
    agent: string,
    openedBy: string,
    at: Readonly<Instant>,
    top: boolean,
  ): AgentRun {
    const { pausedRootId } = trace;
    // The number of segments of that run is not known here, so its next segment gets a new run ID.
    if (pausedRootId !== undefined) trace.rootRunId = nextRunId(pausedRootId, openedBy);
    // The agent's run has the span's ID, so the run above it needs another one, although the span opens both.
    else if (!top) trace.rootRunId ??= nextRunId(runIdOfTrace(trace.traceId), openedBy);
    const runId = trace.rootRunId ?? openedBy;
    const scope = {
      runId,
      resumedFrom: pausedRootId,
      agent,
      handoffFrom: undefined,
      parent: undefined,
      parentToolUseId: undefined,
      top,
    };
    return this.#open(trace, scope, openedBy, at);
  }

  #open(trace: TraceRecord, scope: NewRun, openedBy: string, at: Readonly<Instant>): AgentRun {
    // Field by field: spreading `scope` is slower than the rest of this method.
    const run: AgentRun = {
      runId: scope.runId,
      writer: writerOf(trace, scope.runId, this.#sink),
      resumedFrom: scope.resumedFrom,
      agent: scope.agent,
      handoffFrom: scope.handoffFrom,
      parent: scope.parent,
      parentToolUseId: scope.parentToolUseId,
      top: scope.top,
      state: "open",
      openedBy,
      startedAt: at,
      pausedAt: undefined,
      span: undefined,
      taskId: undefined,
      heldAt: undefined,
      handedOff: false,
      question: undefined,
      answer: undefined,
      resumed: false,
      modelError: undefined,
      failedCall: undefined,
      failure: undefined,
      tripped: undefined,
      asked: NO_CALLS,
      tools: undefined,
      made: undefined,
      unasked: undefined,
      unread: false,
      hasAnswers: false,
      toolWaits: false,
      waiting: NO_CALLS,
      waitsItself: false,
      detached: false,
    };
    if (run.parent === undefined) trace.root = run;
    trace.openRuns += 1;
    reportStart(trace, run);
    return run;
  }
}

const NO_CALLS: readonly AskedCall[] = [];
