import { type FileLine, fileLines } from "../../storage/file-lines.ts";
import { CommitChain, NO_COMMIT } from "../ndjson/commit-chain.ts";
import { segmentName } from "../ndjson/log-directory.ts";
import {
  type Commit,
  type CommitLine,
  type HeaderLine,
  type InvalidLine,
  readLogLine,
} from "../ndjson/log-line.ts";
import type { FoundSegment } from "../ndjson/segment-store.ts";
import type { StoredRow } from "../stored-row.ts";
import { ProblemList } from "./problem-list.ts";
import { CUT } from "./segment-files.ts";
import type { SpanAnchors } from "./span-anchors.ts";
import { ThreadChains } from "./thread-chains.ts";
import type { LogProblem, VerifyReport } from "./verify-report.ts";

/** Where a line stands. */
interface Place {
  readonly file: string;
  readonly line: number;
}

/** Takes the segments of a log in their order and gathers what is wrong with them. */
export class LogVerifier {
  readonly #spans: SpanAnchors;
  readonly #problems: ProblemList;
  readonly #threads = new ThreadChains();
  readonly #commits = new CommitChain(NO_COMMIT);
  #segments = 0;
  #rows = 0;
  #commitCount = 0;
  #recovered = 0;
  #erased = 0;
  #uncommitted = 0;
  #tornBytes = 0;

  constructor(spans: SpanAnchors, maxProblems: number, onProblem: (problem: LogProblem) => void) {
    this.#spans = spans;
    this.#problems = new ProblemList(maxProblems, onProblem);
  }

  /** @param isLast the segment may still be written to: an open end is no problem. */
  async segment(number: number, found: FoundSegment, isLast: boolean): Promise<void> {
    const file = segmentName(number);
    this.#segments += 1;
    let lines = 0;
    for await (const line of fileLines(found.file, found.bytes)) {
      lines = line.number;
      const place = { file, line: lines };
      if (line.ended) this.#line(line, place, number);
      else if (isLast) this.#tornBytes = line.end - line.start;
      else this.report(place, CUT);
    }
    if (lines === 0 && !isLast) this.report({ file, line: 0 }, "the segment is empty");
    if (this.#commits.rows === 0) return;
    if (isLast) this.#uncommitted = this.#commits.rows;
    else {
      const { rows } = this.#commits;
      this.report({ file, line: lines }, `cut: the commit of the last ${rows} lines is missing`);
    }
  }

  report(place: Place, problem: string, row?: StoredRow): void {
    const of =
      row === undefined
        ? {}
        : { tenant_id: row.tenant_id, thread_id: row.thread_id, ordinal: row.ordinal };
    this.#problems.add({ ...place, ...of, problem });
  }

  /** Everything was read. */
  result(tornFiles: readonly string[]): VerifyReport {
    for (const problem of this.#spans.missing()) this.#problems.add(problem);
    return {
      ok: this.#problems.count === 0,
      segments: this.#segments,
      rows: this.#rows,
      threads: this.#threads.threads,
      commits: this.#commitCount,
      recoveredCommits: this.#recovered,
      erasedRows: this.#erased,
      uncommittedLines: this.#uncommitted,
      tornBytes: this.#tornBytes,
      tornFiles,
      matchedSpans: this.#spans.matched,
      problemCount: this.#problems.count,
      problems: this.#problems.kept,
    };
  }

  #line({ bytes, tooLong }: FileLine, place: Place, segment: number): void {
    if (tooLong) {
      this.report(place, "longer than any line of an audit log");
      return;
    }
    const line = readLogLine(bytes);
    if (place.line === 1 && line.type !== "header") {
      this.report(place, "the segment does not begin with its header");
    }
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
    this.#commits.continueFrom(line.before);
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

  #commit({ made, recovered, rows }: CommitLine, place: Place): void {
    this.#commitCount += 1;
    if (recovered) this.#recovered += 1;
    const covered = this.#commits.rows;
    if (!sameCommit(made, this.#commits.next())) {
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

function sameCommit(a: Commit, b: Commit): boolean {
  return a.commit === b.commit && a.hash === b.hash;
}

function impossible(line: never): never {
  throw new TypeError(`no such line: ${String(line)}`);
}
