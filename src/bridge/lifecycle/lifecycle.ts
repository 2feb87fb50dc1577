import {
  compareInstants,
  type Instant,
  isAt,
  type SignalOf as Of,
  type Signal,
  type SignalSubject,
  type SpanAttributes,
  subtractMs,
  withoutAdded,
} from "../../events/door.ts";
import type { CallIdBudget } from "./call-history.ts";
import { CallKeeper, isSameEnd } from "./call-keeper.ts";
import { type ConflictHook, Counters, type IgnoredReason } from "./counters.ts";
import { SeenEvents } from "./id-cache.ts";
import type { LifecycleRules } from "./limits.ts";
import { ModelKeeper } from "./model-keeper.ts";
import { NOT_TAKEN, type Outcome, TakenOutcome } from "./outcome.ts";
import type { SignalContext } from "./parent-context.ts";
import type { Call } from "./part.ts";
import { dropPresumedEnd, handleOn, type Run, startsAgain } from "./run.ts";
import { RunKeeper } from "./run-keeper.ts";
import type { RunObserver } from "./run-observer.ts";
import type { SpanDriver } from "./span-driver.ts";
import { StepKeeper } from "./step-keeper.ts";

/**
 * The rules of order, duplicates, orphans, limits and resume, once for every dialect.
 *
 * Pure: no clock, no I/O, no OpenTelemetry. It receives signals, each with its time, keeps bounded state
 * and calls a driver, which makes the spans. It closes every span that it opens exactly once. A signal
 * affects only runs of its own tenant. Ignored signals are counted by reason.
 */
export class Lifecycle<H> {
  readonly counters: Counters;
  readonly runs: RunKeeper<H>;
  readonly seen: SeenEvents;
  readonly #calls: CallKeeper<H>;
  readonly #models: ModelKeeper<H>;
  readonly #steps: StepKeeper<H>;
  readonly #followsSteps: boolean;
  readonly #driver: SpanDriver<H>;
  readonly #outcome = new TakenOutcome<H>();

