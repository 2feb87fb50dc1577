import type { SpanAnchors } from "./span-anchors.ts";

/** One thing that is not as the log was written. */
export interface LogProblem {
  /** Name of the file, or of the table of a database; `spans` for what was given as `against`. */
  readonly file: string;
  /** From 1; 0 where the whole file is meant, and in a database. */
  readonly line: number;
  readonly tenant_id?: string;
  readonly thread_id?: string;
  readonly ordinal?: number;
  /** In plain words. */
  readonly problem: string;
}

/**
 * How a log in a directory ends:
 *
 * - `closed`: with the mark of a writer that closed it. No row is missing at the end, but for a cut exactly at an earlier
 *   close mark.
 * - `open`: without, and a living process has it open.
 * - `unclosed`: without, and no process has it open. A writer crashed, this is a copy of a log that was open, or rows were
 *   cut off.
 * - `unknown`: without, and whether a process has it open could not be asked, for lack of permission say.
 */
export type LogEnd = "closed" | "open" | "unclosed" | "unknown";

/** What verifying a log has shown. What only files have is 0 and empty for a database. */
export interface VerifyReport {
  /** Nothing is wrong with what is there: {@link VerifyReport.problemCount} is 0. */
  readonly ok: boolean;
  /** Whether something may be missing at the end. Nothing for a database, whose threads say which row is their last. */
  readonly end: LogEnd | undefined;
  readonly segments: number;
  readonly rows: number;
  readonly threads: number;
  /** Without those that carry a mark. */
  readonly commits: number;
  /** Commits written at reopening after a crash. No problem. */
  readonly recoveredCommits: number;
  /**
   * Times it was opened again without having been closed before: after a crash, or after rows were cut off. No problem of
   * what is there.
   */
  readonly unclosedReopenings: number;
  /** Rows whose payload was erased: the chain was checked, the digest cannot be. No problem. */
  readonly erasedRows: number;
  /**
   * Whole lines behind the last commit of the log, and bytes of a half written one: a writer is at
   * work, or a crash left them and the next opening takes care of them. No problem.
   */
  readonly uncommittedLines: number;
  readonly tornBytes: number;
  /** Files with what crashes had left half written, in the folder `torn`. No problem. */
  readonly tornFiles: readonly string[];
  /** Rows named by the spans in `against` that were found as the spans have them. */
  readonly matchedSpans: number;
  readonly problemCount: number;
  /** The first problems, as many as `maxProblems` allows. */
  readonly problems: readonly LogProblem[];
}

/** Problems as they are found: all are told and counted, the first ones kept. */
export class ProblemList {
  readonly #most: number;
  readonly #tell: (problem: LogProblem) => void;
  readonly #kept: LogProblem[] = [];
  #count = 0;

  constructor(most: number, tell: (problem: LogProblem) => void) {
    this.#most = most;
    this.#tell = tell;
  }

  /** The report of a log in which `counts` were counted; what is not counted is 0. */
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
    this.#tell(problem);
  }
}
