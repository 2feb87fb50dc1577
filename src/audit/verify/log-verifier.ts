import { type Commit, CommitChain, type HeaderLine, NO_COMMIT } from "../ndjson/commit-chain.ts";
import {
  type CommitLine,
  type InvalidLine,
  impossible,
  type LogLine,
  LogMarks,
  readLogLine,
} from "../ndjson/log-line.ts";
import { type FoundSegment, segmentName } from "../ndjson/segment-store.ts";
import { ThreadChains } from "../row-text.ts";
import { type FileLine, fileLineBatches } from "../storage/file-lines.ts";
import type { StoredRow } from "../stored-row.ts";
import { CUT } from "./segment-files.ts";
import type { SpanAnchors } from "./span-anchors.ts";
import { type LogEnd, type LogProblem, ProblemList, type VerifyReport } from "./verify-report.ts";

/** Position of a line. */
interface Position {
  readonly file: string;
  readonly line: number;
}

/** How far a segment was read. */
interface Reading {
  readonly segment: number;
  /** Complete lines. */
  lines: number;
  /** Offset behind the complete lines. */
  end: number;
  /** Bytes behind them, of a line without an end. */
  torn: number;
}

/** Reads the segments of a log in order and collects problems. */
export class LogVerifier {
  readonly #spans: SpanAnchors;
  readonly #problems: ProblemList;
  readonly #threads = new ThreadChains();
  readonly #commits = new CommitChain(NO_COMMIT);
  readonly #marks = new LogMarks();
  /** The segment read last, unless a later one is known. */
  #reading: Reading | undefined;
  #segments = 0;
  #rows = 0;
  #commitCount = 0;
  #recovered = 0;
  #erased = 0;

  constructor(spans: SpanAnchors, maxProblems: number, onProblem: (problem: LogProblem) => void) {
    this.#spans = spans;
    this.#problems = new ProblemList(maxProblems, onProblem);
  }

  /** How the log ends, as far as it was read. `open` if its last line is not a close mark. */
  get end(): "closed" | "open" {
    const { lines = 0, torn = 0 } = this.#reading ?? {};
    return this.#marks.closed && lines > 0 && torn === 0 ? "closed" : "open";
  }

  /**
   * Reads a segment. If it was the last one read, reads only the lines added since.
   *
   * @returns whether there were new bytes.
   */
  async segment(number: number, { bytes, file }: FoundSegment): Promise<boolean> {
    const reading = this.#reading?.segment === number ? this.#reading : this.#begin(number);
    const { end, torn } = reading;
    reading.torn = 0;
    if (bytes <= end) return false;
    for await (const lines of fileLineBatches(file, end, bytes)) {
      for (const line of lines) this.#take(line, reading);
    }
    return reading.end > end || reading.torn > torn;
  }

  /** Called when a later segment exists: the end of the last one read must be complete. */
  leave(): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#reading = undefined;
    const { lines, segment, torn } = reading;
    const position = { file: segmentName(segment), line: lines + (torn > 0 ? 1 : 0) };
    if (torn > 0) this.report(position, CUT);
    if (position.line === 0) this.report(position, "the segment is empty");
    const { rows } = this.#commits;
    if (rows === 0) return;
    this.report(position, `cut: the commit of the last ${rows} lines is missing`);
  }

  report(position: Position, problem: string, row?: StoredRow): void {
    const of =
      row === undefined
        ? {}
        : { tenant_id: row.tenant_id, thread_id: row.thread_id, ordinal: row.ordinal };
    this.#problems.add({ ...position, ...of, problem });
  }

  /** Returns the report after the last segment. */
  result(end: LogEnd, tornFiles: readonly string[]): VerifyReport {
    const counts = {
      end,
      segments: this.#segments,
      rows: this.#rows,
      threads: this.#threads.threads,
      commits: this.#commitCount,
      recoveredCommits: this.#recovered,
      unclosedReopenings: this.#marks.reopenings,
      erasedRows: this.#erased,
      uncommittedLines: this.#reading === undefined ? 0 : this.#commits.rows,
      tornBytes: this.#reading?.torn ?? 0,
      tornFiles,
    };
    return this.#problems.report(counts, this.#spans);
  }

  #begin(segment: number): Reading {
    this.leave();
    this.#segments += 1;
    // If the header is damaged, the commits are checked against the header that must have been there.
    this.#commits.begin({ segment, before: this.#commits.last });
    const reading = { segment, lines: 0, end: 0, torn: 0 };
    this.#reading = reading;
    return reading;
  }

  #take(line: FileLine, reading: Reading): void {
    if (!line.ended) {
      reading.torn = line.end - line.start;
      return;
    }
    reading.lines += 1;
    reading.end = line.end;
    const position = { file: segmentName(reading.segment), line: reading.lines };
    this.#line(line, position, reading.segment);
  }

  #line({ bytes, tooLong }: FileLine, position: Position, segment: number): void {
    const line: LogLine = tooLong ? TOO_LONG : readLogLine(bytes);
    if (position.line === 1 && line.type !== "header") {
      this.report(position, "the segment does not begin with its header");
    }
    this.#marks.take(line);
    switch (line.type) {
      case "header":
        this.#header(line, position, segment);
        break;
      case "row":
        this.#row(line.row, position);
        break;
      case "archived":
        this.#commits.cover(line.hash);
        break;
      case "commit":
        this.#commit(line, position);
        break;
      case "invalid":
        this.#invalid(line, position);
        break;
      default:
        impossible(line);
    }
  }

  #header(line: HeaderLine, position: Position, segment: number): void {
    if (position.line > 1) {
      this.report(position, "a segment's header in the middle of a segment");
      return;
    }
    if (line.segment !== segment) {
      this.report(position, `the header is that of segment ${line.segment}`);
    }
    if (!sameCommit(line.before, this.#commits.last)) {
      const { commit } = line.before;
      this.report(
        position,
        `what was written up to commit ${commit}, before this segment, is changed`,
      );
    }
    this.#commits.begin(line);
  }

  #row(row: StoredRow, position: Position): void {
    this.#rows += 1;
    if (row.erased) this.#erased += 1;
    this.#follow(row, position);
    this.#spans.found(row, `${position.file}:${position.line}`);
  }

  #invalid({ claim, problem }: InvalidLine, position: Position): void {
    this.report(position, problem, claim);
    // The claimed row takes part in the chain, so that the next rows are not reported as well.
    if (claim !== undefined) this.#follow(claim, position);
  }

  #follow(row: StoredRow, position: Position): void {
    this.#commits.cover(row.hash);
    const problem = this.#threads.next(row);
    if (problem !== undefined) this.report(position, problem, row);
  }

  #commit({ made, mark, recovered, rows }: CommitLine, position: Position): void {
    if (mark === undefined) this.#commitCount += 1;
    if (recovered) this.#recovered += 1;
    const covered = this.#commits.rows;
    if (!sameCommit(made, this.#commits.next(mark))) {
      this.report(
        position,
        covered === rows
          ? `the ${rows} lines before commit ${made.commit} are not those it was made over`
          : `commit ${made.commit} was made over ${rows} lines, here are ${covered}`,
      );
    } else if (covered !== rows) {
      this.report(
        position,
        `edited: commit ${made.commit} covers ${covered} lines and says ${rows}`,
      );
    }
    this.#commits.continueFrom(made);
  }
}

const TOO_LONG: InvalidLine = {
  type: "invalid",
  problem: "longer than any line of an audit log",
};

function sameCommit(a: Commit, b: Commit): boolean {
  return a.commit === b.commit && a.hash === b.hash;
}
