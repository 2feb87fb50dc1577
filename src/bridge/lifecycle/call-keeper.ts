import {
  type CallEnd,
  callDropped,
  callEnded,
  callStarted,
  type DecisionDetails,
  type Instant,
  isAt,
  loopOf,
  millisecondsBetween,
  type RunEnd,
} from "../../events/door.ts";
import { type Approval, Approvals, type Asked, isAnswered } from "./approvals.ts";
import { Call } from "./part.ts";
import { PartKeeper, UNFINISHED } from "./part-keeper.ts";
import type { Run } from "./run.ts";

const PAUSED: CallEnd = { outcome: "interrupted" };

/** What tells calls apart, and where they stand. */
interface CallName {
  readonly callId: string;
  readonly name: string;
  readonly version?: string | undefined;
  /** The step of the run that it belongs to. */
  readonly inStepId?: string | undefined;
  /** The open call of the run that made it: the inner one of call and step, where both are named. */
  readonly inCallId?: string | undefined;
}

/** An approval as its source tells it. */
type GivenApproval = Omit<Approval, "attributes"> & {
  readonly decision?: DecisionDetails | undefined;
};

/** Opens and closes the calls of a run: their numbering, their limits, their approvals. */
export class CallKeeper<H> extends PartKeeper<H, Call<H>, CallEnd> {
  /** Opens a call; the oldest open one of the run is closed when there are too many. */
  open(
    run: Run<H>,
    opening: CallName & { readonly at: Instant; readonly content?: unknown },
  ): Call<H> {
    const call = this.#begin(run, opening, opening.at, opening.content);
    this.add(run, run.calls, call);
    return call;
  }

  /**
   * @param durationMs as the source measured it, in ms, 0 where it does not say; `undefined` where no
   *   event tells of the end.
   */
  close(run: Run<H>, call: Call<H>, at: Instant, end: CallEnd, durationMs?: number): void {
    this.stop(run, run.calls, call, at, end, durationMs);
  }

  /** @param open the call that was approved, where it has started; else the next one of its id is. */
  approve(run: Run<H>, told: GivenApproval, open: Call<H> | undefined): void {
    const { at, callId, name, waitMs, decision } = told;
    const attributes = this.driver.addApprovalEvent(run, at, callId, name, decision);
    const approval: Approval = { callId, name, at, waitMs, attributes };
    run.lastApproval = approval;
    run.approvedCalls++;
    this.observer?.callDecided(run, at, told);
    if (open !== undefined) approved(open, approval);
    else {
      run.approvals ??= new Approvals();
      const { given } = run.approvals;
      given.push(approval);
      if (given.length > this.limits.openCalls) {
        given.shift();
        this.counters.adjustments.forgotten_approvals++;
      }
    }
    run.approvals?.settle(approval);
  }

  /** Somebody is asked about a call. */
  ask(run: Run<H>, asked: Asked): void {
    if (!run.followsCalls || isAnswered(run, asked)) return;
    const { at, callId, name } = asked;
    run.approvals ??= new Approvals();
    if (run.approvals.ask({ at, callId, name }, this.limits.openCalls)) {
      this.counters.adjustments.forgotten_approvals++;
    }
  }

  /** A child has paused: the open call of its parent that it stands under waits for somebody, too. */
  childPaused(child: Run<H>, at: Instant): void {
    const { parent } = child;
    const call = callAbove(child);
    if (parent !== undefined && call !== undefined) {
      this.ask(parent, { callId: call.id, name: call.name, at });
    }
  }

  /** A paused child goes on. The parent's call above it waits for the child, no longer for a decision. */
  childWentOn(child: Run<H>, at: Instant): void {
    const approvals = child.parent?.approvals;
    const call = approvals && callAbove(child);
    if (call !== undefined) approvals?.settle({ callId: call.id, name: call.name, at });
  }

  /** Closes every open call of a run that is about to end. The one a pause waits for is paused. */
  closeAll(run: Run<H>, at: Instant, end: RunEnd): void {
    if (run.toolCalls === 0) return;
    const waited =
      end.outcome === "interrupted" && end.kind?.type === "approval_pending"
        ? end.kind.tool_use_id
        : undefined;
    for (let call = run.calls.oldest; call !== undefined; call = run.calls.oldest) {
      this.close(run, call, at, call.id === waited ? PAUSED : UNFINISHED);
    }
  }

