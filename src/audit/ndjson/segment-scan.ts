import { type RowAnchor, type ThreadKey, threadText } from "../audit-row.ts";
import { rowAfter } from "../row-text.ts";
import type { LogFile } from "../storage/file-layer.ts";
import { fileLines } from "../storage/file-lines.ts";
import type { StoredRow } from "../stored-row.ts";
import { type Commit, CommitChain, type LogMark, NO_COMMIT } from "./commit-chain.ts";
import { impossible, type LogLine, LogMarks, readLogLine } from "./log-line.ts";

/** The rows of one thread in one segment. */
export interface ThreadSpan extends ThreadKey {
  /** First and last ordinal in the segment. Both are 0 if there are only archive lines. */
  first: number;
  last: number;
  /** Hash of the thread's last row in the segment. */
  hash: string;
  /** Highest watermark of the archive lines in the segment. 0 if there are none. */
  archived: number;
}

/** The threads of one segment, by `threadText`. */
export type ThreadSpans = Map<string, ThreadSpan>;

/** A line that the log did not write in this form. */
export interface DamagedLine {
  readonly line: number;
  readonly problem: string;
}

/** The result of reading a segment from start to end. */
export interface SegmentScan {
  readonly threads: ThreadSpans;
  readonly rows: number;
  /** The last mark. A segment without one is open. */
  readonly mark: LogMark;
  /** The last commit, and the valid lines behind it. */
  readonly chain: CommitChain;
  /** Offset behind the last valid line. The rest is torn. */
  readonly validUntil: number;
  /** Problems of lines before the torn end. At most 100 are listed. */
  readonly damage: readonly DamagedLine[];
}

export interface ScanOptions {
  readonly until: number;
  /** The last commit of the previous segment, in case the header is damaged. */
  readonly before?: Commit | undefined;
  readonly onLine?: ((line: LogLine) => void) | undefined;
}

const MAX_DAMAGE = 100;

/** Reads a segment once. Keeps its threads in memory, but no row. */
export async function scanSegment(file: LogFile, options: ScanOptions): Promise<SegmentScan> {
  const scanner = new Scanner(options);
  for await (const { bytes, ended, end, number, tooLong } of fileLines(file, options.until)) {
    // A last line without a newline was cut while it was written, even if it looks complete.
    if (!ended) break;
    scanner.take(tooLong ? TOO_LONG : readLogLine(bytes), number, end);
  }
  return scanner;
}

/** An invalid line. It is part of the torn end, unless a valid line follows. */
interface Suspect extends DamagedLine {
  readonly claim: StoredRow | undefined;
}

class Scanner implements SegmentScan {
  readonly threads: ThreadSpans = new Map();
  readonly chain: CommitChain;
  readonly damage: DamagedLine[] = [];
  readonly #onLine: (line: LogLine) => void;
  readonly #marks = new LogMarks();
  #suspects: Suspect[] = [];
  #rows = 0;
  #validUntil = 0;

  constructor({ before, onLine }: ScanOptions) {
    this.chain = new CommitChain(before ?? NO_COMMIT);
    this.#onLine = onLine ?? (() => {});
  }

  get rows(): number {
    return this.#rows;
  }

  get mark(): LogMark {
    return this.#marks.last;
  }

  get validUntil(): number {
    return this.#validUntil;
  }

  take(line: LogLine, number: number, end: number): void {
    if (line.type === "invalid") {
      this.#suspect({ line: number, problem: line.problem, claim: line.claim });
      return;
    }
    if (line.type === "header" && number > 1) {
      this.#suspect({
        line: number,
        problem: "a segment's header in the middle",
        claim: undefined,
      });
      return;
    }
    for (const suspect of this.#suspects) this.#confirm(suspect);
    this.#suspects = [];
    this.#validUntil = end;
    this.#marks.take(line);
    switch (line.type) {
      case "header":
        this.chain.begin(line);
        break;
      case "row":
        this.#row(line.row);
        break;
      case "archived":
        this.chain.cover(line.hash);
        noteArchived(this.threads, threadText(line.key), line.key, line.watermark);
        break;
      case "commit":
        if (this.chain.next(line.mark).hash !== line.made.hash) this.#damaged(number, NOT_THOSE);
        this.chain.continueFrom(line.made);
        break;
      default:
        impossible(line);
    }
    this.#onLine(line);
  }

  #row(row: StoredRow): void {
    this.#rows += 1;
    this.chain.cover(row.hash);
    noteRows(this.threads, threadText(row), row, row.ordinal, row);
  }

  #suspect(suspect: Suspect): void {
    if (this.#suspects.length < MAX_DAMAGE) this.#suspects.push(suspect);
  }

  /** A row whose fields match its hash stays in the chain, even if its event is damaged. */
  #confirm({ claim, line, problem }: Suspect): void {
    this.#damaged(line, problem);
    if (claim !== undefined && hashHolds(claim)) this.#row(claim);
  }

  #damaged(line: number, problem: string): void {
    if (this.damage.length < MAX_DAMAGE) this.damage.push({ line, problem });
  }
}

function hashHolds(row: StoredRow): boolean {
  return rowAfter({ ordinal: row.ordinal - 1, hash: row.prev }, row, row).hash === row.hash;
}

const NOT_THOSE = "the lines before this commit are not those it was made over";

const TOO_LONG: LogLine = { type: "invalid", problem: "longer than any line of an audit log" };

/** Records rows of a thread from `first` to `last`. A damaged segment never moves a head back. */
export function noteRows(
  spans: ThreadSpans,
  text: string,
  key: ThreadKey,
  first: number,
  last: RowAnchor,
): void {
  const span = spanOf(spans, text, key);
  if (span.first === 0 || first < span.first) span.first = first;
  if (last.ordinal > span.last) {
    span.last = last.ordinal;
    span.hash = last.hash;
  }
}

/** Records that a thread's rows up to `watermark` are archived. */
export function noteArchived(
  spans: ThreadSpans,
  text: string,
  key: ThreadKey,
  watermark: number,
): void {
  const span = spanOf(spans, text, key);
  span.archived = Math.max(span.archived, watermark);
}

/** Rows of a span with ordinals above `from` and up to `to`. */
export function rowsBetween(span: ThreadSpan, from: number, to: number): number {
  if (span.first === 0) return 0;
  return Math.max(0, Math.min(to, span.last) - Math.max(from, span.first - 1));
}

function spanOf(spans: ThreadSpans, text: string, key: ThreadKey): ThreadSpan {
  const known = spans.get(text);
  if (known !== undefined) return known;
  const span: ThreadSpan = {
    tenant_id: key.tenant_id,
    thread_id: key.thread_id,
    first: 0,
    last: 0,
    hash: "",
    archived: 0,
  };
  spans.set(text, span);
  return span;
}
