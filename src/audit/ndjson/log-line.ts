import { isUtf8 } from "node:buffer";
import { isCount, isObject, parseJson } from "../../events/door.ts";
import type { ThreadKey } from "../audit-row.ts";
import { sha256 } from "../row-text.ts";
import { lineText } from "../storage/file-lines.ts";
import { readRow, type StoredRow } from "../stored-row.ts";
import {
  type Commit,
  commitText,
  type HeaderLine,
  headerText,
  LOG_VERSION,
  type LogMark,
  markText,
} from "./commit-chain.ts";

export interface RowLine {
  readonly type: "row";
  readonly row: StoredRow;
}

/** Rows of a thread up to the watermark are archived. */
export interface ArchivedLine {
  readonly type: "archived";
  readonly key: ThreadKey;
  readonly watermark: number;
  readonly hash: string;
}

/** The end of a write. Its hash covers every row and archive line since the last commit. */
export interface CommitLine {
  readonly type: "commit";
  readonly made: Commit;
  /** Lines covered. */
  readonly rows: number;
  /** Written when the log was opened again, over rows that a crash left without a commit. */
  readonly recovered: boolean;
  readonly mark: LogMark | undefined;
}

export interface InvalidLine {
  readonly type: "invalid";
  readonly problem: string;
  /** The row that the line claims to be, if it has the form of one. */
  readonly claim?: StoredRow | undefined;
}

export type LogLine = HeaderLine | RowLine | ArchivedLine | CommitLine | InvalidLine;

/** An archive line and its hash: SHA-256 of `JSON.stringify(["archived", tenant, thread, watermark])`. */
export function archivedText(key: ThreadKey, watermark: number): { text: string; hash: string } {
  const tenant = JSON.stringify(key.tenant_id);
  const thread = JSON.stringify(key.thread_id);
  const hash = sha256(`["archived",${tenant},${thread},${watermark}]`);
  const text = `{"archived":{"tenant_id":${tenant},"thread_id":${thread},"watermark":${watermark},"hash":"${hash}"}}`;
  return { text, hash };
}

/** Reads the marks of a log from its lines, in order. */
export class LogMarks {
  #last: LogMark = "open";
  #closed = false;
  #reopenings = 0;

  /** The last mark. A segment's header counts as an open mark. */
  get last(): LogMark {
    return this.#last;
  }

  /** The last line is a close mark. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Open marks in a log that was not closed before: its writer crashed, or its end was cut off. */
  get reopenings(): number {
    return this.#reopenings;
  }

  take(line: LogLine): void {
    const wasClosed = this.#closed;
    this.#closed = false;
    if (line.type === "invalid") return;
    if (line.type === "header") {
      this.#last = "open";
      return;
    }
    const mark = line.type === "commit" ? line.mark : undefined;
    if (mark === "open" && this.#last === "open") this.#reopenings += 1;
    this.#closed = mark === "closed";
    // Lines that were added behind a close mark make the log open again.
    if (mark !== undefined || wasClosed) this.#last = mark ?? "open";
  }
}

/** Reads a line without its newline. Checks everything that one line can show. */
export function readLogLine(bytes: Uint8Array): LogLine {
  // Checked first: decoding turns an invalid byte into the replacement character, which is also valid text.
  if (!isUtf8(bytes)) return invalid("not UTF-8");
  const text = lineText(bytes);
  if (text.startsWith('{"tenant_id":')) {
    const reading = readRow(text);
    return reading.problem === undefined
      ? { type: "row", row: reading.row }
      : { type: "invalid", problem: reading.problem, claim: reading.claim };
  }
  const value = parseJson(text);
  if (!isObject(value)) return invalid("not a JSON object");
  const line = readControl(value);
  if (line === undefined) return invalid(unknownLine(value));
  return controlText(line) === text ? line : invalid("edited: not written as this log writes it");
}

type ControlLine = HeaderLine | ArchivedLine | CommitLine;

function readControl(value: Readonly<Record<string, unknown>>): ControlLine | undefined {
  const { segment, version, commit, prev, rows, recovered, mark, hash, archived } = value;
  const isHeader = isCount(segment) && version === LOG_VERSION && typeof prev === "string";
  if (isHeader && isCount(commit)) {
    return { type: "header", segment, before: { commit, hash: prev } };
  }
  if (isCount(commit) && isCount(rows) && typeof hash === "string") {
    const made = { commit, hash };
    return { type: "commit", made, rows, recovered: recovered === true, mark: readMark(mark) };
  }
  if (isObject(archived)) {
    const { tenant_id, thread_id, watermark } = archived;
    if (typeof tenant_id !== "string" || typeof thread_id !== "string") return undefined;
    if (!isCount(watermark)) return undefined;
    const key = { tenant_id, thread_id };
    return { type: "archived", key, watermark, hash: archivedText(key, watermark).hash };
  }
  return undefined;
}

function unknownLine({ segment, version }: Readonly<Record<string, unknown>>): string {
  return isCount(segment) && isCount(version) && version !== LOG_VERSION
    ? otherVersion(version)
    : "no line of an audit log of this version";
}

/** The problem of a segment whose header names another version of the format. */
export function otherVersion(version: number): string {
  return `written by version ${version} of the format, expected ${LOG_VERSION}`;
}

function readMark(value: unknown): LogMark | undefined {
  return value === "open" || value === "closed" ? value : undefined;
}

function controlText(line: ControlLine): string {
  switch (line.type) {
    case "header":
      return headerText(line.segment, line.before);
    case "commit":
      return line.mark === undefined
        ? commitText(line.made, line.rows, line.recovered)
        : markText(line.made, line.mark);
    case "archived":
      return archivedText(line.key, line.watermark).text;
    default:
      return impossible(line);
  }
}

export function impossible(line: never): never {
  throw new TypeError(`no such line: ${String(line)}`);
}

function invalid(problem: string): InvalidLine {
  return { type: "invalid", problem };
}
