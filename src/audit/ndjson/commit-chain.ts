import { createHash, type Hash } from "node:crypto";
import { NO_HASH } from "../audit-row.ts";
import { sha256 } from "../row-text.ts";

/** A commit: its number, from 1 for the first of the log, and its hash. */
export interface Commit {
  readonly commit: number;
  readonly hash: string;
}

/** First line of a segment. It names the last commit of the previous segment. */
export interface HeaderLine {
  readonly type: "header";
  readonly segment: number;
  readonly before: Commit;
}

/** The mark of a commit without lines: a writer opened the log again, or closed it. */
export type LogMark = "open" | "closed";

/** The version of the format. Other versions are refused. */
export const LOG_VERSION = 2;

export function headerText(segment: number, before: Commit): string {
  return `{"segment":${segment},"version":${LOG_VERSION},"commit":${before.commit},"prev":"${before.hash}"}`;
}

export function commitText(made: Commit, rows: number, recovered: boolean): string {
  const note = recovered ? ',"recovered":true' : "";
  return `{"commit":${made.commit},"rows":${rows}${note},"hash":"${made.hash}"}`;
}

/** The commit that carries a mark. It covers no line. */
export function markText(made: Commit, mark: LogMark): string {
  return `{"commit":${made.commit},"rows":0,"mark":"${mark}","hash":"${made.hash}"}`;
}

/** The commit before the first. */
export const NO_COMMIT: Commit = { commit: 0, hash: NO_HASH };

/** Characters that are collected before they go to the hasher. */
const GATHERED = 64 * 1024;

/**
 * The chain of commits through the log. Each covers the hashes of its lines and the previous commit. So a missing
 * line inside a file is found, even if it was the last of its thread.
 *
 * A commit's hash is the SHA-256 of `JSON.stringify([previous commit's hash, number, ...hashes])`. The first one of a
 * segment has the SHA-256 of the segment's header before the hashes. A mark follows the hashes.
 */
export class CommitChain {
  #last: Commit;
  /** Start of the text that the next commit's hash covers. */
  #opening: string;
  #rows = 0;
  #gathered: string;
  #hasher: Hash | undefined;

  constructor(last: Commit) {
    this.#last = last;
    this.#opening = opening(last);
    this.#gathered = this.#opening;
  }

  /** The last commit. */
  get last(): Commit {
    return this.#last;
  }

  /** Lines since the last commit. */
  get rows(): number {
    return this.#rows;
  }

  /** Adds a line that the next commit covers. */
  cover(hash: string): void {
    this.#rows += 1;
    this.#gathered += `,"${hash}"`;
    if (this.#gathered.length < GATHERED) return;
    this.#hasher ??= createHash("sha256");
    this.#hasher.update(this.#gathered);
    this.#gathered = "";
  }

  /** The commit over the lines since the last one. The chain only moves on with {@link continueFrom}. */
  next(mark?: LogMark): Commit {
    const hasher = this.#hasher ?? createHash("sha256");
    this.#hasher = undefined;
    hasher.update(this.#gathered).update(mark === undefined ? "]" : `,"${mark}"]`);
    return { commit: this.#last.commit + 1, hash: hasher.digest("hex") };
  }

  /** Continues in a segment with this header, which the first commit there covers. */
  begin({ before, segment }: Omit<HeaderLine, "type">): void {
    this.continueFrom(before);
    this.#opening += `,"${sha256(headerText(segment, before))}"`;
    this.forget();
  }

  /** Continues from a commit that was made or read. The lines covered so far are forgotten. */
  continueFrom(last: Commit): void {
    this.#last = last;
    this.#opening = opening(last);
    this.forget();
  }

  /** The lines since the last commit were not written. */
  forget(): void {
    this.#rows = 0;
    this.#gathered = this.#opening;
    this.#hasher = undefined;
  }
}

function opening(last: Commit): string {
  return `["${last.hash}",${last.commit + 1}`;
}
