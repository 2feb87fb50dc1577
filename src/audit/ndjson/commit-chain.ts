import { createHash, type Hash } from "node:crypto";
import { NO_HASH } from "../audit-row.ts";
import type { Commit } from "./log-line.ts";

/** The commit before the first. */
export const NO_COMMIT: Commit = { commit: 0, hash: NO_HASH };

/** Hashes gathered before they are handed to the hasher, in characters. */
const GATHERED = 64 * 1024;

/**
 * The chain of commits through the whole log: each covers the hashes of the lines written with it and
 * the commit before, so that a line missing in the middle of a file is found even when it was the
 * last of its thread.
 *
 * A commit's hash is the SHA-256 of `JSON.stringify([previous commit's hash, number, ...hashes])`.
 */
export class CommitChain {
  #last: Commit;
  #rows = 0;
  #gathered: string;
  #hasher: Hash | undefined;

  constructor(last: Commit) {
    this.#last = last;
    this.#gathered = opening(last);
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

  /** The commit over the lines since the last one. The chain goes on only by {@link continueFrom}. */
  next(): Commit {
    const hasher = this.#hasher ?? createHash("sha256");
    this.#hasher = undefined;
    hasher.update(`${this.#gathered}]`);
    return { commit: this.#last.commit + 1, hash: hasher.digest("hex") };
  }

  /** Goes on from a commit that was made or read; the lines covered so far are done with. */
  continueFrom(last: Commit): void {
    this.#last = last;
    this.#rows = 0;
    this.#gathered = opening(last);
    this.#hasher = undefined;
  }
}

function opening(last: Commit): string {
  return `["${last.hash}",${last.commit + 1}`;
}
