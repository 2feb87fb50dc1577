import type { Instant } from "../../events/door.ts";
import type { SafeSink } from "../core/door.ts";
import { BROKEN_OFF, parseSpanError, SHARED } from "./parse-span-error.ts";
import { failureOf, reportEnd, reportPause } from "./run-reports.ts";
import { RunStarts } from "./run-starts.ts";
import type { SdkSpan } from "./sdk.ts";
import type { AskedCall } from "./span-answer.ts";
import { notBefore } from "./span-time.ts";
import {
  type AgentRun,
  forgetOldest,
  type Problem,
  type SpanFailure,
  type TraceRecord,
} from "./trace-record.ts";
import { endedBetween } from "./turns.ts";
import {
  busyRuns,
  depth,
  holdsBack,
  isOpenUpwards,
  isWithin,
  looksPaused,
  mayWait,
  waitingCalls,
  waitingFor,
  waitsAtEnd,
} from "./waiting.ts";

/** The SDK's text on an agent's span when the run throws. Other errors on the span were handled. */
const THROWN = "Error in agent run";

type Waiting = readonly AskedCall[];

/** How a run ended, by the SDK's state of it. */
export type NotedEnd = "waits" | "cancelled" | "done";

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
export class AgentRuns extends RunStarts {
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
    super(sink);
    this.#later = later;
    this.#cutCalls = cutCalls;
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
    const parsed = problemOf(run, span);
    const problem = parsed === undefined ? undefined : { parsed, of: run };
    const waits = problem === undefined && waitsAtEnd(trace, run, span);
    // The code of a tool goes on at once, so only an agent at the top can be held back.
    if (waits === undefined && run.top) run.heldAt = at;
    else this.#ended(trace, run, at, waits ?? looksPaused(trace, run), problem);
    return true;
  }

  /** A task of the SDK ended: a call of `run()` returns. `noteResult` may tell at once how its agent ended. */
  taskEnded(trace: TraceRecord, taskId: string): void {
    for (const run of trace.agents.values()) {
      if (run.heldAt === undefined || run.taskId !== taskId) continue;
      this.#later(trace, () => this.#release(trace, run));
    }
  }

  /** An agent starts at the top. It may continue one that was held back. */
  releaseBefore(trace: TraceRecord, agent: string | undefined): void {
    for (const run of trace.agents.values()) {
      if (run.heldAt === undefined || run.agent !== agent) continue;
      // An unnamed trace is that of one run, so only its resumption adds an agent of that name.
      this.#release(trace, run, trace.named ? undefined : "waits");
    }
  }

  /** Another run starts in the trace. */
  releaseAll(trace: TraceRecord): void {
    for (const run of trace.agents.values()) this.#release(trace, run);
  }

  /** The SDK says of a run how it ended. */
  noted(trace: TraceRecord, run: AgentRun, end: NotedEnd, at: Instant): void {
    if (run.heldAt !== undefined) this.#release(trace, run, end);
    else if (end === "waits" && run.state === "open") this.pause(trace, at, run);
  }

  /** Ends a run whose span ended without saying how. Default: what its calls look like. */
  #release(trace: TraceRecord, run: AgentRun, end?: NotedEnd): void {
    const { heldAt } = run;
    if (heldAt === undefined) return;
    run.heldAt = undefined;
    const waits = end === undefined ? looksPaused(trace, run) : end === "waits";
    const problem = end === "cancelled" ? { parsed: BROKEN_OFF, of: run } : undefined;
    this.#ended(trace, run, [heldAt[0], heldAt[1]], waits, problem);
  }

  #ended(
    trace: TraceRecord,
    run: AgentRun,
    at: Instant,
    waits: boolean,
    problem: Problem | undefined,
  ): void {
    if (run.top) trace.openTop -= 1;
    if (waits) {
      run.waitsItself = true;
      this.#pause(trace, run, at, waitingCalls(trace, run));
    } else if (run !== trace.root) {
      this.#close(trace, run, at, problem);
    }
    if (run.top) this.#topEnded(trace, run, at, problem);
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
   * A tool of a resumed agent failed, or a guardrail tripped. If that ends a run whose calls wait, the SDK before 0.14
   * sets the error of the agent's span, but does not end the span.
   */
  endIfThrown(trace: TraceRecord, run: AgentRun, at: Instant): void {
    this.#later(trace, () => {
      const { span } = run;
      if (span?.error?.message === THROWN) this.end(trace, span, at);
    });
  }

  /** Another tenant uses the ID of the trace. Nothing says whose a later span is. */
  shared(trace: TraceRecord, at: Instant): void {
    const { agents, root } = trace;
    for (const run of [...[...agents.values()].reverse(), root]) {
      if (run !== undefined) this.#close(trace, run, at, { parsed: SHARED, of: run });
    }
  }

  /** The trace ended. Agents that the SDK left open are paused, and the trace's own run ends. */
  traceEnded(trace: TraceRecord, at: Instant): void {
    trace.endedAt = at;
    const below = this.pause(trace, at);
    const { root } = trace;
    if (below || root === undefined || root.state !== "open" || holdsBack(trace)) return;
    // A paused agent that is resumed inside a tool ends the trace, while the tool's own agent is still working.
    if (trace.open.size === 0 || !busyRuns(trace).has(root)) this.#closeRoot(trace, root, at);
  }

  /**
   * Pauses working agents without an open call, and then the trace's own run.
   *
   * @param only pauses only this run and those below it.
   * @returns whether any agent was paused.
   */
  pause(trace: TraceRecord, at: Instant, only?: AgentRun): boolean {
    if (trace.agents.size === 0) return false;
    const working = [...trace.agents.values()].filter(
      (run) => run === only || (mayWait(run) && (only === undefined || isWithin(run, only))),
    );
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

  /** Ends the trace's own run with the last top-level agent. A named trace ends it when the trace ends. */
  #topEnded(trace: TraceRecord, run: AgentRun, at: Instant, problem: Problem | undefined): void {
    if (problem !== undefined) trace.problem = problem;
    else if (run.handedOff) return;
    const { root } = trace;
    if (trace.openTop > 0 || root === undefined || root.state !== "open") return;
    if (!trace.named || trace.begun === 0) {
      // Code may have gone on after the agent, which was held back.
      const later = trace.named ? trace.endedAt : undefined;
      this.#closeRoot(trace, root, later === undefined ? at : notBefore(at, later));
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

  /**
   * Ends the trace's own run: it failed or paused with a top-level agent, or is complete. The SDK ends a trace only if
   * its code returned. If the code started several runs, it handled the failures of some of them.
   */
  #closeRoot(trace: TraceRecord, root: AgentRun, at: Instant): void {
    const waits = [...trace.agents.values()].some((run) => run.top && run.state === "interrupted");
    const isHandled = trace.endedAt !== undefined && trace.topRuns > 1;
    const problem = isHandled ? undefined : trace.problem;
    if (problem === undefined && waits) {
      this.#pause(trace, root, at, waitingCalls(trace, root));
    } else {
      this.#close(trace, root, at, problem);
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

/** The error of an agent's span. `undefined`: it did not fail. */
function problemOf(run: AgentRun, { error }: SdkSpan) {
  // An aborted stream ends its agent without an error. Its model call has the error.
  if (error === null) return run.modelError ?? (endedBetween(run) ? BROKEN_OFF : undefined);
  const thrown = error.message === THROWN || error.data === undefined || error.data === null;
  return thrown ? parseSpanError(error) : undefined;
}
