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

/** Where a line stands. */
interface Place {
  readonly file: string;
  readonly line: number;
}

/** How far a segment was read. */
interface Reading {
  readonly segment: number;
  /** Whole lines. */
  lines: number;
  /** Offset behind them. */
  end: number;
  /** Bytes behind that, of a line without an end. */
  torn: number;
}

/** Takes the segments of a log in their order and gathers what is wrong with them. */
export class LogVerifier {
  readonly #spans: SpanAnchors;
  readonly #problems: ProblemList;
  readonly #threads = new ThreadChains();
  readonly #commits = new CommitChain(NO_COMMIT);
  readonly #marks = new LogMarks();
  /** The segment read last, as long as nothing says that there is a later one. */
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

  /** How the log ends as far as it was read; `open` where the log does not say that it was closed. */
  get end(): "closed" | "open" {
    const { lines = 0, torn = 0 } = this.#reading ?? {};
    return this.#marks.closed && lines > 0 && torn === 0 ? "closed" : "open";
  }

  /**
   * Reads a segment; of the one read last what has come since.
   *
   * @returns whether there was more to read.
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

  /** There are later segments than the one read last: its end is no open one. */
  leave(): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#reading = undefined;
    const { lines, segment, torn } = reading;
    const place = { file: segmentName(segment), line: lines + (torn > 0 ? 1 : 0) };
    if (torn > 0) this.report(place, CUT);
    if (place.line === 0) this.report(place, "the segment is empty");
    const { rows } = this.#commits;
    if (rows === 0) return;
    this.report(place, `cut: the commit of the last ${rows} lines is missing`);
  }

  report(place: Place, problem: string, row?: StoredRow): void {
    const of =
      row === undefined
        ? {}
        : { tenant_id: row.tenant_id, thread_id: row.thread_id, ordinal: row.ordinal };
    this.#problems.add({ ...place, ...of, problem });
  }

  /** Everything was read. */
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
    const place = { file: segmentName(reading.segment), line: reading.lines };
    this.#line(line, place, reading.segment);
  }

  #line({ bytes, tooLong }: FileLine, place: Place, segment: number): void {
    const line: LogLine = tooLong ? TOO_LONG : readLogLine(bytes);
    if (place.line === 1 && line.type !== "header") {
      this.report(place, "the segment does not begin with its header");
    }
    this.#marks.take(line);
    switch (line.type) {
      case "header":
        this.#header(line, place, segment);
        break;
      case "row":
        this.#row(line.row, place);
        break;
      case "archived":
        this.#commits.cover(line.hash);
        break;
      case "commit":
        this.#commit(line, place);
        break;
      case "invalid":
        this.#invalid(line, place);
        break;
      default:
        impossible(line);
    }
  }

  #header(line: HeaderLine, place: Place, segment: number): void {
    if (place.line > 1) {
      this.report(place, "a segment's header in the middle of a segment");
      return;
    }
    if (line.segment !== segment) {
      this.report(place, `the header is that of segment ${line.segment}`);
    }
    if (!sameCommit(line.before, this.#commits.last)) {
      const { commit } = line.before;
      this.report(
        place,
        `what was written up to commit ${commit}, before this segment, is changed`,
      );
    }
    this.#commits.begin(line);
  }

  #row(row: StoredRow, place: Place): void {
    this.#rows += 1;
    if (row.erased) this.#erased += 1;
    this.#follow(row, place);
    this.#spans.found(row, `${place.file}:${place.line}`);
  }

  #invalid({ claim, problem }: InvalidLine, place: Place): void {
    this.report(place, problem, claim);
    // It stands where a row stood: taking it for that row keeps the next ones from being suspect.
    if (claim !== undefined) this.#follow(claim, place);
  }

  #follow(row: StoredRow, place: Place): void {
    this.#commits.cover(row.hash);
    const problem = this.#threads.next(row);
    if (problem !== undefined) this.report(place, problem, row);
  }

  #commit({ made, mark, recovered, rows }: CommitLine, place: Place): void {
    if (mark === undefined) this.#commitCount += 1;
    if (recovered) this.#recovered += 1;
    const covered = this.#commits.rows;
    if (!sameCommit(made, this.#commits.next(mark))) {
      this.report(
        place,
        covered === rows
          ? `the ${rows} lines before commit ${made.commit} are not those it was made over`
          : `commit ${made.commit} was made over ${rows} lines, here are ${covered}`,
      );
    } else if (covered !== rows) {
      this.report(place, `edited: commit ${made.commit} covers ${covered} lines and says ${rows}`);
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
