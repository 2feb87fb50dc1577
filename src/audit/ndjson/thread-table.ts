import { RecentMap } from "../../events/door.ts";
import { EMPTY_THREAD, type NamedThread, type RowAnchor, threadText } from "../audit-row.ts";
import type { SealedInfo } from "./log-writer.ts";
import { hashesOf, mayHold, threadHash } from "./segment-index.ts";
import {
  noteArchived,
  noteRows,
  rowsBetween,
  type ThreadSpan,
  type ThreadSpans,
} from "./segment-scan.ts";
import type { SealedSegment, SegmentStore } from "./segment-store.ts";

/** The rows of a thread in a sealed segment. */
export interface SealedSpan {
  readonly segment: SealedSegment;
  readonly span: ThreadSpan;
}

export interface ThreadTableOptions {
  readonly store: SegmentStore;
  /** Ascending. */
  readonly sealed: readonly SealedSegment[];
  /** The threads and rows of the segment being written. */
  readonly active: { readonly threads: ThreadSpans; readonly rows: number };
  /** Heads kept in memory, at least. */
  readonly heads: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Finds each thread's rows and the head from which its chain continues. Knows which segments are archived.
 *
 * It holds in memory the threads of the segment being written, the heads used last, and 32 bits for each thread of
 * each sealed segment. So it knows a new thread without reading the disk.
 */
export class ThreadTable {
  readonly #options: ThreadTableOptions;
  readonly #heads: RecentMap<RowAnchor>;
  /** Heads of threads with rows that are queued and not yet stored. The queue bounds them. */
  readonly #queued = new Map<string, { head: RowAnchor; calls: number }>();
  #sealed: readonly SealedSegment[];
  #active: ThreadSpans;
  #rows: number;
  /** Rows that are not archived, by number of the sealed segment. Counted when first needed. */
  readonly #live = new Map<number, number>();

  constructor(options: ThreadTableOptions) {
    this.#options = options;
    this.#heads = new RecentMap(options.heads);
    this.#sealed = options.sealed;
    this.#active = options.active.threads;
    this.#rows = options.active.rows;
  }

  /** The sealed segments, ascending. */
  get sealed(): readonly SealedSegment[] {
    return this.#sealed;
  }

  /** The threads of the segment being written. */
  get active(): ReadonlyMap<string, ThreadSpan> {
    return this.#active;
  }

  /** The thread's last row, queued or stored. `undefined` if an index must be read to know it. */
  knownHead({ name }: NamedThread): RowAnchor | undefined {
    const known =
      this.#queued.get(name)?.head ?? this.#heads.get(name) ?? headIn(this.#active.get(name));
    if (known !== undefined) return known;
    const hash = threadHash(name);
    return this.#sealed.some(({ hashes }) => mayHold(hashes, hash)) ? undefined : EMPTY_THREAD;
  }

  /** The thread's last row in the sealed segments. */
  async coldHead(thread: NamedThread): Promise<RowAnchor> {
    for (const segment of this.sealedWith(thread).toReversed()) {
      const head = headIn(await this.#options.store.find(segment, thread));
      if (head !== undefined) return head;
    }
    return EMPTY_THREAD;
  }

  /** The sealed segments that may hold a thread, ascending. */
  sealedWith({ name }: NamedThread): readonly SealedSegment[] {
    const hash = threadHash(name);
    return this.#sealed.filter(({ hashes }) => mayHold(hashes, hash));
  }

  /** The rows of a thread in the sealed segments, ascending. */
  async sealedSpans(thread: NamedThread): Promise<readonly SealedSpan[]> {
    const spans: SealedSpan[] = [];
    for (const segment of this.sealedWith(thread)) {
      const span = await this.#options.store.find(segment, thread);
      if (span !== undefined) spans.push({ segment, span });
    }
    return spans;
  }

  /** A call has queued rows up to `head`. */
  queued({ name }: NamedThread, head: RowAnchor): void {
    const queued = this.#queued.get(name);
    if (queued === undefined) {
      this.#queued.set(name, { head, calls: 1 });
    } else {
      queued.head = head;
      queued.calls += 1;
    }
  }

  /** None of the queued rows was stored. */
  forgetQueued(): void {
    this.#queued.clear();
  }

  /** The thread's oldest queued call was stored: rows from the ordinal `first` to `last`. */
  stored(thread: NamedThread, first: number, last: RowAnchor): void {
    const queued = this.#queued.get(thread.name);
    if (queued !== undefined && --queued.calls === 0) this.#queued.delete(thread.name);
    noteRows(this.#active, thread.name, thread, first, last);
    this.#heads.set(thread.name, last);
    this.#rows += last.ordinal - first + 1;
  }

  /** An archive line was stored. */
  archived(thread: NamedThread, watermark: number): void {
    noteArchived(this.#active, thread.name, thread, watermark);
  }

  /** Called when the segment being written was sealed. Writes its index and starts a new list of threads. */
  async seal(info: SealedInfo): Promise<void> {
    const threads = this.#active;
    const rows = this.#rows;
    const { bytes, last, number } = info;
    const hashes = hashesOf(threads);
    const segment: SealedSegment = { number, rows, last, hashes, threads, archived: false };
    this.#sealed = [...this.#sealed, segment];
    this.#active = new Map();
    this.#rows = 0;
    try {
      await this.#options.store.writeIndex(number, { bytes, rows, last }, threads);
    } catch (error) {
      // The index is made again from the segment when it is needed.
      this.#options.onError(error);
    }
    segment.threads = undefined;
  }

  /** Counts the rows that are not archived in the segments sealed since the last call. */
  async countLive(): Promise<void> {
    const uncounted = this.#sealed.filter(({ number }) => !this.#live.has(number));
    if (uncounted.length === 0) return;
    // Only archive lines in a segment and in later ones can cover its rows, since a watermark is at most the last
    // ordinal. The newest segment comes first, so every line is read once.
    const watermarks = new Map<string, number>();
    for (const [name, span] of this.#active) watermarks.set(name, span.archived);
    for (const segment of uncounted.toReversed()) {
      this.#live.set(segment.number, await this.#liveRows(segment, watermarks));
    }
  }

  /**
   * Subtracts a thread's rows with ordinals above `from` and up to `to`, and moves each segment without a live row to
   * the archive. One call at a time, after {@link countLive}.
   */
  async release(spans: readonly SealedSpan[], from: number, to: number): Promise<void> {
    for (const { segment, span } of spans) {
      const live = this.#live.get(segment.number);
      if (live === undefined) continue;
      this.#live.set(segment.number, live - rowsBetween(span, from, to));
    }
    for (const segment of this.#sealed) {
      if (segment.archived || this.#live.get(segment.number) !== 0) continue;
      try {
        await this.#options.store.moveToArchive(segment.number);
        segment.archived = true;
      } catch (error) {
        // The rows are archived anyway. The next call tries the move again.
        this.#options.onError(error);
      }
    }
  }

  async #liveRows(segment: SealedSegment, watermarks: Map<string, number>): Promise<number> {
    let live = 0;
    for await (const span of this.#options.store.threadsOf(segment)) {
      const name = threadText(span);
      const watermark = Math.max(span.archived, watermarks.get(name) ?? 0);
      live += rowsBetween(span, 0, span.last) - rowsBetween(span, 0, watermark);
      if (watermark > 0) watermarks.set(name, watermark);
    }
    return live;
  }
}

/** The head in a span. `undefined` if the span has only archive lines. */
function headIn(span: ThreadSpan | undefined): RowAnchor | undefined {
  return span === undefined || span.last === 0
    ? undefined
    : { ordinal: span.last, hash: span.hash };
}
