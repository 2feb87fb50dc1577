import type { Instant } from "../instant.ts";
import { UNKNOWN } from "./value-digest.ts";

/** Most tools of a run whose last end is known. A run holds them while it is open. */
const MOST_TOOLS = 8;
/** Nanoseconds take 30 bits. */
const AGAIN = 1 << 30;

/**
 * How the last calls of a run's tools ended: what makes a run that completes a degraded one.
 *
 * A list through the objects themselves, in as few words as can be, since every open run has one.
 */
export class ToolEnd {
  readonly tool: string;
  #seconds: number;
  /** With {@link AGAIN} where it is not the first. Its complement where the call failed. */
  #nanos: number;
  next: ToolEnd | undefined;

  constructor(tool: string, at: Instant, failed: boolean, next: ToolEnd | undefined) {
    this.tool = tool;
    this.#seconds = at[0];
    this.#nanos = failed ? ~at[1] : at[1];
    this.next = next;
  }

  get failed(): boolean {
    return this.#nanos < 0;
  }

  /** How many calls of the tool have ended, as far as two. */
  get count(): 1 | 2 {
    return (this.#word & AGAIN) === 0 ? 1 : 2;
  }

  /** Another call of the tool ended. The later end counts, whichever is told first; of two at once, the success. */
  update([seconds, nanos]: Instant, failed: boolean): void {
    const later = seconds - this.#seconds || nanos - (this.#word & ~AGAIN);
    const isLast = later > 0 || (later === 0 && !failed);
    if (isLast) this.#seconds = seconds;
    const word = (isLast ? nanos : this.#word) | AGAIN;
    this.#nanos = (isLast ? failed : this.failed) ? ~word : word;
  }

  /** When the last call ended. */
  get at(): Instant {
    return [this.#seconds, this.#word & ~AGAIN];
  }

  get #word(): number {
    return this.failed ? ~this.#nanos : this.#nanos;
  }
}

/** A tool that was called again and again: how often in a row with equal input and equal result. */
export class PolledTool extends ToolEnd {
  /** Digest of call and result. */
  #seen = UNKNOWN;
  #polls = 0;

  /** @param end of the tool's calls so far, whose place in the list it takes. */
  constructor(end: ToolEnd) {
    super(end.tool, end.at, end.failed, end.next);
    if (end.count === 2) this.update(end.at, end.failed);
  }

  /** @returns how many calls have had equal input and result, this one included. */
  polled(seen: number): number {
    const isEqual = seen !== UNKNOWN && seen === this.#seen;
    this.#seen = seen;
    this.#polls = isEqual ? this.#polls + 1 : Number(seen !== UNKNOWN);
    return this.#polls;
  }
}

/** The node of a tool. */
export function endOf(ends: ToolEnd | undefined, tool: string): ToolEnd | undefined {
  for (let end = ends; end !== undefined; end = end.next) if (end.tool === tool) return end;
  return undefined;
}

/** The list with another node in the place of one. */
export function replaced(ends: ToolEnd | undefined, old: ToolEnd, by: ToolEnd): ToolEnd {
  for (let end = ends; end !== undefined; end = end.next) if (end.next === old) end.next = by;
  return ends === undefined || ends === old ? by : ends;
}

/**
 * Notes that a call ran to its end.
 *
 * @param ends those of the run so far.
 * @returns them with this one. Of more tools than are followed, a success is forgotten first.
 */
export function withToolEnd(
  ends: ToolEnd | undefined,
  tool: string,
  at: Instant,
  failed: boolean,
): ToolEnd | undefined {
  let count = 0;
  let success: ToolEnd | undefined;
  for (let end = ends; end !== undefined; end = end.next) {
    if (end.tool === tool) {
      end.update(at, failed);
      return ends;
    }
    count++;
    if (!end.failed) success = end;
  }
  if (count < MOST_TOOLS) return new ToolEnd(tool, at, failed, ends);
  return success === undefined ? ends : new ToolEnd(tool, at, failed, without(ends, success));
}

const NONE: readonly string[] = [];

/** The tools whose last call failed, in the order of their names. */
export function failedTools(ends: ToolEnd | undefined): readonly string[] {
  let failed: string[] | undefined;
  for (let end = ends; end !== undefined; end = end.next) {
    if (!end.failed) continue;
    failed ??= [];
    failed.push(end.tool);
  }
  return failed?.sort() ?? NONE;
}

function without(ends: ToolEnd | undefined, gone: ToolEnd): ToolEnd | undefined {
  if (ends === gone) return gone.next;
  for (let end = ends; end !== undefined; end = end.next) {
    if (end.next === gone) end.next = gone.next;
  }
  return ends;
}