  /** A call that is known by one event alone: its span opens and closes at once. */
  whole(
    run: Run<H>,
    told: CallName & { readonly at: Instant },
    startedAt: Instant,
    end: CallEnd,
    durationMs?: number,
  ): Call<H> {
    const call = this.#begin(run, told, startedAt, undefined);
    this.finish(run, call, told.at, end, durationMs);
    return call;
  }

  #begin(run: Run<H>, told: CallName, at: Instant, content: unknown): Call<H> {
    const { callId, name, version } = told;
    const last = run.history.last(callId);
    const occurrence = run.history.occurrences(callId, last) + 1;
    const call = new Call<H>(callId, name, version, occurrence, at, run.ids);
    if (last !== undefined) {
      call.lastEndAt = last.lastEndAt;
      call.lastEndMs = last.lastEndMs;
    }
    run.history.record(call, this.limits.callIds, this.budget);
    run.toolCalls++;
    const approval = run.approvals?.take(call);
    if (approval !== undefined) approved(call, approval);
    run.approvals?.settle({ callId, name, at });
    // Beside calls that stay open, a start settles those before it, and may complete a loop.
    const isToTell = this.#looksForLoop(run);
    run.callTrail = callStarted(run.callTrail, call, content, run.calls, this.limits.loops);
    if (isToTell) this.#tellLoop(run);
    this.counters.spansOpened++;
    call.handle = this.driver.openCall(run, call, at, content, this.around(run, told));
    return call;
  }

  protected override end(
    run: Run<H>,
    call: Call<H>,
    at: Instant,
    end: CallEnd,
    durationMs?: number,
  ): void {
    if (end.outcome === "error") run.toolErrors++;
    else if (end.outcome === "denied") call.denied = true;
    this.#noteEnd(run, call, at, end);
    if (this.observer !== undefined && durationMs !== undefined) {
      const took = durationMs > 0 ? durationMs : millisecondsBetween(call.startedAt, at);
      this.observer.callEnded(run, call.name, took, end);
    }
    this.driver.closeCall(run, call, at, end);
    run.approvals?.settle({ callId: call.id, name: call.name, at });
    call.approvalAttributes = undefined;
  }

  /** What the end adds to the trail of the run's calls. */
  #noteEnd(run: Run<H>, call: Call<H>, at: Instant, end: CallEnd): void {
    const { loops } = this.limits;
    const isToTell = this.#looksForLoop(run);
    if (end.outcome === "complete" || end.outcome === "error") {
      const failed = end.outcome === "error";
      const result = failed ? end.message : end.content;
      run.callTrail = callEnded(run.callTrail, call, { at, failed, result }, loops);
    } else callDropped(run.callTrail, call, loops);
    if (isToTell) this.#tellLoop(run);
  }

  #looksForLoop(run: Run<H>): boolean {
    return this.observer !== undefined && loopOf(run.callTrail) === undefined;
  }

  #tellLoop(run: Run<H>): void {
    const loop = loopOf(run.callTrail);
    if (loop !== undefined) this.observer?.loopFound(run, loop);
  }
}

/** The open call of its parent that a child stands under; the oldest, where it does not say. */
function callAbove<H>({ parent, parentCallId }: Run<H>): Call<H> | undefined {
  if (parent === undefined || parent.toolCalls === 0) return undefined;
  const { calls } = parent;
  return parentCallId === undefined ? calls.oldest : calls.newestOf(parentCallId);
}

/** An end equal to the last one of its id in time and duration has come before. */
export function isSameEnd<H>(last: Call<H>, at: Instant, durationMs: number): boolean {
  return last.lastEndAt !== undefined && last.lastEndMs === durationMs && isAt(last.lastEndAt, at);
}

function approved<H>(call: Call<H>, { attributes, waitMs }: Approval): void {
  call.approved = true;
  call.approvalWaitMs = waitMs;
  call.approvalAttributes = attributes;
}
