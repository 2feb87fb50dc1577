import { checkArgument, RecentPairs } from "../../events/door.ts";
import {
  EMPTY_THREAD,
  type NamedThread,
  NO_HASH,
  namedThread,
  type RowAnchor,
  type ThreadKey,
  threadText,
} from "../audit-row.ts";
import type { ChainEnd } from "../row-text.ts";
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

/** The ordinal of a last row that only the disk knows. */
const UNREAD = -1;

/** A thread that is written to: its name, and the end of its chain. One object, so that a row needs one look-up. */
export class LogThread implements NamedThread, ChainEnd {
  readonly tenant_id: string;
  readonly thread_id: string;
  readonly name: string;
  /** Number of the last row, queued or stored. */
  ordinal = UNREAD;
  hash = NO_HASH;
  /** The last row that is stored. `undefined`: only the disk knows it. */
  stored: RowAnchor | undefined;
  /** How many times rows were queued that are not stored. */
  queued = 0;

  constructor({ name, tenant_id, thread_id }: NamedThread, stored: RowAnchor | undefined) {
    this.tenant_id = tenant_id;
    this.thread_id = thread_id;
    this.name = name;
    this.continueFrom(stored);
  }

  /** Whether its last row is known. Otherwise {@link continueFrom} must come before the next row. */
  get isKnown(): boolean {
    return this.ordinal !== UNREAD;
  }

  /** Makes the stored row its last one. None is queued. */
  continueFrom(stored = this.stored): void {
    this.stored = stored;
    this.ordinal = stored?.ordinal ?? UNREAD;
    this.hash = stored?.hash ?? NO_HASH;
    this.queued = 0;
  }
}

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
  /** Threads kept in memory with their last row, at least. */
  readonly heads: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Finds each thread's rows and the head from which its chain continues. Knows which segments are archived.
 *
 * It holds in memory the threads of the segment being written, those written to last, and 32 bits for each thread of
 * each sealed segment. So it knows a new thread without reading the disk.
 */
export class ThreadTable {
  readonly #options: ThreadTableOptions;
  readonly #threads: RecentPairs<LogThread>;
  /** The last thread, because consecutive rows mostly belong to one. */
  #last: LogThread | undefined;
  /** Threads with rows that are queued and not yet stored, by name. The queue bounds them. */
  readonly #queued = new Map<string, LogThread>();
  #sealed: readonly SealedSegment[];
  #active: ThreadSpans;
  #rows: number;
  /** Rows that are not archived, by number of the sealed segment. Counted when first needed. */
  readonly #live = new Map<number, number>();

  constructor(options: ThreadTableOptions) {
    this.#options = options;
    this.#threads = new RecentPairs(options.heads);
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

  /**
   * A thread to write to. It may be replaced by another object later, so call this again after waiting.
   *
   * @throws TypeError if tenant or thread is missing, empty or longer than 4,096 characters.
   */
  thread(key: ThreadKey): LogThread {
    checkArgument(key, "key");
    const { tenant_id, thread_id } = key;
    const last = this.#last;
    if (last !== undefined && last.thread_id === thread_id && last.tenant_id === tenant_id) {
      return last;
    }
    this.#last = this.#threads.get(tenant_id, thread_id) ?? this.#enter(namedThread(key));
    return this.#last;
  }

  #enter(named: NamedThread): LogThread {
    let thread = this.#queued.get(named.name);
    if (thread === undefined) {
      const isNew = () => this.sealedWith(named).length === 0;
      const stored = headIn(this.#active.get(named.name)) ?? (isNew() ? EMPTY_THREAD : undefined);
      thread = new LogThread(named, stored);
    }
    this.#threads.set(named.tenant_id, named.thread_id, thread);
    return thread;
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

  /** Rows of the thread are queued. */
  queued(thread: LogThread): void {
    if (thread.queued === 0) this.#queued.set(thread.name, thread);
    thread.queued += 1;
  }

  /** None of the queued rows was stored. */
  forgetQueued(): void {
    for (const thread of this.#queued.values()) thread.continueFrom();
    this.#queued.clear();
  }

  /** The thread's oldest queued rows were stored: from the ordinal `first` to `last`. */
  stored(thread: LogThread, first: number, last: RowAnchor): void {
    thread.queued -= 1;
    if (thread.queued === 0) this.#queued.delete(thread.name);
    thread.stored = last;
    noteRows(this.#active, thread.name, thread, first, last);
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
