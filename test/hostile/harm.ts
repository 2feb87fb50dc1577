/** What must never happen, in the order of the table's columns. */
export const HARMS = ["lost", "doubled", "altered", "unanswered", "unexpected"] as const;

/**
 * - `lost`: what was acknowledged, or damage, is gone without a word.
 * - `doubled`: it is there more than once.
 * - `altered`: it is there, and says something else.
 * - `unanswered`: no answer, no start or no end within the bound.
 * - `unexpected`: any other outcome than the documented one.
 */
export type Harm = (typeof HARMS)[number];

/** One harm, with what it takes to look into it. */
export interface Failure {
  readonly family: string;
  readonly kind: string;
  /** The trial's number in its family, from 1. */
  readonly number: number;
  /** It goes on from the trials before it: the whole family is to be repeated. */
  readonly chained: boolean;
  readonly harm: Harm;
  readonly count: number;
  readonly expected: string;
  readonly found: string;
  /** Folder with the trial's files, if it had one. */
  readonly files: string | undefined;
}
