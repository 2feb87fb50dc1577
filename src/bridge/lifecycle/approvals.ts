import { compareInstants, type Instant, isSince, type SpanAttributes } from "../../events/door.ts";
import type { Call } from "./part.ts";
import type { Run } from "./run.ts";

/** A tool call that was approved and has not started. */
export interface Approval {
  readonly callId: string;
  readonly callKey?: string | undefined;
  readonly name: string;
  readonly at: Instant;
  readonly waitMs?: number | undefined;
  /** Attributes for the span of the call. The decision itself is not stored, since it holds content. */
  readonly attributes?: SpanAttributes | undefined;
}

/** A request for approval of a tool call that has no known answer. */
export interface Asked {
  /** If empty, calls are matched by the name of the tool. */
  readonly callId: string;
  readonly callKey?: string | undefined;
  readonly name: string;
  readonly at: Instant;
}

/** The open requests for approval of a run, and approvals whose calls have not started. */
export class Approvals {
  /** Oldest first. */
  readonly given: Approval[] = [];
  /** In order of arrival. */
  readonly #asked: Asked[] = [];

  /** The oldest open request. */
  get oldestAsked(): Asked | undefined {
    let oldest = this.#asked[0];
    for (const asked of this.#asked) {
      if (oldest === undefined || compareInstants(asked.at, oldest.at) < 0) oldest = asked;
    }
    return oldest;
  }

  /** @returns whether an older request was dropped because there were more than `most`. */
  ask(question: Asked, most: number): boolean {
    const at = this.#asked.findIndex((known) => isSameCall(known, question));
    const known = this.#asked[at];
    if (known !== undefined) {
      if (compareInstants(question.at, known.at) > 0) this.#asked[at] = question;
      return false;
    }
    this.#asked.push(question);
    if (this.#asked.length <= most) return false;
    this.#asked.shift();
    return true;
  }

  /** Removes the earlier requests for a call that was decided, started or ended. */
  settle(call: Asked): void {
    const at = this.#asked.findIndex((asked) => isSameCall(asked, call));
    const asked = this.#asked[at];
    if (asked !== undefined && compareInstants(asked.at, call.at) <= 0) this.#asked.splice(at, 1);
  }

  /** Removes and returns the approval of a call that starts. */
  take<H>(call: Call<H>): Approval | undefined {
    const started = { callId: call.id, callKey: call.key, name: call.name };
    const at = this.given.findIndex((given) => isSameCall(given, started));
    return at < 0 ? undefined : this.given.splice(at, 1)[0];
  }
}

/** Whether a request is older than its answer. Such a request does not wait, also if it arrives later. */
export function isAnswered<H>(run: Run<H>, asked: Asked): boolean {
  const { at } = asked;
  if (run.segment > 1 && isSince(run.startedAt, at)) return true;
  const { approvals, lastApproval: newest } = run;
  const isAnswer = (one: Approval) => isSameCall(one, asked) && isSince(one.at, at);
  if (newest !== undefined && isAnswer(newest)) return true;
  if (approvals?.given.some(isAnswer)) return true;
  const last = run.toolCalls === 0 ? undefined : run.history.last(asked.callId);
  if (last === undefined || (asked.callId === "" && last.name !== asked.name)) return false;
  return isSince(last.startedAt, at) || isSince(last.lastEndAt, at);
}

type CallName = Pick<Asked, "callId" | "callKey" | "name">;

function isSameCall(one: CallName, other: CallName): boolean {
  if (one.callId !== other.callId || one.callKey !== other.callKey) return false;
  return one.callId !== "" || one.name === other.name;
}
