import { FROM_RUN, handed, type Instant, millisecondsBetween, now } from "../../events/door.ts";
import {
  askedSubject,
  type Fields,
  fieldsOf,
  listOf,
  type SafeSink,
  type Stamp,
  UsageTotals,
} from "../core/door.ts";
import { activeRun, cutBy, type SubjectFields } from "../runtime/door.ts";
import { eventOf } from "./event-ids.ts";
import {
  DEFAULT_PAUSED_THREADS,
  type HandlerCounts,
  type LangChainHandlerOptions,
  limitOf,
  Tenants,
} from "./handler-options.ts";
import type { HeldFailures } from "./held-failures.ts";
import { isResumption, threadOf } from "./invocation.ts";
import { explained, failureOf, runFailureOf, signalOf, stopReasonOf } from "./langchain-errors.ts";
import { questionOf } from "./messages.ts";
import { type Interruption, type PausedRun, PausedThreads, thrownPause } from "./pauses.ts";
import { PendingReviews } from "./pending-reviews.ts";
import { RunState } from "./run-state.ts";
import type { KnownScope, Scope, ScopeTable } from "./scope.ts";

/** Data of a run's start. */
export interface RunStart {
  readonly id: string;
  /** The scope around it. `undefined`: none. */
  readonly above: KnownScope | undefined;
  readonly agent: string;
  readonly metadata: unknown;
  /** Tags of the invocation, including inherited ones. */
  readonly tags: unknown;
  /** Whether it is a graph of LangGraph, and its input. */
  readonly graph: boolean;
  readonly inputs: unknown;
  /** Content: the input, as messages if possible. */
  readonly asked: unknown;
}

/** Starts and ends runs. */
export class Runs {
  readonly #sink: SafeSink;
  readonly #onError: (error: unknown) => void;
  readonly #tenants: Tenants;
  readonly #context: LangChainHandlerOptions["context"];
  readonly #threads: PausedThreads;
  readonly #scopes: ScopeTable;
  readonly #held: HeldFailures;
  #threadsForgotten = 0;
  #refused = 0;

  constructor(
    options: LangChainHandlerOptions,
    sink: SafeSink,
    scopes: ScopeTable,
    held: HeldFailures,
    onError: (error: unknown) => void,
  ) {
    const limit = limitOf("pausedThreads", options.limits?.pausedThreads, DEFAULT_PAUSED_THREADS);
    this.#sink = sink;
    this.#onError = onError;
    this.#tenants = new Tenants(options.tenant);
    this.#context = options.context;
    this.#threads = PausedThreads.of(options.sink, limit);
    this.#scopes = scopes;
    this.#held = held;
  }

  get counts(): Pick<HandlerCounts, "refused" | "threadsForgotten"> {
    return { refused: this.#refused, threadsForgotten: this.#threadsForgotten };
  }

  /**
   * The scope around a call: LangChain's parent, unless the running code belongs to a nearer run, or to a run that
   * LangChain does not know.
   */
  above(parentId: string | undefined): Scope | undefined {
    const scope = this.#scopes.above(parentId);
    const current = activeRun();
    if (current === undefined || scope?.kind === "refused") return scope;
    if (scope !== undefined) {
      const { id, outerId } = scope.run;
      if (current.runId === id || current.runId === outerId) return scope;
    }
    const own = this.#scopes.get(current.runId);
    const { stepId, toolUseId } = current;
    if (own?.kind === "run") {
      return { kind: "run", id: own.id, run: own.run, toolUseId, stepId };
    }
    const run = RunState.foreign(current, this.#sink);
    return { kind: "foreign", id: current.runId, run, toolUseId, stepId };
  }

  /** @returns `undefined` if the tenant is not known. The scope is refused then. */
  start(from: RunStart): RunState | undefined {
    const { id, graph } = from;
    const metadata = fieldsOf(from.metadata);
    const above = this.#sameTenant(from.above, metadata);
    const tenant = above === undefined ? this.#tenantFor(id, metadata) : above.run.tenant;
    if (tenant === undefined) return undefined;
    const outer = above === undefined || above.kind === "foreign" ? undefined : above.run;
    const threadId = threadOf(metadata) ?? above?.run.threadId;
    const run = new RunState({
      sink: this.#sink,
      id,
      rootId: above?.run.rootId ?? id,
      tenant,
      threadId,
      subject: outer === undefined ? this.#subject(from, above) : outer.subject,
      outerId: activeRun()?.runId,
      root: above === undefined,
      graph,
      inGraph: graph || outer?.inGraph === true,
      totals: outer?.totals ?? new UsageTotals(),
    });
    const keepsThread = graph && outer?.inGraph !== true && threadId !== undefined;
    const paused = keepsThread ? this.#threads.take(tenant, threadId) : undefined;
    run.reviews = graph ? (this.#reviewsIn(from, paused) ?? outer?.reviews) : outer?.reviews;
    if (paused?.id === id) run.part = paused.part + 1;
    else if (paused !== undefined && isResumption(from.inputs, metadata, paused))
      run.resumes = paused;
    if (graph && outer?.graph === true && !outer.ended) opensIn(outer, run);
    const beginning = {
      agent: from.agent,
      parentRunId: above?.run.id,
      // For a run outside LangChain, it is known whether there is a surrounding call.
      parentToolUseId: above?.toolUseId ?? (above?.kind === "foreign" ? null : undefined),
      parentStepId: above?.stepId,
      resumedFromRunId: run.resumes?.id,
      asked: from.asked,
    };
    run.writer.started(beginning, eventOf(id, "run-start", run.part));
    return run;
  }

  complete(run: RunState, state: unknown, answer?: unknown): void {
    this.#held.runEnded(run, "unknown");
    this.#cutCalls(run, undefined);
    ended(run);
    // Only the root run reports usage. It includes the child runs.
    const usage = run.root ? run.totals.snapshot() : null;
    const details = answer === undefined ? undefined : { output: answer };
    run.writer.completed(usage, details, state, endOf(run));
  }

  pause(run: RunState, pause: Interruption): void {
    this.#held.runEnded(run, "own");
    ended(run);
    const { kind, payload } = pause;
    run.writer.interrupted(kind, payload, questionOf(payload), endOf(run));
    if (run.graph && run.threadId !== undefined) {
      const { id, tenant, threadId, part } = run;
      const checkpointId = run.pause?.checkpointId;
      this.#threadsForgotten += this.#threads.pause(tenant, threadId, {
        id,
        checkpointId,
        part,
        at: now(),
        reviews: pause.reviews ?? [],
      });
    }
  }

  /**
   * Ends the run with a thrown value, which may be an error, a pause or a handover.
   *
   * @param at time of the failure. Default: now.
   */
  end(run: RunState, thrown: unknown, at?: Instant): void {
    const pause = thrownPause(run, thrown);
    if (pause !== undefined) this.pause(run, pause);
    else if (signalOf(thrown) === "handover") this.complete(run, null);
    else this.#fail(run, thrown, at);
  }

  #fail(run: RunState, thrown: unknown, at: Instant | undefined): void {
    const reason = stopReasonOf(run, thrown);
    const ending = reason ?? explained(thrown);
    this.#cutRuns(run, ending, reason);
    this.#held.runEnded(run, "own", reason);
    this.#cutCalls(run, ending);
    run.writer.failed(runFailureOf(run, thrown), endOf(run, at));
    const { tenant, threadId, resumes } = run;
    if (resumes === undefined || threadId === undefined) return;
    this.#threadsForgotten += this.#threads.restore(tenant, threadId, resumes);
  }