  /**
   * @param onTenantConflict called for each conflict that `counters.adjustments.tenant_conflicts` counts.
   * @param followsSteps `false`: a step gets no span and is only activity of its run. Default `true`.
   */
  constructor(
    driver: SpanDriver<H>,
    limits: LifecycleRules,
    onTenantConflict?: ConflictHook,
    followsSteps = true,
  ) {
    const budget: CallIdBudget = { used: 0, most: limits.totalCallIds, forgotten: 0 };
    this.counters = new Counters(onTenantConflict);
    this.#driver = driver;
    this.seen = new SeenEvents(limits.eventIds, this.counters);
    const options = { driver, counters: this.counters, limits, budget };
    this.#calls = new CallKeeper(options);
    this.#models = new ModelKeeper(options);
    this.#steps = new StepKeeper(options);
    this.#followsSteps = followsSteps;
    const [calls, models, steps] = [this.#calls, this.#models, this.#steps];
    this.runs = new RunKeeper({ ...options, calls, models, steps });
  }

  /** Registers an observer of runs and calls. No run may be open, since the observer would miss its start. */
  observe(observer: RunObserver): void {
    this.runs.observer = observer;
    this.#calls.observer = observer;
    this.#models.observer = observer;
  }

  /** Carries out one signal. */
  apply(given: Signal, context: SignalContext<H>): Outcome<H> {
    const signal = withoutAdded(given);
    // Senders in plain JavaScript can pass other types.
    if (typeof signal.tenantId !== "string" || typeof signal.runId !== "string") {
      return this.#ignore("not_an_event");
    }
    switch (signal.signal) {
      case "run_opens":
        return this.#openRun(signal, context);
      case "run_closes":
        return this.#closeRun(signal, context);
      case "run_may_end": {
        const run = this.runs.findOf(signal);
        const { at, end, over, model } = signal;
        if (run !== undefined) run.mayEnd = { at, end, over, model };
        return this.#outcome.of(run);
      }
      case "call_opens":
        return this.#openCall(signal, context);
      case "call_closes":
        return this.#closeCall(signal, context);
      case "call_approved":
        return this.#approveCall(signal, context);
      case "call_denied":
        return this.#denyCall(signal, context);
      case "model_opens":
        return this.#openModelCall(signal, context);
      case "model_closes":
        return this.#closeModelCall(signal, context);
      case "step_opens":
      case "step_closes":
        return this.#takeStep(signal, context);
      case "span_event": {
        const run = this.#openRunOf(signal, context);
        if (run === undefined) return NOT_TAKEN;
        this.runs.touch(run, signal.at);
        const handle = handleOn(run, signal.on ?? "run");
        if (handle !== undefined) {
          this.#driver.addEvent(run, handle, signal.at, signal.name, signal.attributes);
        }
        return this.#outcome.of(run);
      }
      case "attributes":
      case "call_asked": {
        const run = this.#openRunOf(signal, context);
        if (run === undefined) return NOT_TAKEN;
        if (signal.signal === "call_asked") this.#calls.ask(run, signal);
        return this.#alive(run, signal.at, "attributes" in signal ? signal.attributes : undefined);
      }
      case "activity":
        if (signal.unknownType === true) this.counters.ignored.unknown_type++;
        return this.#keepAlive(signal);
      case "late":
        return this.#ignore(signal.reason);
      default:
        signal satisfies never;
        return NOT_TAKEN;
    }
  }

  #openRun(signal: Of<"run_opens">, context: SignalContext<H>): Outcome<H> {
    const { tenantId, runId, at, agent, asked, operation, parentRunId, attributes } = signal;
    if (runId === "") return this.#ignore("empty_run_id");
    const parentId = parentRunId === undefined ? undefined : this.runs.canonical(parentRunId);
    const id = this.runs.canonical(runId);
    // A run that names itself as its parent is a root.
    const parent = parentId === "" || parentId === id ? undefined : parentId;
    let run = this.runs.findOf({ tenantId, runId: id });
    if (run === undefined) {
      run = this.runs.create(tenantId, id, at);
      run.agent = agent;
      if (operation !== undefined) run.operation = operation;
      run.parentRunId = parent;
      run.parentStepId = signal.inStepId;
      run.startSeen = true;
      this.runs.open(run, at, context, signal.originInEnvelope === true ? undefined : signal);
      this.counters.runsStarted++;
    } else {
      dropPresumedEnd(run);
      if (run.open) {
        if (run.agent !== undefined) return this.#ignore("duplicate");
        this.runs.touch(run, at);
        if (operation !== undefined) run.operation = operation;
        this.runs.completeStart(run, agent, parent, context);
        this.counters.runsStarted++;
      } else {
        if (!startsAgain(run, at)) {
          if (run.agent !== undefined || agent === undefined) return this.#ignore("duplicate");
          // The `started` is late: the span has ended, but the agent's name is still useful.
          run.agent = agent;
          this.#ignore("after_end");
          return this.#outcome.of(run);
        }
        run.agent ??= agent;
        if (operation !== undefined) run.operation = operation;
        this.runs.reopen(run, at, context, true);
      }
    }
    if (asked !== undefined) this.#driver.runAsked(run, asked);
    if (attributes !== undefined && run.handle !== undefined)
      this.#driver.addAttributes(run.handle, attributes);
    return this.#outcome.of(run);
  }

  #closeRun(signal: Of<"run_closes">, context: SignalContext<H>): Outcome<H> {
    const { at, end, supposed } = signal;
    const known = this.runs.findOf(signal);
    if (supposed === true && known?.open !== true) return NOT_TAKEN;
    if (end.outcome === "abandoned") {
      if (known?.open !== true) return NOT_TAKEN;
      this.runs.abandon(known, end.reason, at);
      return this.#outcome.of(known, undefined, true);
    }
    const run = known ?? this.#createRun(signal, context);
    if (run === undefined) return NOT_TAKEN;
    if (!run.open && !this.#revive(run, at, context)) return this.#ignore("second_terminal");
    this.runs.end(run, at, end);
    return this.#outcome.of(run, undefined, true);
  }

