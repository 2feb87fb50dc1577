import type { Instant } from "../../events/door.ts";
import { type SafeSink, textOf } from "../core/door.ts";
import { nextRunId, runIdOfTrace } from "./ids.ts";
import { parseSpanError } from "./parse-span-error.ts";
import { failureOf, reportEnd, reportPause, reportStart, writerOf } from "./run-reports.ts";
import type { SdkSpan } from "./sdk.ts";
import type { AskedCall } from "./span-answer.ts";
import { notBefore } from "./span-time.ts";
import {
  type AgentRun,
  forgetOldest,
  type Problem,
  type Scope,
  type SpanFailure,
  type TraceRecord,
  takeHandoff,
} from "./trace-record.ts";
import {
  busyRuns,
  depth,
  isOpenUpwards,
  mayWait,
  pausedRun,
  takeAwaited,
  waitingCalls,
  waitingFor,
} from "./waiting.ts";

/** The SDK's text on an agent's span when the run throws. Other errors on the span were handled. */
const THROWN = "Error in agent run";

type Waiting = readonly AskedCall[];

type NewRun = Pick<
  AgentRun,
  "runId" | "resumedFrom" | "agent" | "handoffFrom" | "parent" | "parentToolUseId" | "top"
>;

/** Ends the calls of a run that are still open at its end. */
export type CutCalls = (
  trace: TraceRecord,
  run: AgentRun,
  at: Instant,
  failure: SpanFailure | undefined,
) => void;

/**
 * The runs of a trace.
 *
 * Each agent's span is a run. A named trace is a run itself, above its agents. In an unnamed trace, the first agent's
 * run is the root. It lasts until the last top-level agent ends without a handoff, so that an agent after a handoff
 * has a parent.
 */
export class AgentRuns {
  readonly #sink: SafeSink;
  readonly #later: (trace: TraceRecord, work: () => void) => void;
  readonly #cutCalls: CutCalls;

