import {
  AgentError,
  type AgentEvent,
  callErrorHook,
  cutOf,
  Deferred,
  FROM_RUN,
  sourceMoment,
  sourceOf,
} from "../../events/door.ts";
import { type OpenEnvelope, RunWriter, withDetails } from "../writer/door.ts";
import { cutBy, LazySignal, Watch } from "./aborts.ts";
import type { ActiveRun } from "./active-run.ts";
import { carried, currentIn } from "./active-run.ts";
import { EventQueue } from "./event-queue.ts";
import { OpenCall, type RunCore } from "./open-call.ts";
import { contentOf, questionIn } from "./run-content.ts";
import {
  type Interruption,
  interruptionIn,
  RunEndedError,
  RunNotCompletedError,
} from "./run-errors.ts";
import type { RunPlan } from "./run-options.ts";
import type { RunPolicy } from "./run-policy.ts";
import { ToolLoops } from "./tool-loops.ts";

/** Starts of calls. */
const CALL_STARTS: ReadonlySet<AgentEvent["type"]> = new Set(["tool_start", "model_start"]);

/** Start and end of the run itself, which are in none of its steps. */
const OF_RUN: ReadonlySet<AgentEvent["type"]> = new Set([
  "started",
  "complete",
  "failed",
  "interrupted",
]);

type Ending =
  | { readonly type: "complete"; readonly state: unknown }
  | { readonly type: "failed"; readonly error: unknown }
  | { readonly type: "interrupted"; readonly error: Interruption };

/**
 * A run from start to end. It sends one `started`, and at most one terminal event. Only the first ending counts, and
 * it ends all open calls.
 */
export class LiveRun<I> implements RunCore {
  readonly plan: RunPlan<I>;
  readonly writer: RunCore["writer"];
  readonly current: ActiveRun;
  readonly policy: RunPolicy;
  readonly loops: ToolLoops | undefined;
  /** Its start, for finding the source of an error. */
  readonly #since = sourceMoment();
  readonly #queue: EventQueue;
  readonly #signal = new LazySignal();
  readonly #watch = new Watch();
  readonly #calls = new Set<OpenCall>();
  /** Whether its code has returned, thrown, or ended the run. There is nothing left to abort then. */
  #isWorkDone = false;
  #pausing: Interruption | undefined;
  /** Further calls that wait for an external decision. */
  readonly #alsoPending: Interruption[] = [];
  #ending: Ending | undefined;
  /** Whether the end was sent. No event may follow it. */
  #isSealed = false;
  /** Resolves when the sink has accepted the end, or is no longer awaited. */
  readonly #endTaken = new Deferred<void>();
  /** The error for the caller of a complete run, if the sink refused the end. */
  #refusal: { readonly error: unknown } | undefined;

