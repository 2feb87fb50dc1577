import type { Instant } from "../events/instant.ts";

/** Most tools of a run whose last end is known. A run holds them while it is open. */
const MOST_TOOLS = 8;

/**
 * How the last calls of a run's tools ended: what makes a run that completes a degraded one.
 *
 * A list through the objects themselves, in as few words as can be, since every open run has one.
 */
export class ToolEnd {
  readonly tool: string;
  #seconds: number;
  /** Its complement where the call failed. */
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

  /** Another call of the tool ended. The later end counts, whichever is told first; of two at once, the success. */
  update([seconds, nanos]: Instant, failed: boolean): void {
    const known = this.failed ? ~this.#nanos : this.#nanos;
    const later = seconds - this.#seconds || nanos - known;
    if (later < 0 || (later === 0 && failed)) return;
    this.#seconds = seconds;
    this.#nanos = failed ? ~nanos : nanos;
  }
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

/** How a run ended, in its segment. */
interface EndedRun {
  readonly outcome: string | undefined;
  readonly toolEnds?: ToolEnd | undefined;
}

/**
 * The tools whose last own call in the segment failed, if the run completed all the same. Another process may
 * know of no segment but this one, and must say the same.
 */
export function degradedTools({ outcome, toolEnds }: EndedRun): readonly string[] {
  return failedTools(outcome === "complete" ? toolEnds : undefined);
}

function without(ends: ToolEnd | undefined, gone: ToolEnd): ToolEnd | undefined {
  if (ends === gone) return gone.next;
  for (let end = ends; end !== undefined; end = end.next) {
    if (end.next === gone) end.next = gone.next;
  }
  return ends;
}
