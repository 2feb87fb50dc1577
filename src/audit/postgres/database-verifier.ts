import { EMPTY_THREAD, type RowAnchor } from "../audit-row.ts";
import { ThreadChains } from "../row-text.ts";
import type { StoredRow } from "../stored-row.ts";
import type { SpanAnchors } from "../verify/span-anchors.ts";
import { type LogProblem, ProblemList, type VerifyReport } from "../verify/verify-report.ts";
import { threadName } from "./append-batch.ts";
import type { DatabaseRow, StatedHead } from "./stored-rows.ts";

/** The thread whose rows are being read. */
interface OpenThread {
  readonly thread: string;
  readonly head: StatedHead | undefined;
  /** The last row that could be parsed. */
  row: StoredRow | undefined;
  last: RowAnchor;
}

/** Checks the rows of a database, thread by thread, and collects problems. */
export class DatabaseVerifier {
  readonly #table: string;
  readonly #spans: SpanAnchors;
  readonly #problems: ProblemList;
  #chains = new ThreadChains();
  #open: OpenThread | undefined;
  #rows = 0;
  #threads = 0;
  #erased = 0;

  /** @param table name of the table of rows, for problems. */
  constructor(
    table: string,
    spans: SpanAnchors,
    maxProblems: number,
    onProblem: (problem: LogProblem) => void,
  ) {
    this.#table = table;
    this.#spans = spans;
    this.#problems = new ProblemList(maxProblems, onProblem);
  }

  /** Takes the next row, ascending by thread and ordinal, and the head that its thread states. */
  row({ ordinal, problem, row, thread }: DatabaseRow, head: StatedHead | undefined): void {
    if (this.#open?.thread !== thread) this.#begin(thread, head);
    const open = this.#open;
    this.#rows += 1;
    if (problem !== undefined) this.#report(problem, ordinal, row);
    if (row === undefined || open === undefined) return;
    if (problem === undefined) {
      if (row.erased) this.#erased += 1;
      this.#spans.found(row, this.#table);
    }
    const misplaced = this.#chains.next(row);
    if (misplaced !== undefined) this.#report(misplaced, ordinal, row);
    if (open.row === undefined && head !== undefined && nameOf(row) !== head.name) {
      this.#report("edited: the thread's name is not that of its tenant and thread", ordinal, row);
    }
    open.row = row;
    open.last = { ordinal, hash: row.hash };
  }

  /** Takes a thread without rows. */
  emptyThread(key: Pick<StoredRow, "tenant_id" | "thread_id">, head: RowAnchor): void {
    this.#problems.add({ ...this.#position(key), problem: missing(0, head.ordinal) });
  }

  /** Returns the report after the last row. */
  result(): VerifyReport {
    this.#end();
    const counts = { rows: this.#rows, threads: this.#threads, erasedRows: this.#erased };
    return this.#problems.report(counts, this.#spans);
  }

  #begin(thread: string, head: StatedHead | undefined): void {
    this.#end();
    this.#threads += 1;
    // The rows of a thread are consecutive, so only its own head is kept.
    this.#chains = new ThreadChains();
    this.#open = { thread, head, row: undefined, last: EMPTY_THREAD };
  }

  #end(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open?.row === undefined || open.head === undefined) return;
    const { head, last, row } = open;
    if (last.ordinal < head.ordinal) {
      this.#problems.add({ ...this.#position(row), problem: missing(last.ordinal, head.ordinal) });
    } else if (last.ordinal > head.ordinal) {
      const problem = `the thread ends with row ${head.ordinal}: this one was inserted`;
      this.#report(problem, last.ordinal, row);
    } else if (last.hash !== head.hash) {
      this.#report("the last row of the thread is another one: it was changed", last.ordinal, row);
    }
  }

  #report(problem: string, ordinal: number, row: StoredRow | undefined): void {
    const position = row === undefined ? { file: this.#table, line: 0 } : this.#position(row);
    this.#problems.add({ ...position, ordinal, problem });
  }

  #position({ tenant_id, thread_id }: Pick<StoredRow, "tenant_id" | "thread_id">) {
    return { file: this.#table, line: 0, tenant_id, thread_id };
  }
}

function nameOf(row: StoredRow): string {
  return threadName(row).toString("hex");
}

function missing(last: number, head: number): string {
  return head - last === 1
    ? `row ${head}, the last of the thread, is missing`
    : `rows ${last + 1} to ${head}, the last of the thread, are missing`;
}