  constructor(plan: RunPlan<I>) {
    const { runId, tenantId, rootRunId, threadId, subject, sink } = plan;
    this.plan = plan;
    const own = this.#signal;
    this.policy = {
      ...plan.policy,
      get signal() {
        return own.signal;
      },
    };
    const { loops } = plan.policy;
    this.loops = loops === undefined ? undefined : new ToolLoops(loops);
    const { policy } = this;
    const whileOpen: ActiveRun["whileOpen"] = (cut) => this.#whileOpen(cut);
    const hasEnded = () => this.hasEnded;
    const scope = { tenantId, runId, rootRunId, threadId, sink, whileOpen, hasEnded };
    this.current = { ...scope, subject, policy };
    this.#queue = new EventQueue(sink, (error) => this.#report(error));
    const outlet = { send: (event: AgentEvent, on: OpenEnvelope) => this.#send(event, on) };
    this.writer = new RunWriter(outlet, plan, { totals: policy.budget });
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  get lostEvents(): number {
    return this.#queue.failures;
  }

  /**
   * Sends `started`, and then watches signals and deadline.
   *
   * @throws (rejects) with the sink's error. Nothing else is sent then. If the run is aborted before the sink
   *    answers, it resolves, and the run has ended.
   */
  async start(): Promise<void> {
    const { agent, parent, parentCallKey, parentStepId, signals, deadlineMs } = this.plan;
    const parentRunId = parent?.parent_run_id;
    try {
      const asked = contentOf(this.plan.input, "user");
      const from = { agent, asked, parentRunId, parentCallKey, parentStepId };
      const taken = this.writer.started(from);
      for (const signal of signals) this.#watch.signal(signal, (error) => this.#abort(error));
      if (deadlineMs !== undefined) {
        this.#watch.timer(deadlineMs, () => this.#abort(AgentError.deadlineExceeded()));
      }
      if (taken !== undefined) await Promise.race([taken, this.#endTaken.promise]);
    } catch (error) {
      // The run never started, so it has no end.
      this.#isSealed = true;
      this.#end({ type: "failed", error });
      throw error;
    }
  }

  /**
   * Runs the code of the run, unless it has ended, and ends the run with the outcome.
   *
   * @returns the result of `fn`. Rejects as {@link outcome}.
   */
  work<S>(fn: () => S | PromiseLike<S>): Promise<S> {
    return new Promise((resolve, reject) => {
      const ended = this.outcome();
      ended.catch(reject);
      if (this.#ending !== undefined) return;
      this.within(async () => fn()).then(
        (state) => {
          this.complete(state);
          ended.then(() => resolve(state), reject);
        },
        (error: unknown) => this.threw(error),
      );
    });
  }

  within<T>(work: () => T): T {
    return carried(this.current.sink, {}, this.current, work);
  }

  /**
   * Waits for the end of the run and for its sink.
   *
   * @throws (rejects) with the run's error, or with the sink's error at `complete`.
   */
  async outcome(): Promise<void> {
    await this.#endTaken.promise;
    if (this.#refusal !== undefined) throw this.#refusal.error;
    if (this.#ending?.type !== "complete") throw this.#ending?.error;
  }

  /** Waits like {@link outcome}, but never rejects. */
  settled(): Promise<void> {
    return this.#endTaken.promise;
  }

  /** The code of the run returned. Returns `false` if the run has already ended or pauses. */
  complete(state: unknown): boolean {
    this.#isWorkDone = true;
    if (this.#ending !== undefined || this.#pausing !== undefined) return false;
    this.#end({ type: "complete", state });
    return true;
  }

  /** The code of the run threw an error. */
  threw(error: unknown): void {
    this.#isWorkDone = true;
    if (this.#pausing !== undefined) return;
    const interruption = interruptionIn(error);
    if (interruption === undefined) this.#end({ type: "failed", error });
    else this.pause(interruption);
  }

  /** The handle was closed before the run ended. */
  abandon(): void {
    if (this.#ending === undefined) this.threw(new RunNotCompletedError());
  }

  fail(error: AgentError): void {
    if (this.#pausing === undefined) this.#end({ type: "failed", error });
    else this.#cutPauseShort(this.#pausing, error);
  }

  pause(interruption: Interruption): void {
    if (this.#ending !== undefined) return;
    const isApproval = interruption.detail.kind.type === "approval_pending";
    if (this.#pausing !== undefined) {
      if (isApproval) this.#alsoPending.push(interruption);
      return;
    }
    this.#pausing = interruption;
    this.#watch.timer(this.policy.graceMs, () => this.#endPause(interruption));
    // Parallel approvers may also be about to return `external`.
    if (isApproval) setImmediate(() => this.#cutAsked(interruption));
    else this.#cutAsked(interruption);
  }

  /** Ends calls that wait for a decision, so that the pause need not wait for people. */
  #cutAsked(interruption: Interruption): void {
    if (this.#ending !== undefined) return;
    for (const call of this.#calls) {
      if (call.isAsked && this.#calls.delete(call)) call.cut(interruption);
    }
    if (this.#calls.size === 0) this.#endPause(interruption);
  }

  /** Sends an event of the writer. Calls may end after the run, and are not reported then. */
  #send(event: AgentEvent, envelope: OpenEnvelope): void | Promise<void> {
    // Also for a root run. Its root is then known even if `started` is lost.
    envelope.root_run_id = this.plan.rootRunId;
    if (!OF_RUN.has(event.type)) {
      if (this.#isSealed) return;
      const { callKey, stepId, toolUseId } = currentIn(this.current);
      if (stepId !== undefined) withDetails(envelope, { step_id: stepId });
      // A call that the code of a tool makes stands below the tool's call.
      if (toolUseId !== undefined && CALL_STARTS.has(event.type)) {
        withDetails(envelope, { tool_use_id: callKey ?? toolUseId });
      }
    }
    return this.#queue.send(event, envelope);
  }

  assertOpen(what: string): void {
    if (this.#ending !== undefined) throw this.endedError(what);
    if (this.#pausing !== undefined) throw this.#pausing;
  }

  /** The error for calls after the end. */
  endedError(what: string): RunEndedError {
    const error = this.#ending?.type === "complete" ? undefined : this.#ending?.error;
    return new RunEndedError(this.plan.runId, what, error);
  }

  track(call: OpenCall): void {
    this.#calls.add(call);
  }

  untrack(call: OpenCall): void {
    this.#calls.delete(call);
    if (this.#pausing !== undefined && this.#calls.size === 0) this.#endPause(this.#pausing);
  }

  #whileOpen(cut: (error: AgentError) => void): () => void {
    const call = new OpenCall(() => {});
    call.begin(cut);
    this.track(call);
    return () => this.untrack(call);
  }

  #endPause(interruption: Interruption): void {
    this.#end({ type: "interrupted", error: withAll(interruption, this.#alsoPending) });
  }

  /**
   * Ends the pause at once, without waiting for open calls. The run still ends as paused, because that came first and
   * a person must be asked.
   */
  #cutPauseShort(interruption: Interruption, error: AgentError): void {
    // Sub-agents in these calls need the signal to end.
    if (this.#ending === undefined) this.#signal.abort(cutBy(error));
    this.#endPause(interruption);
  }

  /** A signal fired, or the deadline passed. */
  #abort(error: AgentError): void {
    // The deadline also limits the wait for a sink after `complete`.
    if (this.#ending?.type === "complete") this.#refuse(error);
    else this.fail(error);
  }

  #end(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    const isAborted = ending.type === "failed" && !this.#isWorkDone;
    if (isAborted || this.#calls.size > 0) {
      const cut = cutBy(ending.type === "complete" ? undefined : ending.error);
      // Sub-agents listen to the signal. They end before the calls around them, and the calls before the run.
      if (isAborted) this.#signal.abort(cut);
      for (const call of this.#calls) call.cut(cut);
      this.#calls.clear();
    }
    if (this.#isSealed) {
      this.#settle();
    } else {
      this.#isSealed = true;
      this.#sendEnd(ending);
    }
  }

  #sendEnd(ending: Ending): void {
    switch (ending.type) {
      case "complete":
        this.#sendComplete(ending.state ?? null);
        break;
      case "failed": {
        const { error } = ending;
        const scope = { rootRunId: this.plan.rootRunId, since: this.#since };
        const source = sourceOf(error, scope) ?? FROM_RUN;
        // A signal that the run does not know stopped the call.
        const thrown = cutOf(error, scope) ?? error;
        this.#awaitBadEnd(this.writer.failed({ thrown, source }));
        break;
      }
      case "interrupted": {
        const { kind, payload } = ending.error.detail;
        const asked = questionIn(kind, payload);
        this.#awaitBadEnd(this.writer.interrupted(kind, payload ?? null, asked));
      }
    }
  }

  #sendComplete(state: unknown): void {
    try {
      const output = contentOf(state, "assistant");
      const details = output === undefined ? undefined : { output };
      const taken = this.writer.completed(details, state);
      if (taken === undefined) this.#settle();
      else
        taken.then(
          () => this.#settle(),
          (error: unknown) => this.#refuse(error),
        );
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Waits for the sink at most `graceMs`, so that the caller gets the run's error even if the sink hangs. */
  #awaitBadEnd(taken: void | Promise<void>): void {
    if (taken === undefined) {
      this.#settle();
      return;
    }
    const { graceMs } = this.policy;
    const timer = setTimeout(() => {
      this.#report(new Error(`sink: took no event for ${graceMs} ms after the run had ended`));
      this.#settle();
    }, graceMs);
    void taken.then(() => {
      clearTimeout(timer);
      this.#settle();
    });
  }

  #refuse(error: unknown): void {
    this.#refusal ??= { error };
    this.#settle();
  }

  #settle(): void {
    this.#watch.stop();
    this.#endTaken.resolve();
  }

  #report(error: unknown): void {
    callErrorHook(this.policy.onError, error);
  }
}

/** The first pause, with a list of all payloads if several calls wait. */
function withAll(first: Interruption, others: readonly Interruption[]): Interruption {
  const { kind } = first.detail;
  if (others.length === 0 || kind.type !== "approval_pending") return first;
  const payload = [first, ...others].map(({ detail }) => detail.payload);
  return interruptionIn(AgentError.interrupted(kind, payload)) ?? first;
}
