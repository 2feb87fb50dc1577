import { compareInstants, type Instant } from "../events/instant.ts";
import { Call } from "./call.ts";
import type { CallIdBudget } from "./call-history.ts";
import type { Counters } from "./counters.ts";
import type { LifecycleLimits } from "./limits.ts";
import type { Approval, Run } from "./run.ts";
import type { CallEnd } from "./signals.ts";
import type { SpanDriver } from "./span-driver.ts";

const UNFINISHED: CallEnd = { outcome: "unfinished" };

/** Opens and closes the calls of a run: their numbering, their limits, their approvals. */
export class CallKeeper<H> {
  readonly #driver: SpanDriver<H>;
  readonly #counters: Counters;
  readonly #limits: LifecycleLimits;
  readonly #budget: CallIdBudget;

  constructor(
    driver: SpanDriver<H>,
    counters: Counters,
    limits: LifecycleLimits,
    budget: CallIdBudget,
  ) {
    this.#driver = driver;
    this.#counters = counters;
    this.#limits = limits;
    this.#budget = budget;
  }

  /** Opens a call; the oldest open one of the run is closed when there are too many. */
  open(
    run: Run<H>,
    at: Instant,
    callId: string,
    name: string,
    version: string | undefined,
    content: unknown,
  ): Call<H> {
    const call = this.#begin(run, at, callId, name, version, content);
    run.calls.add(call);
    if (run.calls.size > this.#limits.openCalls && run.calls.oldest !== undefined) {
      this.#counters.bent.evicted_calls++;
      this.close(run, run.calls.oldest, at, UNFINISHED);
    }
    return call;
  }

  close(run: Run<H>, call: Call<H>, at: Instant, end: CallEnd): void {
    run.calls.remove(call);
    this.#finish(run, call, at, end);
  }

  /** Closes every open call of a run that is about to end. */
  closeAll(run: Run<H>, at: Instant): void {
    if (run.toolCalls === 0) return;
    for (let call = run.calls.oldest; call !== undefined; call = run.calls.oldest) {
      this.close(run, call, at, UNFINISHED);
    }
  }

  /** A call that is known by one event alone: its span opens and closes at once. */
  whole(
    run: Run<H>,
    startedAt: Instant,
    at: Instant,
    callId: string,
    name: string,
    version: string | undefined,
    end: CallEnd,
  ): Call<H> {
    const call = this.#begin(run, startedAt, callId, name, version, undefined);
    this.#finish(run, call, at, end);
    return call;
  }

  #begin(
    run: Run<H>,
    at: Instant,
    callId: string,
    name: string,
    version: string | undefined,
    content: unknown,
  ): Call<H> {
    const last = run.history.last(callId);
    const occurrence = run.history.occurrences(callId, last) + 1;
    const call = new Call<H>(callId, name, version, occurrence, at);
    if (last !== undefined) {
      call.lastEndAt = last.lastEndAt;
      call.lastEndMs = last.lastEndMs;
    }
    run.history.record(call, this.#limits.callIds, this.#budget);
    run.toolCalls++;
    if (run.approvals !== undefined) takeApproval(run.approvals, call);
    this.#counters.spansOpened++;
    call.handle = this.#driver.openCall(run, call, at, content);
    return call;
  }

  #finish(run: Run<H>, call: Call<H>, asked: Instant, end: CallEnd): void {
    if (end.outcome === "error") run.toolErrors++;
    else if (end.outcome === "denied") call.denied = true;
    this.#driver.closeCall(run, call, this.#counters.notBefore(call.startedAt, asked), end);
    call.handle = undefined;
  }
}

/** An end equal to the last one of its id in time and duration has come before. */
export function isSameEnd<H>(last: Call<H>, at: Instant, durationMs: number): boolean {
  return (
    last.lastEndAt !== undefined &&
    last.lastEndMs === durationMs &&
    compareInstants(last.lastEndAt, at) === 0
  );
}

function takeApproval<H>(approvals: Approval[], call: Call<H>): void {
  const at = approvals.findIndex(
    (approval) => approval.callId === call.id && (call.id !== "" || approval.name === call.name),
  );
  const approval = approvals[at];
  if (approval === undefined) return;
  approvals.splice(at, 1);
  call.approved = true;
  call.approvalWaitMs = approval.waitMs;
}
