import type { RowAnchor, ThreadKey } from "../audit-row.ts";
import type { Commit } from "./commit-chain.ts";

/** What one segment holds of one thread. */
export interface ThreadSpan extends ThreadKey {
  /** First and last ordinal here; 0 and 0 when there are archive lines only. */
  first: number;
  last: number;
  /** Hash of the last row here. */
  hash: string;
  /** Highest watermark among the archive lines here; 0 when there are none. */
  archived: number;
}

/** The threads of one segment, by `threadText`. */
export type ThreadSpans = Map<string, ThreadSpan>;

/** 32 bits of a thread's name, to pass over the segments that cannot hold it. */
export function threadHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Notes rows of a thread from `first` to `last`. Damage never moves a head back. */
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

/** Notes that a thread's rows up to `watermark` are archived. */
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
