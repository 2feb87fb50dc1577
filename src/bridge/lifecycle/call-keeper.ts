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
import { hasCall, PartKeeper, UNFINISHED } from "./part-keeper.ts";
import type { Run } from "./run.ts";

const PAUSED: CallEnd = { outcome: "interrupted" };

/** Identifies a call and its parents. */
interface CallName {
  readonly callId: string;
  readonly callKey?: string | undefined;
  readonly name: string;
  readonly version?: string | undefined;
  /** The step of the run that contains it. */
  readonly inStepId?: string | undefined;
  /** ID or key of the open call of the run that made it. With a step given too, the inner one is the parent. */
  readonly inCallId?: string | undefined;
}

/** An approval as its source reports it. */
type GivenApproval = Omit<Approval, "attributes"> & {
  readonly decision?: DecisionDetails | undefined;
};

/** Opens and closes the tool calls of a run. Numbers them, limits them and applies approvals. */
export class CallKeeper<H> extends PartKeeper<H, Call<H>, CallEnd> {
  /** Opens a call. Closes the oldest open call of the run if there are too many. */
  open(
    run: Run<H>,
    opening: CallName & { readonly at: Instant; readonly content?: unknown },
  ): Call<H> {
    const call = this.#begin(run, opening, opening.at, opening.content);
    this.add(run, run.calls, call);
    return call;
  }

  /**
   * @param durationMs measured by the source, in ms; 0 if unknown. Default: the end has no event of its
   *   own, and the observer does not get it.
   */
  close(run: Run<H>, call: Call<H>, at: Instant, end: CallEnd, durationMs?: number): void {
    this.stop(run, run.calls, call, at, end, durationMs);
  }

  /** @param open the approved call if it has started. Default: the approval waits for the next call of its ID. */
  approve(run: Run<H>, given: GivenApproval, open: Call<H> | undefined): void {
    const { at, callId, callKey, name, waitMs, decision } = given;
    const attributes = this.driver.addApprovalEvent(run, at, callId, name, decision);
    const approval: Approval = { callId, callKey, name, at, waitMs, attributes };
    run.lastApproval = approval;
    run.approvedCalls++;
    this.observer?.callDecided(run, at, given);
    if (open !== undefined) approved(open, approval);
    else {
      run.approvals ??= new Approvals();
      const waiting = run.approvals.given;
      waiting.push(approval);
      if (waiting.length > this.limits.openCalls) {
        waiting.shift();
        this.counters.adjustments.forgotten_approvals++;
      }
    }
    run.approvals?.settle(approval);
  }

  /** Records a request for approval of a call. */
  ask(run: Run<H>, asked: Asked): void {
    if (!run.followsCalls || isAnswered(run, asked)) return;
    const { at, callId, callKey, name } = asked;
    run.approvals ??= new Approvals();
    if (run.approvals.ask({ at, callId, callKey, name }, this.limits.openCalls)) {
      this.counters.adjustments.forgotten_approvals++;
    }
  }

  /** A child has paused. The parent's open call above it now waits for approval, too. */
  childPaused(child: Run<H>, at: Instant): void {
    const { parent } = child;
    const call = callAbove(child);
    if (parent !== undefined && call !== undefined) {
      this.ask(parent, namedAt(call, at));
    }
  }

  /** A paused child continues. The parent's call above it no longer waits for a decision. */
  childContinued(child: Run<H>, at: Instant): void {
    const approvals = child.parent?.approvals;
    const call = approvals && callAbove(child);
    if (call !== undefined) approvals?.settle(namedAt(call, at));
  }

  /** Closes the open calls of a run that is about to end. The call that a pause waits for ends as interrupted. */
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

  /** Opens and closes a call that is known from one event only. */
  openAndClose(
    run: Run<H>,
    call: CallName & { readonly at: Instant },
    startedAt: Instant,
    end: CallEnd,
    durationMs?: number,
  ): Call<H> {
    const begun = this.#begin(run, call, startedAt, undefined);
    this.finish(run, begun, call.at, end, durationMs);
    return begun;
  }

  #begin(run: Run<H>, opening: CallName, at: Instant, content: unknown): Call<H> {
    const { callId, callKey, name, version } = opening;
    const last = run.history.last(callId);
    const occurrence = run.history.occurrences(callId, last) + 1;
    const call = new Call<H>(callId, name, version, occurrence, at, run.ids, callKey);
    if (last !== undefined) {
      call.lastEndAt = last.lastEndAt;
      call.lastEndMs = last.lastEndMs;
    }
    // A call that the code of another one makes is not the agent's own. Looked up before this call is recorded: its
    // sender may name the call itself, and then only an open one of that ID is around it.
    const { inCallId, inStepId } = opening;
    const isItself = inCallId === callId || inCallId === callKey;
    const isInside =
      inCallId !== undefined &&
      (isItself ? run.calls.newestOf(inCallId) !== undefined : hasCall(run, inCallId));
    if (!isInside) run.toolCalls++;
    const parent = this.around(run, isInside ? opening : { inStepId });
    run.history.record(call, this.limits.callIds, this.budget);
    const approval = run.approvals?.take(call);
    if (approval !== undefined) approved(call, approval);
    run.approvals?.settle({ callId, callKey, name, at });
    // A start can complete a loop of the calls before it, also while other calls are open.
    const looksForLoop = this.#looksForLoop(run);
    run.callTrail = callStarted(run.callTrail, call, content, run.calls, this.limits.loops);
    if (looksForLoop) this.#reportLoop(run);
    this.counters.spansOpened++;
    call.handle = this.driver.openCall(run, call, at, content, parent);
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
    run.approvals?.settle(namedAt(call, at));
    call.approvalAttributes = undefined;
  }

  /** Adds the end to the trail of the run's calls. */
  #noteEnd(run: Run<H>, call: Call<H>, at: Instant, end: CallEnd): void {
    const { loops } = this.limits;
    const looksForLoop = this.#looksForLoop(run);
    if (end.outcome === "complete" || end.outcome === "error") {
      const failed = end.outcome === "error";
      const result = failed ? end.message : end.content;
      run.callTrail = callEnded(run.callTrail, call, { at, failed, result }, loops);
    } else callDropped(run.callTrail, call, loops);
    if (looksForLoop) this.#reportLoop(run);
  }

  #looksForLoop(run: Run<H>): boolean {
    return this.observer !== undefined && loopOf(run.callTrail) === undefined;
  }

  #reportLoop(run: Run<H>): void {
    const loop = loopOf(run.callTrail);
    if (loop !== undefined) this.observer?.loopFound(run, loop);
  }
}

function namedAt<H>({ id, key, name }: Call<H>, at: Instant): Asked {
  return { callId: id, callKey: key, name, at };
}

/** The parent's open call above a child: the named one, else the oldest. */
function callAbove<H>({ parent, parentCallId, parentCallKey }: Run<H>): Call<H> | undefined {
  if (parent === undefined || parent.toolCalls === 0) return undefined;
  const { calls } = parent;
  return parentCallId === undefined ? calls.oldest : calls.newestOf(parentCallKey ?? parentCallId);
}

/** Whether an end has the time and duration of the last end of its ID: a repeat. */
export function isSameEnd<H>(last: Call<H>, at: Instant, durationMs: number): boolean {
  return last.lastEndAt !== undefined && last.lastEndMs === durationMs && isAt(last.lastEndAt, at);
}

function approved<H>(call: Call<H>, { attributes, waitMs }: Approval): void {
  call.approved = true;
  call.approvalWaitMs = waitMs;
  call.approvalAttributes = attributes;
}
