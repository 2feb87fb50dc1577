import { compareInstants, type Instant } from "../events/instant.ts";
import { before } from "./before.ts";
import type { Call } from "./call.ts";
import { isSameEnd } from "./call-keeper.ts";
import { type ConflictHook, Counters, type IgnoredReason } from "./counters.ts";
import { IdCache } from "./id-cache.ts";
import type { LifecycleLimits } from "./limits.ts";
import type { Run } from "./run.ts";
import { RunKeeper } from "./run-keeper.ts";
import type { RunObserver } from "./run-observer.ts";
import type { CallEnd, CallProblem, EventPlace, Facts, RunEnd, RunPlace } from "./signals.ts";
import type { SpanDriver } from "./span-driver.ts";

/**
 * The rules of order, duplicates, orphans, limits and resume, once for every dialect.
 *
 * Pure: no clock, no I/O, no OpenTelemetry. A dialect calls it with neutral signals (a run opens or
 * closes, a call opens or closes, an approval), each with its time; it keeps bounded state and calls
 * a driver, which makes the spans. Every span it opens it closes exactly once.
 *
 * Every signal is about the run of its own tenant: a run of another tenant with the same id neither
 * takes nor stops it. A signal returns false when it changed nothing because it repeats another one or
 * is no event; the reason is counted.
 */
export class Lifecycle<H> {
  readonly counters: Counters;
  readonly runs: RunKeeper<H>;
  #lastRun: Run<H> | undefined = undefined;
  #lastCall: Call<H> | undefined = undefined;
  /** The events that they were noted in. */
  #lastRunIn = 0;
  #lastCallIn = 0;
  readonly #driver: SpanDriver<H>;
  readonly #limits: LifecycleLimits;
  readonly #eventIds: IdCache;
  /** Whether the event being taken has an id: then equal looks don't make a duplicate. */
  #identified = false;

  /** @param onTenantConflict called for each conflict that `counters.bent.tenant_conflicts` counts. */
  constructor(
    driver: SpanDriver<H>,
    place: EventPlace<H>,
    limits: LifecycleLimits,
    onTenantConflict?: ConflictHook,
  ) {
    this.counters = new Counters(onTenantConflict);
    this.#driver = driver;
    this.#limits = limits;
    this.#eventIds = new IdCache(limits.eventIds);
    this.runs = new RunKeeper(driver, place, this.counters, limits);
  }

  /** The run that the last signal of this event was about. */
  get lastRun(): Run<H> | undefined {
    return this.#lastRunIn === this.counters.events ? this.#lastRun : undefined;
  }

  /** The call that the last signal of this event was about. */
  get lastCall(): Call<H> | undefined {
    return this.#lastCallIn === this.counters.events ? this.#lastCall : undefined;
  }

  /** From now on tells of runs and calls. None may be open: of those it would see the end alone. */
  observe(observer: RunObserver): void {
    this.runs.observer = observer;
    this.runs.calls.observer = observer;
    this.runs.models.observer = observer;
  }

  /** Begins an event that has no id. Every signal of the event follows. */
  beginUnidentified(): void {
    this.counters.events++;
    this.#identified = false;
  }

