import { AgentError, FROM_RUN, handed, type Instant } from "../../events/door.ts";
import {
  type Fields,
  fieldsOf,
  type KnownPause,
  LEFT_OPEN,
  listOf,
  newRunRef,
  Pauses,
  type SafeSink,
  type Stamp,
  UsageTotals,
  waitedMs,
  whenKnown,
} from "../core/door.ts";
import { activeRun, cutBy } from "../runtime/door.ts";
import { eventOf } from "./event-ids.ts";
import { type InvocationTenant, type LangChainHandlerOptions, Tenants } from "./handler-options.ts";
import type { HeldFailures } from "./held-failures.ts";
import { continues, isResumption, threadOf } from "./invocation.ts";
import { explained, failureOf, runFailureOf, signalOf, stopReasonOf } from "./langchain-errors.ts";
import { questionOf } from "./messages.ts";
import { type Interruption, partOf, pauseDetails, reviewsOf, thrownPause } from "./pauses.ts";
import { PendingReviews } from "./pending-reviews.ts";
import { RunState } from "./run-state.ts";
import type { KnownScope, RefusedScope, Scope, ScopeTable, ToolScope } from "./scope.ts";
import { StopSignals } from "./stop-signals.ts";

const SHARED_ID = "another tenant used the ID of this run (`runId`) at the same time";

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

/** Data of an invocation that starts a run. */
interface Invocation {
  readonly from: RunStart;
  readonly metadata: Fields | undefined;
  /** The scope around it, if it has the same tenant. */
  readonly above: KnownScope | undefined;
  /** LangChain's run around it. */
  readonly outer: RunState | undefined;
  readonly outerId: string | undefined;
  readonly threadId: string | undefined;
  readonly tenant: InvocationTenant;
}

/** Starts and ends runs. */
export class Runs {
  readonly #sink: SafeSink;
  readonly #onError: (error: unknown) => void;
  readonly #tenants: Tenants;
  readonly #context: LangChainHandlerOptions["context"];
  readonly #paused: Pauses;
  readonly #scopes: ScopeTable;
  readonly #held: HeldFailures;
  readonly counts = { refused: 0, threadsForgotten: 0 };

