import type { Instant } from "../instant.ts";
import { UNKNOWN } from "./value-digest.ts";

/** Most tools of a run whose last end is kept. A run keeps them while it is open. */
const MOST_TOOLS = 8;
/** Nanoseconds take 30 bits. */
const AGAIN = 1 << 30;

/**
 * The last call of each tool of a run, and whether it failed. A completed run with a failed one is degraded.
 *
 * The objects themselves form a linked list in few words, because every open run has one.
 */
export class ToolEnd {
  readonly tool: string;
  #seconds: number;
  /** With {@link AGAIN} from the second call on. Its complement if the call failed. */
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

  /** Number of the tool's ended calls, at most two. */
  get count(): 1 | 2 {
    return (this.#word & AGAIN) === 0 ? 1 : 2;
  }

  /**
   * Another call of the tool ended. The later end counts, in any order of reports. If both ended at the same time,
   * the success counts.
   */
  update([seconds, nanos]: Instant, failed: boolean): void {
    const later = seconds - this.#seconds || nanos - (this.#word & ~AGAIN);
    const isLast = later > 0 || (later === 0 && !failed);
    if (isLast) this.#seconds = seconds;
    const word = (isLast ? nanos : this.#word) | AGAIN;
    this.#nanos = (isLast ? failed : this.failed) ? ~word : word;
  }

  /** The end of the last call. */
  get at(): Instant {
    return [this.#seconds, this.#word & ~AGAIN];
  }

  get #word(): number {
    return this.failed ? ~this.#nanos : this.#nanos;
  }
}

/** A tool that was polled, and how often in a row with equal input and equal result. */
export class PolledTool extends ToolEnd {
  /** Digest of call and result. */
  #seen = UNKNOWN;
  #polls = 0;

  /** @param end the tool's earlier calls. This object replaces it in the list. */
  constructor(end: ToolEnd) {
    super(end.tool, end.at, end.failed, end.next);
    if (end.count === 2) this.update(end.at, end.failed);
  }

  /** @returns the number of calls with equal input and result, including this one. */
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

/** The list with one node replaced. */
export function replaced(ends: ToolEnd | undefined, old: ToolEnd, by: ToolEnd): ToolEnd {
  for (let end = ends; end !== undefined; end = end.next) if (end.next === old) end.next = by;
  return ends === undefined || ends === old ? by : ends;
}

/**
 * Records the end of a call that ran.
 *
 * @param ends the run's earlier ends.
 * @returns the list with this end. If there are too many tools, a success is dropped first.
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

/** The tools whose last call failed, sorted by name. */
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