  /** Ends inner graphs. LangGraph does not report the end of all graphs that it stopped when another node failed. */
  #cutRuns(run: RunState, ending: unknown, reason: unknown): void {
    for (const child of run.openRuns ?? []) {
      this.#cutRuns(child, ending, reason);
      this.#held.runEnded(child, "own", reason);
      this.#cutCalls(child, ending);
      child.writer.failed(failureOf(cutBy(ending), FROM_RUN), endOf(child));
    }
    run.openRuns = undefined;
    ended(run);
  }

  /** Ends open calls as cut off, because their tools did not fail. */
  #cutCalls(run: RunState, ending: unknown): void {
    if (run.openTools.size === 0) return;
    const error = cutBy(ending);
    for (const call of run.openTools) run.writer.toolCut(call, error, eventOf(call.id, "call-end"));
    run.openTools.clear();
  }

  /** The decisions that the invocation resumes with. */
  #reviewsIn({ inputs, metadata }: RunStart, paused: PausedRun | undefined) {
    const waitMs =
      paused === undefined ? undefined : Math.max(0, millisecondsBetween(paused.at, now()));
    return PendingReviews.of(inputs, paused?.reviews ?? [], waitMs, metadata);
  }

  /** Ignores a surrounding run of another tenant, because a trace has only one tenant. */
  #sameTenant(above: KnownScope | undefined, metadata: Fields | undefined): KnownScope | undefined {
    if (above?.kind !== "foreign") return above;
    const explicit = this.#tenants.explicit(metadata);
    return explicit === undefined || explicit === above.run.tenant ? above : undefined;
  }

  /** The subject of an outermost invocation. */
  #subject(from: RunStart, above: KnownScope | undefined): SubjectFields | undefined {
    const context = this.#context;
    const ask =
      context === undefined
        ? undefined
        : () => context(handed(fieldsOf(from.metadata) ?? {}), textsOf(from.tags));
    return askedSubject(ask, above?.run.subject, this.#onError);
  }

  #tenantFor(id: string, metadata: Fields | undefined): string | undefined {
    return this.#tenants.of(metadata, (error) => {
      this.#refused += 1;
      this.#scopes.set(id, undefined, { kind: "refused", id });
      this.#onError(error);
    });
  }
}

function opensIn(outer: RunState, run: RunState): void {
  run.outerGraph = outer;
  outer.openRuns ??= new Set();
  outer.openRuns.add(run);
}

/** @param at time of an end that is sent later. Default: now. */
function endOf({ id, part }: RunState, at?: Instant): Stamp {
  const on = eventOf(id, "run-end", part);
  return at === undefined ? on : { ...on, at, isLate: true };
}

function ended(run: RunState): void {
  run.ended = true;
  run.outerGraph?.openRuns?.delete(run);
  run.outerGraph = undefined;
}

function textsOf(tags: unknown): readonly string[] {
  return (listOf(tags) ?? []).filter((tag) => typeof tag === "string");
}