  constructor(
    options: LangChainHandlerOptions,
    sink: SafeSink,
    scopes: ScopeTable,
    held: HeldFailures,
    onError: (error: unknown) => void,
  ) {
    this.#sink = sink;
    this.#onError = onError;
    this.#tenants = new Tenants(options.tenant);
    this.#context = options.context;
    this.#paused = new Pauses({
      sink: options.sink,
      framework: "langchain",
      store: options.pausedRuns,
      least: options.limits?.pausedThreads,
      sharesKeys: true,
      onError,
    });
    this.#scopes = scopes;
    this.#held = held;
  }

  /** Resolves when the store has the paused runs. Never rejects. */
  settled(): Promise<void> {
    return this.#paused.settled();
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
      // LangChain runs the later steps of a generator outside its tool.
      const isInTool = scope.toolUseId === undefined && current.toolUseId !== undefined;
      if ((current.runId === id && !isInTool) || current.runId === outerId) return scope;
    }
    const own = this.#scopes.get(current.runId);
    const { callKey: key, stepId, toolUseId } = current;
    if (own?.kind === "run") {
      return { kind: "run", id: own.id, run: own.run, toolUseId, key, stepId };
    }
    const run = RunState.foreign(current, this.#sink);
    return { kind: "foreign", id: current.runId, run, toolUseId, key, stepId };
  }

  /**
   * The scope of the call whose code makes another one. LangChain names no parent of a call that has callbacks of its
   * own. A call of another tenant is none of that code's.
   */
  within(codeId: string | undefined, metadata: unknown): KnownScope | undefined {
    const scope = this.#scopes.above(codeId);
    if (scope === undefined || scope.kind === "refused") return undefined;
    const { given } = this.#tenants.of(fieldsOf(metadata));
    return given === undefined || given === scope.run.tenant ? scope : undefined;
  }

  /** @returns `undefined` if the tenant is not known. The scope is refused then. */
  start(from: RunStart): RunState | undefined {
    return this.#begin(this.#invocation(from), undefined);
  }

  /** Same as {@link start}. A promise if the store of paused runs gives one. */
  startGraph(from: RunStart): RunState | undefined | Promise<RunState | undefined> {
    const invocation = this.#invocation(from);
    const { outer, threadId } = invocation;
    if (outer?.inGraph === true || threadId === undefined) {
      return this.#begin(invocation, undefined);
    }
    const { tenant } = invocation;
    const waiting: RefusedScope = { kind: "refused", id: from.id, given: tenant.given };
    const known = this.#pausedOf(invocation, threadId);
    // Until it has started, it is a repetition if the handler is registered twice.
    if (known instanceof Promise) this.#scopes.set(from.id, undefined, waiting);
    return whenKnown(known, (paused) => {
      if (waiting.shares !== undefined) return undefined;
      if (known instanceof Promise) this.#scopes.delete(from.id, waiting);
      if (paused !== undefined) this.#paused.delete(threadId, paused);
      return this.#begin(invocation, paused);
    });
  }

  /**
   * An open outermost invocation starts again: a repetition, or another one with the ID. If that is another tenant's,
   * nothing says whose the later reports are, so none is sent until both have ended.
   */
  startsAgain(id: string, above: Scope | undefined, metadata: unknown): void {
    const scope = this.#scopes.get(id);
    if (scope === undefined || above?.kind === "refused") return;
    const fields = fieldsOf(metadata);
    const around = this.#sameTenant(above, fields);
    const given = around === undefined ? this.#tenants.of(fields).given : around.run.tenant;
    if (scope.kind === "refused") {
      if (scope.shares !== undefined) scope.shares += 1;
      else if (given !== scope.given) this.#refuseShared(scope);
      return;
    }
    const { run } = scope;
    if (given === run.givenTenant || given === run.tenant) return;
    const refused: RefusedScope = { kind: "refused", id };
    this.#scopes.set(id, undefined, refused);
    this.#refuseShared(refused);
    if (run.id === id) this.#fail(run, AgentError.invalidRequest(SHARED_ID), undefined);
  }

  #refuseShared(scope: RefusedScope): void {
    scope.shares = 2;
    this.counts.refused += 1;
    this.#onError(new Error(SHARED_ID));
  }

  #invocation(from: RunStart): Invocation {
    const metadata = fieldsOf(from.metadata);
    const above = this.#sameTenant(from.above, metadata);
    const outer = above === undefined || above.kind === "foreign" ? undefined : above.run;
    const threadId = threadOf(metadata) ?? above?.run.threadId;
    const tenant = above === undefined ? this.#tenants.of(metadata) : { given: above.run.tenant };
    return { from, metadata, above, outer, outerId: activeRun()?.runId, threadId, tenant };
  }

  /**
   * The paused run of the thread. If the invocation names no tenant, the run may have another one than the option
   * `tenant`: then it must be known that it is resumed, and not only from the user's store.
   */
  #pausedOf({ from, metadata, tenant }: Invocation, threadId: string) {
    const { given, otherwise } = tenant;
    return whenKnown(this.#paused.find(threadId, given ?? otherwise), (own) => {
      if (own !== undefined || otherwise === undefined || given !== undefined) return own;
      const paused = this.#paused.inMemory(threadId, undefined);
      return paused && isResumption(from.inputs, metadata, paused) ? paused : undefined;
    });
  }

  #begin(invocation: Invocation, paused: KnownPause | undefined): RunState | undefined {
    const { above, from, metadata, outer, outerId, threadId } = invocation;
    const { id, graph } = from;
    const tenantId = this.#tenantOf(invocation, paused);
    if (tenantId === undefined) return undefined;
    const isNext = paused?.runId === id;
    const resumes =
      paused !== undefined && (isNext || isResumption(from.inputs, metadata, paused))
        ? paused
        : undefined;
    const around = above?.run;
    const inherited = { rootRunId: around?.rootId, threadId, subject: around?.subject };
    const run = new RunState({
      sink: this.#sink,
      ref: newRunRef(
        {
          runId: id,
          tenantId,
          outer: inherited,
          paused: resumes,
          ask: outer === undefined ? this.#ask(from) : undefined,
        },
        this.#onError,
      ),
      outerId,
      root: above === undefined,
      graph,
      inGraph: graph || outer?.inGraph === true,
      totals: outer?.totals ?? new UsageTotals(),
      stops: outer?.stops ?? new StopSignals(),
    });
    run.continues = graph && (continues(from.inputs) || outer?.continues === true);
    run.givenTenant = invocation.tenant.given;
    run.aroundId = outer === undefined ? undefined : above?.id;
    run.reviews = graph ? (this.#reviewsIn(from, paused) ?? outer?.reviews) : outer?.reviews;
    if (paused !== undefined && isNext) run.part = partOf(paused) + 1;
    else run.resumes = resumes;
    if (graph && outer?.graph === true && !outer.ended) opensIn(outer, run);
    const beginning = {
      agent: from.agent,
      parentRunId: above?.run.id,
      // For a run outside LangChain, it is known whether there is a surrounding call.
      parentToolUseId: above?.toolUseId ?? (above?.kind === "foreign" ? null : undefined),
      parentCallKey: above?.key,
      parentStepId: above?.stepId,
      resumedFromRunId: run.resumes?.runId,
      asked: from.asked,
    };
    run.writer.started(beginning, eventOf(id, "run-start", run.part));
    return run;
  }

  #tenantOf({ from: { id }, tenant }: Invocation, paused: KnownPause | undefined) {
    const tenantId = tenant.given ?? paused?.tenantId ?? tenant.otherwise;
    if (tenantId !== undefined) return tenantId;
    this.counts.refused += 1;
    this.#scopes.set(id, undefined, { kind: "refused", id });
    this.#onError(tenant.problem);
    return undefined;
  }

  complete(run: RunState, state: unknown, answer?: unknown): void {
    this.#held.runEnded(run, "unknown");
    run.writer.cutTools(LEFT_OPEN, endOfCall);
    ended(run);
    const details = answer === undefined ? undefined : { output: answer };
    run.writer.completed(details, state, endOf(run));
  }

  pause(run: RunState, pause: Interruption): void {
    this.#held.runEnded(run, "own");
    ended(run);
    const { kind, payload } = pause;
    run.writer.interrupted(kind, payload, questionOf(payload), endOf(run));
    const { id: runId, part, subject, tenant: tenantId, threadId } = run;
    if (!run.graph || threadId === undefined) return;
    const known = this.#paused.inMemory(threadId, tenantId);
    // Another handler of the sink may report the same pause without knowing that the run was resumed.
    if (known?.runId === runId && partOf(known) > part) return;
    const details = pauseDetails(run, pause.reviews);
    const paused = { runId, tenantId, at: Date.now(), threadId, subject, details };
    this.counts.threadsForgotten += this.#paused.add(threadId, paused);
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
    cutCalls(run, cutBy(ending), at);
    run.writer.failed(runFailureOf(run, thrown), endOf(run, at));
    const { tenant, threadId, resumes } = run;
    if (resumes === undefined || threadId === undefined) return;
    // The thread may have paused again.
    if (this.#paused.inMemory(threadId, tenant) !== undefined) return;
    this.counts.threadsForgotten += this.#paused.add(threadId, resumes);
  }

  /** Ends inner graphs. LangGraph does not report the end of all graphs that it stopped when another node failed. */
  #cutRuns(run: RunState, ending: unknown, reason: unknown): void {
    for (const child of run.openRuns ?? []) {
      this.#cutRuns(child, ending, reason);
      this.#held.runEnded(child, "own", reason);
      const cut = cutBy(ending);
      cutCalls(child, cut);
      child.writer.failed(failureOf(cut, FROM_RUN), endOf(child));
    }
    run.openRuns = undefined;
    ended(run);
  }

  /** The decisions that the invocation resumes with. */
  #reviewsIn({ inputs, metadata }: RunStart, paused: KnownPause | undefined) {
    return PendingReviews.of(inputs, reviewsOf(paused), waitedMs(paused), metadata);
  }

  /** Ignores a surrounding run of another tenant, because a trace has only one tenant. */
  #sameTenant(above: KnownScope | undefined, metadata: Fields | undefined): KnownScope | undefined {
    if (above?.kind !== "foreign") return above;
    const explicit = this.#tenants.explicit(metadata);
    return explicit === undefined || explicit === above.run.tenant ? above : undefined;
  }

  /** Calls the hook for the subject of an outermost invocation. */
  #ask({ metadata, tags }: RunStart): (() => unknown) | undefined {
    const context = this.#context;
    return context && (() => context(handed(fieldsOf(metadata) ?? {}), textsOf(tags)));
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

/** Ends the calls that are open when their run fails. @param at as of {@link endOf}. */
function cutCalls(run: RunState, cut: AgentError, at?: Instant): void {
  for (const call of run.openModels) {
    const on = endOfCall(call);
    run.writer.modelCut(call, cut, undefined, at === undefined ? on : { ...on, at, isLate: true });
  }
  run.writer.cutTools(cut, endOfCall);
}

const endOfCall = ({ id }: Pick<ToolScope, "id">) => eventOf(id, "call-end");

function ended(run: RunState): void {
  run.ended = true;
  run.outerGraph?.openRuns?.delete(run);
  run.outerGraph = undefined;
}

function textsOf(tags: unknown): readonly string[] {
  return (listOf(tags) ?? []).filter((tag) => typeof tag === "string");
}