  /**
   * @param later changes a trace in a later task of the event loop.
   * @param cutCalls ends the calls of a run that are still open at its end.
   */
  constructor(
    sink: SafeSink,
    later: (trace: TraceRecord, work: () => void) => void,
    cutCalls: CutCalls,
  ) {
    this.#sink = sink;
    this.#later = later;
    this.#cutCalls = cutCalls;
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

  /**
   * An agent's span ended.
   *
   * @returns false if its start was not seen, or it ended before.
   */
  end(trace: TraceRecord, span: SdkSpan, endedAt: Instant): boolean {
    const run = trace.agents.get(span.spanId);
    if (run?.span === undefined) return false;
    this.resume(trace, run, span.spanId, endedAt);
    const at = notBefore(endedAt, run.startedAt);
    // Only an SDK before 0.14 leaves paused agents below open. This agent itself is done.
    if (this.#pauseBelow(trace, run, at)) {
      run.toolWaits = false;
      this.detachPaused(trace, run, at);
    }
    run.span = undefined;
    if (run.top) trace.openTop -= 1;
    const parsed = problemOf(run, span);
    const problem = parsed === undefined ? undefined : { parsed, of: run };
    const waiting = waitingCalls(trace, run);
    // From 0.14, the SDK ends the span of a paused agent. An agent is paused if its model asked for calls that were
    // not made. A pause sets no error, also none that the application handled.
    const mayPause = span.error === null && !run.handedOff;
    if (mayPause && problem === undefined && (waiting.length > 0 || run.toolWaits)) {
      run.waitsItself = true;
      this.#pause(trace, run, at, waiting);
    } else if (run !== trace.root) {
      this.#close(trace, run, at, problem);
    }
    if (run.top) this.#topEnded(trace, run, at, problem);
    return true;
  }

  /**
   * The run's model got the results of the tools, so it does not wait for paused agents below. Those are resumed
   * separately.
   */
  detachPaused(trace: TraceRecord, run: AgentRun, at: Instant): void {
    if (trace.agents.size < 2) return;
    this.#pauseBelow(trace, run, at);
    for (const below of waitingFor(trace, run)) below.detached = true;
  }

  /**
   * A tool of a resumed agent failed. If that ends the run, the SDK before 0.14 sets the error of the agent's span,
   * but does not end the span.
   */
  endIfThrown(trace: TraceRecord, run: AgentRun, at: Instant): void {
    this.#later(trace, () => {
      const { span } = run;
      if (span?.error?.message === THROWN) this.end(trace, span, at);
    });
  }

  /** The trace ended. Agents that are still working are paused, and the trace's own run ends. */
  traceEnded(trace: TraceRecord, at: Instant): void {
    const below = this.pause(trace, at);
    const { root } = trace;
    if (below || root === undefined || root.state !== "open") return;
    // A paused agent that is resumed inside a tool ends the trace, while the tool's own agent is still working.
    if (trace.open.size === 0 || !busyRuns(trace).has(root)) this.#closeRoot(trace, root, at);
  }

  /**
   * Pauses working agents without an open call, and then the trace's own run.
   *
   * @returns whether any agent was paused.
   */
  pause(trace: TraceRecord, at: Instant): boolean {
    if (trace.agents.size === 0) return false;
    const working = [...trace.agents.values()].filter(({ span }) => span !== undefined);
    if (working.length === 0) return false;
    const busy = busyRuns(trace);
    const paused = working.filter((run) => isOpenUpwards(run) && !busy.has(run));
    paused.sort((a, b) => depth(b) - depth(a));
    for (const run of paused) {
      run.waitsItself = true;
      this.#pause(trace, run, at, waitingCalls(trace, run));
    }
    const { root } = trace;
    const rises = paused.some((run) => run.parent === root);
    if (root?.state === "open" && rises && !busy.has(root)) {
      this.#pause(trace, root, at, waitingCalls(trace, root));
    }
    return paused.length > 0;
  }

  /** Links an agent's span to its run, at the start or on resumption. */
  #works(trace: TraceRecord, span: SdkSpan, run: AgentRun): AgentRun {
    run.span = span;
    trace.agents.set(span.spanId, run);
    if (trace.awaited.length > 0) takeAwaited(trace, run);
    if (!run.top) return run;
    trace.openTop += 1;
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

  /** Ends the trace's own run with the last top-level agent. A named trace ends it when the trace ends. */
  #topEnded(trace: TraceRecord, run: AgentRun, at: Instant, problem: Problem | undefined): void {
    if (problem !== undefined) trace.problem = problem;
    else if (run.handedOff) return;
    const { root } = trace;
    if (trace.openTop > 0 || root === undefined || root.state !== "open") return;
    if (!trace.named || trace.begun === 0) {
      this.#closeRoot(trace, root, at);
    } else if (trace.problem !== undefined) {
      this.#failLater(trace, root, at, trace.problem);
    }
  }

  /**
   * The SDK does not end a trace whose code threw. The trace's run therefore fails with its agent, unless the
   * surrounding code catches the error and starts another agent at once.
   */
  #failLater(trace: TraceRecord, root: AgentRun, at: Instant, problem: Problem): void {
    this.#later(trace, () => {
      if (trace.problem === problem) this.#close(trace, root, at, problem);
    });
  }

  /** Ends the trace's own run: it failed or paused with a top-level agent, or is complete. */
  #closeRoot(trace: TraceRecord, root: AgentRun, at: Instant): void {
    const waits = [...trace.agents.values()].some((run) => run.top && run.state === "interrupted");
    if (trace.problem === undefined && waits) {
      this.#pause(trace, root, at, waitingCalls(trace, root));
    } else {
      this.#close(trace, root, at, trace.problem);
    }
  }

  #pause(trace: TraceRecord, run: AgentRun, at: Instant, waiting: Waiting): void {
    run.state = "interrupted";
    run.pausedAt = at;
    run.waiting = waiting;
    trace.openRuns -= 1;
    if (run.top && run.span !== undefined) trace.openTop -= 1;
    reportPause(trace, run, at, waiting);
  }

  /**
   * Pauses agents of the run's tools. The SDK before 0.14 does not end their spans.
   *
   * @returns whether any agent was paused.
   */
  #pauseBelow(trace: TraceRecord, run: AgentRun, at: Instant): boolean {
    const still = [...trace.agents.values()].filter(
      (below) => below.parent === run && below.parentToolUseId !== undefined && mayWait(below),
    );
    if (still.length === 0) return false;
    const busy = busyRuns(trace);
    const waiting = still.filter((below) => !busy.has(below));
    for (const below of waiting) {
      this.#pauseBelow(trace, below, at);
      below.waitsItself = true;
      this.#pause(trace, below, at, waitingCalls(trace, below));
    }
    return waiting.length > 0;
  }

  #close(trace: TraceRecord, run: AgentRun, at: Instant, problem: Problem | undefined): void {
    if (run.state !== "open") return;
    run.state = "ended";
    trace.openRuns -= 1;
    run.failure = problem && failureOf(problem);
    if (trace.open.size > 0) this.#cutCalls(trace, run, at, run.failure);
    reportEnd(trace, run, at, problem);
    forgetOldest(trace);
  }
}

const NO_CALLS: readonly AskedCall[] = [];
const NOWHERE: Scope = { run: undefined, toolUseId: undefined };

/** The error of an agent's span. `undefined`: it did not fail. */
function problemOf(run: AgentRun, { error }: SdkSpan) {
  // An aborted stream ends its agent without an error. Its model call has the error.
  if (error === null) return run.modelError;
  const thrown = error.message === THROWN || error.data === undefined || error.data === null;
  return thrown ? parseSpanError(error) : undefined;
}
