import { createHash, type Hash } from "node:crypto";
import { NO_HASH } from "../audit-row.ts";
import { sha256 } from "../row-text.ts";

/** A commit: its number, from 1 through the whole log, and its hash. */
export interface Commit {
  readonly commit: number;
  readonly hash: string;
}

/** First line of a segment, naming the last commit of the segment before. */
export interface HeaderLine {
  readonly type: "header";
  readonly segment: number;
  readonly before: Commit;
}

/** What a commit without lines says of the log: a writer opened it again, or closed it. */
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

/** Hashes gathered before they are handed to the hasher, in characters. */
const GATHERED = 64 * 1024;

/**
 * The chain of commits through the whole log: each covers the hashes of the lines written with it and
 * the commit before, so that a line missing in the middle of a file is found even when it was the
 * last of its thread.
 *
 * A commit's hash is the SHA-256 of `JSON.stringify([previous commit's hash, number, ...hashes])`. The first one of a
 * segment has the SHA-256 of the segment's header before the hashes. A mark follows the hashes.
 */
export class CommitChain {
  #last: Commit;
  /** What the text under the next commit's hash begins with. */
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

  /** A line that the next commit covers. */
  cover(hash: string): void {
    this.#rows += 1;
    this.#gathered += `,"${hash}"`;
    if (this.#gathered.length < GATHERED) return;
    this.#hasher ??= createHash("sha256");
    this.#hasher.update(this.#gathered);
    this.#gathered = "";
  }

  /** The commit over the lines since the last one. Only {@link continueFrom} moves the chain on. */
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

  /** Goes on from a commit that was made or read; the lines covered so far are done with. */
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