  /**
   * The same for an event that may have an id.
   *
   * @returns false when the event has come before.
   */
  begin(tenantId: string, eventId: string | undefined): boolean {
    this.beginUnidentified();
    // Programs without types give `null` and `""` for none; no two events may share those.
    if (typeof eventId !== "string" || eventId === "") return true;
    this.#identified = true;
    if (!this.#eventIds.add(tenantId, eventId)) return this.#ignore("duplicate");
    this.counters.bent.forgotten_event_ids = this.#eventIds.forgotten;
    return true;
  }

  /** @param told what a dialect says of the run's place, beside what the envelope does. */
  startRun(
    tenantId: string,
    runId: string,
    at: Instant,
    agent: string | undefined,
    parentRunId: string | undefined,
    told?: RunPlace,
  ): boolean {
    if (!isText(tenantId) || !isText(runId)) return this.#ignore("not_an_event");
    if (runId === "") return this.#ignore("empty_run_id");
    const parentId = parentRunId === undefined ? undefined : this.runs.canonical(parentRunId);
    const id = this.runs.canonical(runId);
    // A run that names itself as its parent has none.
    const parent = parentId === "" || parentId === id ? undefined : parentId;
    const known = this.runs.findCanonical(tenantId, id);
    if (known === undefined) {
      const run = this.runs.create(tenantId, id, at);
      run.agent = agent;
      run.parentRunId = parent;
      run.startSeen = true;
      this.#noteRun(run);
      this.runs.open(run, at, told);
      this.counters.runsStarted++;
      return true;
    }
    this.#noteRun(known);
    if (known.open) {
      if (known.agent !== undefined) return this.#ignore("duplicate");
      this.runs.touch(known, at);
      this.runs.completeStart(known, agent, parent);
      this.counters.runsStarted++;
      return true;
    }
    const continues = known.outcome === "interrupted" || known.outcome === "abandoned";
    if (!continues || compareInstants(at, known.startedAt) <= 0) return this.#ignore("duplicate");
    known.agent ??= agent;
    this.runs.reopen(known, at, true);
    return true;
  }

  endRun(tenantId: string, runId: string, at: Instant, end: RunEnd): boolean {
    const run = this.#take(tenantId, runId, at);
    if (run === undefined) return false;
    if (!run.open && !this.#revive(run, at)) return this.#ignore("second_terminal");
    this.runs.close(run, at, end);
    return true;
  }

  startCall(
    tenantId: string,
    runId: string,
    at: Instant,
    callId: string,
    name: string,
    version: string | undefined,
    content: unknown,
  ): boolean {
    const run = this.#take(tenantId, runId, at);
    if (run === undefined) return false;
    if (!run.open && !this.#revive(run, at)) {
      // Its end, should it come, makes the span; the event itself is true.
      this.#ignore("after_end");
      return true;
    }
    if (!run.followsCalls) return this.#alive(run, at);
    if (!this.#identified && callId !== "" && run.calls.has(callId, name, version)) {
      return this.#ignore("duplicate");
    }
    this.runs.touch(run, at);
    this.#noteCall(this.runs.calls.open(run, at, callId, name, version, content));
    return true;
  }

  /**
   * @param durationMs as the source measured it, in ms: places the start of a call that was not
   *   seen to start.
   * @param problem absent when the call completed.
   */
  endCall(
    tenantId: string,
    runId: string,
    at: Instant,
    callId: string,
    name: string,
    version: string | undefined,
    durationMs: number,
    problem: CallProblem | undefined,
    content: unknown,
    facts?: Facts,
  ): boolean {
    const run = this.#take(tenantId, runId, at, durationMs);
    if (run === undefined) return false;
    if (run.open && !run.followsCalls) return this.#alive(run, at);
    const last = run.history.last(callId);
    if (!this.#identified && callId !== "" && last && isSameEnd(last, at, durationMs)) {
      return this.#ignore("duplicate");
    }
    if (!run.open && !this.#revive(run, before(at, durationMs))) {
      if (run.history.occurrences(callId) > 0) {
        this.#noteCall(last);
        this.#ignore("after_end");
        return true;
      }
    }
    this.runs.touch(run, at);
    const end = callEnd(problem, content, facts);
    const call = run.calls.oldestOf(callId, name);
    let newest = last ?? call;
    if (call === undefined) {
      const from = before(at, durationMs);
      newest = this.runs.calls.whole(run, from, at, callId, name, version, end, durationMs);
      this.#noteCall(newest);
    } else {
      this.runs.calls.close(run, call, at, end, durationMs);
      this.#noteCall(call);
    }
    if (newest !== undefined) {
      newest.lastEndAt = at;
      newest.lastEndMs = durationMs;
    }
    return true;
  }

  /** @param waitMs how long the approver took, in ms, where the source says when it asked. */
  approveCall(
    tenantId: string,
    runId: string,
    at: Instant,
    callId: string,
    name: string,
    waitMs: number | undefined,
  ): boolean {
    const run = this.#take(tenantId, runId, at);
    if (run === undefined) return false;
    if (run.open && !run.followsCalls) return this.#alive(run, at);
    const last = run.lastApproval;
    if (!this.#identified && callId !== "" && last?.callId === callId && isAt(last.at, at)) {
      return this.#ignore("duplicate");
    }
    if (!run.open && !this.#revive(run, at)) return this.#ignore("after_end");
    this.runs.touch(run, at);
    const approval = { callId, name, at, waitMs };
    run.lastApproval = approval;
    run.approvals ??= [];
    run.approvals.push(approval);
    if (run.approvals.length > this.#limits.openCalls) {
      run.approvals.shift();
      this.counters.bent.forgotten_approvals++;
    }
    run.approvedCalls++;
    this.#driver.noteApproval(run, at, callId, name);
    return true;
  }

  denyCall(
    tenantId: string,
    runId: string,
    at: Instant,
    callId: string,
    name: string,
    content: unknown,
    facts?: Facts,
  ): boolean {
    const run = this.#take(tenantId, runId, at);
    if (run === undefined) return false;
    if (run.open && !run.followsCalls) return this.#alive(run, at);
    const last = run.history.last(callId);
    if (!this.#identified && callId !== "" && last?.denied && isAt(last.startedAt, at)) {
      return this.#ignore("duplicate");
    }
    if (!run.open && !this.#revive(run, at) && run.history.occurrences(callId) > 0) {
      return this.#ignore("after_end");
    }
    this.runs.touch(run, at);
    run.deniedCalls++;
    const end: CallEnd = { outcome: "denied", content, facts };
    this.#noteCall(this.runs.calls.whole(run, at, at, callId, name, undefined, end));
    return true;
  }

  /**
   * Takes an event of a call that nobody will see, if it is one: a sign of life of its run.
   *
   * @param roughly the time as it was read last: no more is needed.
   */
  passQuietly(tenantId: string, runId: string, roughly: Instant): boolean {
    const run = this.runs.findFirstOpen(tenantId, runId);
    if (run === undefined || run.followsCalls) return false;
    this.counters.events++;
    return this.#alive(run, roughly);
  }

  /** An event of the run that says nothing the lifecycle knows: the run is alive. */
  noteActivity(tenantId: string, runId: string, at: Instant): boolean {
    if (!isText(tenantId) || !isText(runId)) return this.#ignore("not_an_event");
    this.#ignore("unknown_type");
    const run = this.runs.find(tenantId, runId);
    if (run === undefined) return true;
    this.#noteRun(run);
    return this.#alive(run, at);
  }

  /** The run continues another one, which became known after its start. */
  noteResumed(tenantId: string, runId: string, resumedFromRunId: string): void {
    const run = this.runs.find(tenantId, runId);
    if (run === undefined || !run.open || run.resumedFromRunId !== undefined) return;
    const resumedFrom = this.runs.canonical(resumedFromRunId);
    if (resumedFrom === run.runId) return;
    run.resumedFromRunId = resumedFrom;
    this.runs.observer?.runResumed(run, resumedFrom);
    this.#driver.noteResumed(run, this.runs.resumedFrom(run, resumedFrom));
  }

  /** The run that something is about which only an open run has; opened if it was never seen. */
  openRunOf(tenantId: string, runId: string, at: Instant): Run<H> | undefined {
    const run = this.#take(tenantId, runId, at);
    if (run === undefined || run.open || this.#revive(run, at)) return run;
    this.#ignore("after_end");
    return undefined;
  }

  /** The tenant's run that a signal is about; opened, as far back as the event lasted, if never seen. */
  #take(tenantId: string, runId: string, at: Instant, durationMs = 0): Run<H> | undefined {
    if (!isText(tenantId) || !isText(runId)) {
      this.#ignore("not_an_event");
      return undefined;
    }
    const known = this.runs.find(tenantId, runId);
    this.#noteRun(known);
    if (known !== undefined) return known;
    if (runId === "") {
      this.#ignore("empty_run_id");
      return undefined;
    }
    const id = this.runs.canonical(runId);
    const from = before(at, durationMs);
    const run = this.runs.create(tenantId, id, from);
    run.startUnseen = true;
    this.counters.bent.unseen_starts++;
    this.#noteRun(run);
    this.runs.open(run, from);
    return run;
  }

  // Mostly the one of the event before: a young object in a field of this old one is written down for
  // the garbage collector each time.
  #noteRun(run: Run<H> | undefined): void {
    if (this.#lastRun !== run) this.#lastRun = run;
    this.#lastRunIn = this.counters.events;
  }

  #noteCall(call: Call<H> | undefined): void {
    if (this.#lastCall !== call) this.#lastCall = call;
    this.#lastCallIn = this.counters.events;
  }

  /** An event that leaves nothing but a sign of life of its run. */
  #alive(run: Run<H>, at: Instant): true {
    this.runs.touch(run, at);
    return true;
  }

  /** An event of a run that was given up opens its next segment. */
  #revive(run: Run<H>, at: Instant): boolean {
    const { outcome, supposedAt } = run;
    // Of a run that only seemed to be over, what is not later than that is still the old segment's.
    const goesOn = supposedAt !== undefined && compareInstants(at, supposedAt) > 0;
    if (outcome !== "abandoned" && !goesOn) return false;
    this.runs.reopen(run, at, false);
    return true;
  }

  #ignore(reason: IgnoredReason): false {
    this.counters.ignored[reason]++;
    return false;
  }
}

function callEnd(
  problem: CallProblem | undefined,
  content: unknown,
  facts: Facts | undefined,
): CallEnd {
  if (problem === undefined) return { outcome: "complete", content, facts };
  if (facts === undefined) return problem;
  if (problem.outcome === "interrupted") {
    return { outcome: "interrupted", message: problem.message, facts };
  }
  const { envelope, kind, message } = problem;
  return { outcome: "error", kind, message, envelope, facts };
}

/**
 * Senders in plain JavaScript are not held to the types. It is looked at here, and not before it is
 * told by `type` which event it is: there a field of any of them is slow to read.
 */
function isText(value: unknown): boolean {
  return typeof value === "string";
}

const isAt = (a: Instant, b: Instant): boolean => compareInstants(a, b) === 0;
