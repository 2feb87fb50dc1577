import type { Trials } from "./trials.ts";

/** How much is tried: all of it, or what CI has time for. */
export interface Size {
  readonly short: boolean;
  /** The full number, or the short one. */
  of(full: number, short: number): number;
}

export function sizeOf(short: boolean): Size {
  return { short, of: (full, few) => (short ? few : full) };
}

/** Trials of one sort. */
export interface Family {
  readonly name: string;
  /** What is tried and what must come of it, in one line, for `--help`. */
  readonly about: string;
  /** It computes in this process, for seconds at a time: no other family's time limits may run beside it. */
  readonly alone?: boolean;
  run(trials: Trials, size: Size): Promise<void>;
}
