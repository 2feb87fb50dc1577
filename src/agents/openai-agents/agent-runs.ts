import type { Instant } from "../../events/door.ts";
import { textOf } from "../core/narrow.ts";
import { failureOf, type RunEvents } from "./agent-run-events.ts";
import { takeHandoff } from "./handoffs.ts";
import { nextRunId, runIdOfTrace } from "./ids.ts";
import { parseSpanError } from "./parse-span-error.ts";
import type { SdkSpan } from "./sdk.ts";
import type { AskedCall } from "./span-answer.ts";
import { notBefore } from "./span-time.ts";
import {
  type AgentRun,
  type Failure,
  forgetOldest,
  type Problem,
  type Scope,
  type TraceRecord,
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

/** What the SDK writes on an agent's span when the run throws. Other errors there were handled. */
const THROWN = "Error in agent run";

type Waiting = readonly AskedCall[];

type RunPlace = Pick<
  AgentRun,
  "runId" | "resumedFrom" | "agent" | "handoffFrom" | "parent" | "parentToolUseId" | "top"
>;

/** Ends the calls of a run that are open when it ends. */
export type CutCalls = (
  trace: TraceRecord,
  run: AgentRun,
  at: Instant,
  failure: Failure | undefined,
) => void;

/**
 * The runs of a trace.
 *
 * Every agent's span is a run. A trace that somebody named is a run itself, above them. Of an unnamed
 * one the first agent's run stands at the top: it lasts until the last agent at the top has ended
 * without handing off, so that an agent that is handed to has a run above it.
 */
export class AgentRuns {
  readonly #events: RunEvents;
  readonly #later: (trace: TraceRecord, work: () => void) => void;
  readonly #cutCalls: CutCalls;

  /**
   * @param later does something to a trace when the running code has given way.
   * @param cutCalls ends the calls of a run that are open when it ends.
   */
  constructor(
    events: RunEvents,
    later: (trace: TraceRecord, work: () => void) => void,
    cutCalls: CutCalls,
  ) {
    this.#events = events;
    this.#later = later;
    this.#cutCalls = cutCalls;
  }

  /**
   * An agent's span has started.
   *
   * @param resumedBy the span that shows that the agent goes on, where it began elsewhere.
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

  /** An agent goes on that was paused in another process, or before the processor was registered. */
  restore(trace: TraceRecord, span: SdkSpan, openedBy: string, at: Instant): AgentRun {
    if (trace.root === undefined) trace.pausedRootId = trace.rootRunId;
    const run = this.begin(trace, span, NOWHERE, at, openedBy);
    run.resumed = true;
    return run;
  }

  /** The run of the trace itself, opened if need be: for what happens above all agents. */
  rootOf(trace: TraceRecord, openedBy: string, at: Instant): AgentRun {
    if (trace.root === undefined) {
      return this.#openRoot(trace, trace.name, openedBy, trace.startedAt ?? at, false);
    }
    return this.resume(trace, trace.root, openedBy, at);
  }

  /** If the run is paused, it goes on now, and those above it do. */
  resume(trace: TraceRecord, run: AgentRun, openedBy: string, at: Instant): AgentRun {
    if (run.state !== "interrupted") return run;
    if (run.parent !== undefined) this.resume(trace, run.parent, openedBy, at);
    if (run !== trace.root) {
      // A segment of the same run would stand where the first one does, under what is over.
      run.resumedFrom = run.runId;
      run.runId = nextRunId(run.runId, openedBy);
    }
    run.state = "open";
    run.openedBy = openedBy;
    run.startedAt = at;
    run.resumed = true;
    run.toolWaits = false;
    run.waiting = NO_CALLS;
    run.waitsItself = false;
    run.left = false;
    trace.openRuns += 1;
    if (run.top && run.span !== undefined) trace.openTop += 1;
    this.#events.started(trace, run);
    return run;
  }

  /**
   * An agent's span has ended.
   *
   * @returns false when its start was not seen, or its end was.
   */
  end(trace: TraceRecord, span: SdkSpan, endedAt: Instant): boolean {
    const run = trace.agents.get(span.spanId);
    if (run?.span === undefined) return false;
    this.resume(trace, run, span.spanId, endedAt);
    const at = notBefore(endedAt, run.startedAt);
    // Only an SDK that ends no agent that pauses leaves one below without its end: this one is done.
    if (this.#pauseBelow(trace, run, at)) {
      run.toolWaits = false;
      this.goesOnWithout(trace, run, at);
    }
    run.span = undefined;
    if (run.top) trace.openTop -= 1;
    const parsed = problemOf(run, span);
    const problem = parsed === undefined ? undefined : { parsed, of: run };
    const waiting = waitingCalls(trace, run);
    // From 0.14 on, the SDK ends the span of an agent that pauses. It paused if its model asked for
    // calls that were never made.
    if (problem === undefined && !run.handedOff && (waiting.length > 0 || run.toolWaits)) {
      run.waitsItself = true;
      this.#pause(trace, run, at, waiting);
    } else if (run !== trace.root) {
      this.#close(trace, run, at, problem);
    }
    if (run.top) this.#topEnded(trace, run, at, problem);
    return true;
  }

  /**
   * A run's model has what the tools gave: those of their agents that wait are not waited for. Who
   * resumes such an agent, resumes that one alone.
   */
  goesOnWithout(trace: TraceRecord, run: AgentRun, at: Instant): void {
    if (trace.agents.size < 2) return;
    this.#pauseBelow(trace, run, at);
    for (const below of waitingFor(trace, run)) below.left = true;
  }

  /**
   * A tool of a resumed agent failed. Where that ends the run, the SDK before 0.14 writes so on the
   * agent's span, and never ends it.
   */
  endIfThrown(trace: TraceRecord, run: AgentRun, at: Instant): void {
    this.#later(trace, () => {
      const { span } = run;
      if (span?.error?.message === THROWN) this.end(trace, span, at);
    });
  }

  /** The trace has ended: agents that are still at work are paused, and its own run is over. */
  traceEnded(trace: TraceRecord, at: Instant): void {
    const below = this.pause(trace, at);
    const { root } = trace;
    if (below || root === undefined || root.state !== "open") return;
    // A paused agent that goes on inside a tool ends the trace that the tool's own agent is still in.
    if (trace.open.size === 0 || !busyRuns(trace).has(root)) this.#closeRoot(trace, root, at);
  }

  /**
   * Agents at work, in which no call is going on, are paused; so is the trace's own run then.
   *
   * @returns whether there was one.
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

  /** An agent's span has begun the run, or goes on with it. */
  #works(trace: TraceRecord, span: SdkSpan, run: AgentRun): AgentRun {
    run.span = span;
    trace.agents.set(span.spanId, run);
    if (trace.awaited.length > 0) takeAwaited(trace, run);
    if (!run.top) return run;
    trace.openTop += 1;
    // The code around it goes on after what failed before.
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
    // How far that run had come is not known here, and its next segment might be there already.
    if (pausedRootId !== undefined) trace.rootRunId = nextRunId(pausedRootId, openedBy);
    // An agent's run is named after its span: one above it can't be, though that span opens both.
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

  #open(trace: TraceRecord, scope: RunPlace, openedBy: string, at: Readonly<Instant>): AgentRun {
    // Field by field: spreading `scope` would cost more than all the rest of this.
    const run: AgentRun = {
      runId: scope.runId,
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
      unasked: undefined,
      unread: false,
      toolWaits: false,
      waiting: NO_CALLS,
      waitsItself: false,
      left: false,
    };
    if (run.parent === undefined) trace.root = run;
    trace.openRuns += 1;
    this.#events.started(trace, run);
    return run;
  }

  /** The trace's own run ends with the last agent at the top; a workflow, when its trace does. */
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
   * The SDK does not end a trace whose code threw. So a workflow fails with its agent, unless the
   * code around catches that and at once runs another.
   */
  #failLater(trace: TraceRecord, root: AgentRun, at: Instant, problem: Problem): void {
    this.#later(trace, () => {
      if (trace.problem === problem) this.#close(trace, root, at, problem);
    });
  }

  /** The trace's own run fails with an agent at the top, pauses with one, or is complete. */
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
    this.#events.interrupted(trace, run, at, waiting);
  }

  /**
   * Agents of the run's tools pause whose spans the SDK before 0.14 does not end.
   *
   * @returns whether there was one.
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
    if (problem === undefined || run.failure === undefined) this.#events.completed(trace, run, at);
    else this.#events.failed(trace, run, at, problem.of, run.failure);
    forgetOldest(trace);
  }
}

const NO_CALLS: readonly AskedCall[] = [];
const NOWHERE: Scope = { run: undefined, toolUseId: undefined };

/** What an agent failed with; `undefined` when it did not. */
function problemOf(run: AgentRun, { error }: SdkSpan) {
  // A stream that is called off ends its agent without an error; its model call has it.
  if (error === null) return run.modelError;
  const thrown = error.message === THROWN || error.data === undefined || error.data === null;
  return thrown ? parseSpanError(error) : undefined;
}
