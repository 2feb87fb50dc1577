import type { LoopLimits } from "./loop-limits.ts";
import { endOf, PolledTool, replaced, type ToolEnd } from "./tool-ends.ts";
import { UNKNOWN } from "./value-digest.ts";

/** Most started calls that wait for earlier ones. With more, the oldest counts as an unknown call. */
const MOST_PENDING = 3;

export type LoopKind = "repeat" | "ping_pong" | "poll";

/** A loop of a run's tool calls. */
export interface Loop {
  readonly kind: LoopKind;
  /** Calls of a `repeat` or `poll`, or alternations of a `ping_pong`, that are known to be equal. */
  readonly count: number;
  /** One or two, sorted by name. */
  readonly tools: readonly string[];
}

/** A call of a run's tool. The object is its identity. */
export interface ToolCallName {
  readonly name: string;
}

/** A started call that is not counted yet. */
class Pending {
  readonly call: ToolCallName;
  /** Digest of tool and input. */
  readonly what: number;
  /** Digest of tool, input and result. `undefined` while the call is open. */
  seen: number | undefined = undefined;
  next: Pending | undefined = undefined;

  constructor(call: ToolCallName, what: number) {
    this.call = call;
    this.what = what;
  }
}

/**
 * Detects loops in the tool calls of one run, from a tool's third call. It keeps digests, but no content.
 *
 * Calls count in the order of their starts. A call that ends before an earlier one waits for it.
 */
export class LoopWatch {
  /** The last ends of the run's tools. */
  ends: ToolEnd | undefined;
  #oldest: Pending | undefined = undefined;
  /** Digest and number of the newest consecutive equal calls. */
  #row = UNKNOWN;
  #inRow = 0;
  /** The alternation of the newest calls: its length, the last tool, and the digests of the two newest calls. */
  #turns = 0;
  #lastTool = "";
  #last = UNKNOWN;
  #before = UNKNOWN;
  /** The first loop that was found, in few words. */
  #kind: LoopKind | undefined = undefined;
  #count = 0;
  #tool = "";
  #otherTool = "";

  constructor(ends: ToolEnd | undefined) {
    this.ends = ends;
  }

  /** The first loop that was found. */
  get loop(): Loop | undefined {
    const [kind, count, tool, other] = [this.#kind, this.#count, this.#tool, this.#otherTool];
    if (kind === undefined) return undefined;
    return { kind, count, tools: tool === other ? [tool] : [tool, other].sort() };
  }

  /** @param what {@link UNKNOWN} for a call that equals no other. */
  started(call: ToolCallName, what: number, limits: LoopLimits): void {
    const pending = new Pending(call, what);
    const oldest = this.#oldest;
    if (oldest === undefined) {
      this.#oldest = pending;
      return;
    }
    let last = oldest;
    let count = 1;
    for (; last.next !== undefined; last = last.next) count++;
    last.next = pending;
    if (count < MOST_PENDING) return;
    // It counts as an unknown call, regardless of its later end.
    this.#oldest = oldest.next;
    this.#take(oldest.call.name, UNKNOWN, UNKNOWN, limits);
    this.#takeSettled(limits);
  }

  /** The digest of an open call. {@link UNKNOWN} if the call is not pending. */
  whatOf(call: ToolCallName): number {
    return this.#find(call)?.what ?? UNKNOWN;
  }

  /** The call ran to its end. */
  ended(call: ToolCallName, seen: number, limits: LoopLimits): void {
    const pending = this.#find(call);
    if (pending === undefined) return;
    pending.seen = seen;
    this.#takeSettled(limits);
  }

  /** The call does not count. */
  dropped(call: ToolCallName, limits: LoopLimits): void {
    if (this.#oldest?.call === call) this.#oldest = this.#oldest.next;
    for (let pending = this.#oldest; pending !== undefined; pending = pending.next) {
      if (pending.next?.call === call) pending.next = pending.next.next;
    }
    this.#takeSettled(limits);
  }

  #find(call: ToolCallName): Pending | undefined {
    for (let pending = this.#oldest; pending !== undefined; pending = pending.next) {
      if (pending.call === call) return pending;
    }
    return undefined;
  }

  #takeSettled(limits: LoopLimits): void {
    for (let pending = this.#oldest; pending?.seen !== undefined; pending = pending.next) {
      this.#oldest = pending.next;
      this.#take(pending.call.name, pending.what, pending.seen, limits);
    }
  }

  #take(tool: string, what: number, seen: number, limits: LoopLimits): void {
    this.#inRow = what === UNKNOWN ? 0 : what === this.#row ? this.#inRow + 1 : 1;
    this.#row = what;
    const { repeat, pollTools } = limits;
    if (reaches(this.#inRow, repeat) && !pollTools.has(tool)) {
      this.#found("repeat", this.#inRow, tool, tool);
    }
    this.#takeTurn(tool, seen, limits);
    this.#poll(tool, seen, limits);
  }

  #takeTurn(tool: string, seen: number, { pingPong }: LoopLimits): void {
    if (seen === UNKNOWN) this.#turns = 0;
    else if (seen === this.#last) this.#turns = 1;
    else if (seen === this.#before) this.#turns++;
    else this.#turns = this.#last === UNKNOWN ? 1 : 2;
    this.#before = seen === UNKNOWN ? UNKNOWN : this.#last;
    this.#last = seen;
    const alternations = this.#turns >> 1;
    if (reaches(alternations, pingPong)) {
      this.#found("ping_pong", alternations, tool, this.#lastTool);
    }
    this.#lastTool = tool;
  }

  #poll(tool: string, seen: number, { poll }: LoopLimits): void {
    const end = endOf(this.ends, tool);
    if (end === undefined) return;
    if (end instanceof PolledTool) {
      const polls = end.polled(seen);
      if (reaches(polls, poll)) this.#found("poll", polls, tool, tool);
    } else if (seen !== UNKNOWN) {
      const polled = new PolledTool(end);
      polled.polled(seen);
      this.ends = replaced(this.ends, end, polled);
    }
  }

  #found(kind: LoopKind, count: number, tool: string, other: string): void {
    if (this.#kind === undefined) {
      this.#kind = kind;
      this.#count = count;
      this.#tool = tool;
      this.#otherTool = other;
      return;
    }
    const isSame = tool === this.#tool && other === this.#otherTool;
    const isTurned = tool === this.#otherTool && other === this.#tool;
    const goesOn = kind === this.#kind && (isSame || isTurned);
    if (goesOn && count > this.#count) this.#count = count;
  }
}

function reaches(count: number, limit: number): boolean {
  return limit > 0 && count >= limit;
}
