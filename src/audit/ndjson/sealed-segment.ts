import type { Commit } from "./log-line.ts";
import { type ThreadSpans, threadHash } from "./thread-spans.ts";

/** A segment that is not written to any more. Of its threads only 32 bits each stay in memory. */
export interface SealedSegment {
  readonly number: number;
  readonly rows: number;
  /** Its last commit. */
  readonly last: Commit;
  /** `threadHash` of each of its threads, ascending. */
  readonly hashes: Uint32Array;
  /** Its threads, for as long as its index is being written. */
  threads: ThreadSpans | undefined;
  /** In the archive folder, since every row is archived. */
  archived: boolean;
}

/** The hashes of a segment's threads, as {@link SealedSegment} keeps them. */
export function hashesOf(threads: ThreadSpans): Uint32Array {
  const hashes = new Uint32Array(threads.size);
  let at = 0;
  for (const name of threads.keys()) {
    hashes[at] = threadHash(name);
    at += 1;
  }
  return hashes.sort();
}

/** Whether the segment can hold the thread; wrong about one thread in 2^32. */
export function mayHold({ hashes }: SealedSegment, hash: number): boolean {
  let low = 0;
  let high = hashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((hashes[middle] ?? 0) < hash) low = middle + 1;
    else high = middle;
  }
  return hashes[low] === hash;
}
