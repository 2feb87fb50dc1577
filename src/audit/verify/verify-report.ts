import type { SpanAnchors } from "./span-anchors.ts";

/** One problem in a log. */
export interface LogProblem {
  /** Name of the file, or of the table of a database. `spans` for a span of `against`. */
  readonly file: string;
  /** From 1. 0 for the file as a whole, and in a database. */
  readonly line: number;
  readonly tenant_id?: string;
  readonly thread_id?: string;
  readonly ordinal?: number;
  /** Description of the problem. */
  readonly problem: string;
}

/**
 * How a log in a directory ends:
 *
 * - `closed`: the last line is a close mark. No row is missing at the end, except if the log was cut exactly at an
 *   earlier close mark.
 * - `open`: no close mark, and a living process has it open.
 * - `unclosed`: no close mark, and no process has it open. A writer crashed, this is a copy of an open log, or rows
 *   were cut off.
 * - `unknown`: no close mark. Whether a process has it open is not known, for example for lack of permission.
 */
export type LogEnd = "closed" | "open" | "unclosed" | "unknown";

/** The result of verifying a log. For a database, fields about files are 0 or empty. */
export interface VerifyReport {
  /** Whether no problem was found: {@link VerifyReport.problemCount} is 0. */
  readonly ok: boolean;
  /** Whether rows may be missing at the end. `undefined` for a database, which stores the last row of each thread. */
  readonly end: LogEnd | undefined;
  readonly segments: number;
  readonly rows: number;
  readonly threads: number;
  /** Commits with lines, without marks. */
  readonly commits: number;
  /** Commits that were written after a crash, when the log was opened again. Not a problem. */
  readonly recoveredCommits: number;
  /**
   * Times that the log was opened again without having been closed: after a crash, or after rows were cut off. Not
   * counted as a problem.
   */
  readonly unclosedReopenings: number;
  /** Rows whose payload was erased. Their chain was checked, their digest cannot be. Not a problem. */
  readonly erasedRows: number;
  /**
   * Complete lines behind the last commit, and bytes of an incomplete one. A process is writing, or a crash left them
   * and the next opening recovers them. Not a problem.
   */
  readonly uncommittedLines: number;
  readonly tornBytes: number;
  /** Files with incomplete writes that crashes left, in the folder `torn`. Not a problem. */
  readonly tornFiles: readonly string[];
  /** Spans of `against` whose row was found with the same hash. */
  readonly matchedSpans: number;
  readonly problemCount: number;
  /** The first problems, at most `maxProblems`. */
  readonly problems: readonly LogProblem[];
}

/** Collects problems: counts and reports all, keeps the first ones. */
export class ProblemList {
  readonly #most: number;
  readonly #onProblem: (problem: LogProblem) => void;
  readonly #kept: LogProblem[] = [];
  #count = 0;

  constructor(most: number, onProblem: (problem: LogProblem) => void) {
    this.#most = most;
    this.#onProblem = onProblem;
  }

  /** The report of a log. Fields that are missing in `counts` are 0 or empty. */
  report(counts: Partial<VerifyReport>, spans: SpanAnchors): VerifyReport {
    for (const problem of spans.missing()) this.add(problem);
    return {
      ok: this.#count === 0,
      end: undefined,
      segments: 0,
      rows: 0,
      threads: 0,
      commits: 0,
      recoveredCommits: 0,
      unclosedReopenings: 0,
      erasedRows: 0,
      uncommittedLines: 0,
      tornBytes: 0,
      tornFiles: [],
      matchedSpans: spans.matched,
      problemCount: this.#count,
      problems: this.#kept,
      ...counts,
    };
  }

  add(problem: LogProblem): void {
    this.#count += 1;
    if (this.#kept.length < this.#most) this.#kept.push(problem);
    this.#onProblem(problem);
  }
}
