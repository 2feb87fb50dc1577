import {
  type CallTrail,
  callDropped,
  callEnded,
  callStarted,
  type Loop,
  type LoopLimits,
  loopOf,
  type ToolCallName,
  type UsageLimitBreach,
} from "../../events/door.ts";

/** An open call of a run. */
export interface LoopCall extends ToolCallName {
  /** The next newer open call. */
  next: LoopCall | undefined;
}

/** Finds loops in the tool calls of one run, in the same way as the bridge. */
export class ToolLoops {
  readonly #limits: LoopLimits;
  #trail: CallTrail = undefined;
  #oldest: LoopCall | undefined = undefined;
  /** Used instead of a time, because events of one run are in order. */
  #ends = 0;

  constructor(limits: LoopLimits) {
    this.#limits = limits;
  }

  started(name: string, input: unknown): LoopCall {
    const call: LoopCall = { name, next: undefined };
    this.#trail = callStarted(this.#trail, call, input, { oldest: this.#oldest }, this.#limits);
    if (this.#oldest === undefined) this.#oldest = call;
    else {
      let last = this.#oldest;
      while (last.next !== undefined) last = last.next;
      last.next = call;
    }
    return call;
  }

  /**
   * A call ended.
   *
   * @param result of the call, or the text of its error.
   * @returns the exceeded limit, if the run is in a loop.
   */
  ended(call: LoopCall, failed: boolean, result: unknown): UsageLimitBreach | undefined {
    this.#close(call);
    this.#ends += 1;
    const ran = { at: [this.#ends, 0] as [number, number], failed, result };
    this.#trail = callEnded(this.#trail, call, ran, this.#limits);
    const loop = loopOf(this.#trail);
    if (loop === undefined) return undefined;
    return { axis: "tool_loop", limit: this.#limitOf(loop), observed: loop.count };
  }

  /** A call was cut off or paused. It does not count. */
  dropped(call: LoopCall): void {
    this.#close(call);
    callDropped(this.#trail, call, this.#limits);
  }

  #close(call: LoopCall): void {
    if (this.#oldest === call) this.#oldest = call.next;
    for (let before = this.#oldest; before !== undefined; before = before.next) {
      if (before.next === call) before.next = call.next;
    }
  }

  #limitOf({ kind }: Loop): number {
    switch (kind) {
      case "repeat":
        return this.#limits.repeat;
      case "ping_pong":
        return this.#limits.pingPong;
      case "poll":
        return this.#limits.poll;
      default:
        return kind satisfies never;
    }
  }
}