  #openCall(signal: Of<"call_opens">, context: SignalContext<H>): Outcome<H> {
    const { at, callId, callKey, attributes, name, version } = signal;
    const run = this.#take(signal, context);
    if (run === undefined) return NOT_TAKEN;
    if (!run.open && !this.#revive(run, at, context)) {
      // If the end of the call arrives, that makes the span. The audit log still gets this event.
      this.#ignore("after_end");
      return this.#outcome.of(run);
    }
    if (!run.followsCalls) return this.#alive(run, at);
    const isSame = (call: Call<H>) =>
      call.name === name && call.version === version && call.key === callKey;
    if (!context.identified && callId !== "" && run.calls.has(callId, isSame)) {
      return this.#ignore("duplicate");
    }
    this.runs.touch(run, at);
    const call = this.#calls.open(run, signal);
    if (attributes !== undefined && call.handle !== undefined)
      this.#driver.addAttributes(call.handle, attributes);
    return this.#outcome.of(run, call);
  }

  #closeCall(signal: Of<"call_closes">, context: SignalContext<H>): Outcome<H> {
    const { at, callId, callKey, durationMs, end } = signal;
    const run = this.#take(signal, context, durationMs);
    if (run === undefined) return NOT_TAKEN;
    if (run.open && !run.followsCalls) return this.#alive(run, at);
    const last = run.history.last(callId);
    if (!context.identified && callId !== "" && last && isSameEnd(last, at, durationMs)) {
      return this.#ignore("duplicate");
    }
    if (!run.open && !this.#revive(run, subtractMs(at, durationMs), context)) {
      if (run.history.occurrences(callId) > 0) {
        this.#ignore("after_end");
        return this.#outcome.of(run, last);
      }
    }
    this.runs.touch(run, at);
    const open = run.calls.oldestOf(callId, signal.name, callKey);
    let call = open;
    if (call === undefined) {
      call = this.#calls.openAndClose(run, signal, subtractMs(at, durationMs), end, durationMs);
    } else this.#calls.close(run, call, at, end, durationMs);
    // Stored in the newest call of the ID, where a repeat is looked up.
    const newest = open === undefined ? call : (last ?? call);
    newest.lastEndAt = at;
    newest.lastEndMs = durationMs;
    return this.#outcome.of(run, call);
  }

  #approveCall(signal: Of<"call_approved">, context: SignalContext<H>): Outcome<H> {
    const { at, beforeStart, callId, callKey, name } = signal;
    const run = this.#take(signal, context);
    if (run === undefined) return NOT_TAKEN;
    if (run.open && !run.followsCalls) return this.#alive(run, at);
    const isBefore = !run.open || beforeStart === true;
    const open = isBefore ? undefined : run.calls.oldestOf(callId, name, callKey);
    const last = run.lastApproval;
    const repeats = last?.callId === callId && last.callKey === callKey && isAt(last.at, at);
    if (!context.identified && callId !== "" && repeats) {
      return this.#ignore("duplicate");
    }
    if (!run.open && !this.#revive(run, at, context)) {
      // The span has ended. The audit log still gets the decision.
      this.#ignore("after_end");
      return this.#outcome.of(run);
    }
    this.runs.touch(run, at);
    this.#calls.approve(run, signal, open);
    return this.#outcome.of(run);
  }

  #denyCall(signal: Of<"call_denied">, context: SignalContext<H>): Outcome<H> {
    const { at, beforeStart, callId, callKey, content, attributes, decision, name } = signal;
    const run = this.#take(signal, context);
    if (run === undefined) return NOT_TAKEN;
    if (run.open && !run.followsCalls) return this.#alive(run, at);
    const isBefore = !run.open || beforeStart === true;
    const open = isBefore ? undefined : run.calls.oldestOf(callId, name, callKey);
    const last = run.history.last(callId);
    const repeats = open === undefined && last?.denied === true && isAt(last.startedAt, at);
    if (!context.identified && callId !== "" && repeats) return this.#ignore("duplicate");
    if (!run.open && !this.#revive(run, at, context) && run.history.occurrences(callId) > 0) {
      return this.#ignore("after_end");
    }
    this.runs.touch(run, at);
    // An answer in place of the tool is not a denial.
    if (decision?.outcome !== "answered") run.deniedCalls++;
    this.#calls.observer?.callDecided(run, at, signal);
    const end = { outcome: "denied", content, attributes, decision } as const;
    if (open === undefined)
      return this.#outcome.of(run, this.#calls.openAndClose(run, signal, at, end));
    this.#calls.close(run, open, at, end);
    return this.#outcome.of(run, open);
  }

  #openModelCall(signal: Of<"model_opens">, context: SignalContext<H>): Outcome<H> {
    const { at, modelCallId = "" } = signal;
    const run = this.#openRunOf(signal, context);
    if (run === undefined) return NOT_TAKEN;
    if (!run.followsCalls) return this.#alive(run, at);
    this.runs.touch(run, at);
    const isNew = this.#models.open(run, modelCallId, at, signal, signal);
    return isNew ? this.#outcome.of(run) : this.#ignore("duplicate");
  }

  #closeModelCall(signal: Of<"model_closes">, context: SignalContext<H>): Outcome<H> {
    const { at, durationMs, end, modelCallId = "" } = signal;
    const onlyOpen = durationMs === undefined;
    const run = onlyOpen ? this.runs.findOf(signal) : this.#openRunOf(signal, context, durationMs);
    if (run === undefined) return NOT_TAKEN;
    dropPresumedEnd(run);
    if (!run.open) return NOT_TAKEN;
    if (!run.followsCalls) return this.#alive(run, at);
    this.runs.touch(run, at);
    const from = onlyOpen ? undefined : subtractMs(at, durationMs);
    const isNew = this.#models.close(run, modelCallId, at, end, from, signal);
    return isNew ? this.#outcome.of(run) : this.#ignore("duplicate");
  }

  #takeStep(signal: Of<"step_opens"> | Of<"step_closes">, context: SignalContext<H>): Outcome<H> {
    if (!this.#followsSteps) return this.#keepAlive(signal);
    const opens = signal.signal === "step_opens";
    const run = this.#openRunOf(signal, context, opens ? 0 : signal.durationMs);
    if (run === undefined) return NOT_TAKEN;
    if (!run.followsCalls) return this.#alive(run, signal.at);
    this.runs.touch(run, signal.at);
    const isNew = opens ? this.#steps.open(run, signal) : this.#steps.close(run, signal);
    return isNew ? this.#outcome.of(run) : this.#ignore("duplicate");
  }

  /**
   * Handles an event of a run whose calls are not followed: it only keeps the run alive. This avoids
   * {@link apply} and the signal for most events of a run that is not sampled.
   *
   * @param roughly the time of the last clock reading.
   * @returns whether the event was handled.
   */
  passQuietly(tenantId: string, runId: string, roughly: Instant): boolean {
    const run = this.runs.findFirstOpen(tenantId, runId);
    if (run === undefined || run.followsCalls) return false;
    this.counters.events++;
    this.runs.touch(run, roughly);
    return true;
  }

  /** The run of a signal. A run that was never seen is opened at the start of the event. */
  #take(signal: SignalSubject, context: SignalContext<H>, durationMs = 0): Run<H> | undefined {
    const known = this.runs.findOf(signal);
    if (known === undefined) return this.#createRun(signal, context, durationMs);
    dropPresumedEnd(known);
    return known;
  }

  /** The run of a signal that needs an open run. `undefined` and counted if it has ended. */
  #openRunOf(signal: SignalSubject, context: SignalContext<H>, durationMs = 0): Run<H> | undefined {
    const run = this.#take(signal, context, durationMs);
    if (run === undefined || run.open) return run;
    if (this.#revive(run, subtractMs(signal.at, durationMs), context)) return run;
    this.#ignore("after_end");
    return undefined;
  }

  #createRun(
    { at, tenantId, runId }: SignalSubject,
    context: SignalContext<H>,
    durationMs = 0,
  ): Run<H> | undefined {
    if (runId === "") {
      this.#ignore("empty_run_id");
      return undefined;
    }
    return this.runs.openUnseen(tenantId, runId, subtractMs(at, durationMs), context);
  }

  /** Keeps the run alive, and adds attributes to its span. */
  #alive(run: Run<H>, at: Instant, attributes?: SpanAttributes): Outcome<H> {
    this.runs.touch(run, at);
    if (attributes !== undefined && run.handle !== undefined)
      this.#driver.addAttributes(run.handle, attributes);
    return this.#outcome.of(run);
  }

  /** Opens the next segment of a run that was abandoned or presumed ended. */
  #revive(run: Run<H>, at: Instant, context: SignalContext<H>): boolean {
    const { outcome, supposedAt } = run;
    // An event up to the presumed end still belongs to the old segment.
    const continues = supposedAt !== undefined && compareInstants(at, supposedAt) > 0;
    if (outcome !== "abandoned" && !continues) return false;
    this.runs.reopen(run, at, context, false);
    return true;
  }

  /** Keeps a run alive, if it is known. */
  #keepAlive(signal: SignalSubject): Outcome<H> {
    const run = this.runs.findOf(signal);
    if (run !== undefined) this.runs.touch(run, signal.at);
    return this.#outcome.of(run);
  }

  #ignore(reason: IgnoredReason): Outcome<H> {
    this.counters.ignored[reason]++;
    return NOT_TAKEN;
  }
}
