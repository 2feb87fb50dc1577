import type { NamedThread, RowAnchor } from "../audit-row.ts";
import { chainEntries, type EntryText, type RowHead, type RowStore } from "../row-text.ts";
import type { RowWaiter } from "../session-log.ts";
import type { Commit, CommitBatch } from "../storage/commit-queue.ts";
import { type ChunkPool, LineChunks } from "../storage/line-chunks.ts";
import type { EventCache, EventRow } from "./event-cache.ts";
import { archivedText } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";
import type { LogThread, ThreadTable } from "./thread-table.ts";

/** Entries to append to a thread whose last row is known. */
export interface RowAppend {
  readonly thread: LogThread;
  readonly entries: readonly EntryText[];
  readonly waiter: RowWaiter | undefined;
  /** Rows of these events in sealed segments. */
  readonly earlier: ReadonlyMap<string, RowAnchor> | undefined;
  /** The anchor with which it resolves. Set when it is in a batch. */
  anchor: RowAnchor;
  /** `undefined` if all rows are stored already. */
  write: Commit | undefined;
}

/** Rows of a thread up to the watermark are to be archived. */
export interface Archiving {
  readonly thread: NamedThread;
  readonly watermark: number;
}

/** What a write consists of. */
export type LogCall = RowAppend | Archiving;

/** Consecutive appends of one waiter to one thread. They share their outcome. */
interface SharedRows {
  readonly thread: LogThread;
  readonly waiter: RowWaiter | undefined;
  /** Ordinal of the first row. `undefined` for appends without rows. */
  readonly first: number | undefined;
  last: RowAnchor;
  appends: number;
}

export interface RowBatchOptions {
  readonly writer: LogWriter;
  readonly table: ThreadTable;
  readonly events: EventCache;
  /** `undefined`: each call gets its own write. */
  readonly pool: ChunkPool | undefined;
}

/** Bytes up to which appends share one write. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Lines of one write. Rows are chained and encoded when they are added. */
export class RowBatch implements CommitBatch<LogCall>, RowStore {
  readonly #options: RowBatchOptions;
  readonly #lines: LineChunks;
  readonly #hashes: string[] = [];
  readonly #rows: SharedRows[] = [];
  readonly #events: EventRow[] = [];
  readonly #archivings: Archiving[] = [];
  /** The append that is being added. */
  #append: RowAppend | undefined;
  /** Written even without lines, to find out whether the store works. */
  #hasProbe = false;

  constructor(options: RowBatchOptions) {
    this.#options = options;
    this.#lines = new LineChunks(options.pool);
  }

  get bytes(): number {
    return this.#lines.bytes;
  }

  hasRoomFor(): boolean {
    return this.#options.pool !== undefined && this.#lines.bytes < BATCH_BYTES;
  }

  add(call: LogCall): void {
    if ("watermark" in call) {
      const { hash, text } = archivedText(call.thread, call.watermark);
      this.#lines.add(text);
      this.#hashes.push(hash);
      this.#archivings.push(call);
      return;
    }
    const { entries, thread, waiter } = call;
    const first = thread.ordinal + 1;
    this.#append = call;
    call.anchor = chainEntries(thread, entries, this);
    this.#append = undefined;
    if (entries.length === 0) this.#hasProbe = true;
    const hasRows = thread.ordinal >= first;
    const before = hasRows ? this.#rows.at(-1) : undefined;
    if (before?.first !== undefined && before.thread === thread && before.waiter === waiter) {
      before.last = call.anchor;
      before.appends += 1;
      return;
    }
    if (hasRows) this.#options.table.queued(thread);
    const { anchor: last } = call;
    this.#rows.push({ thread, waiter, first: hasRows ? first : undefined, last, appends: 1 });
  }

  /** The event's row: stored, queued, or in a sealed segment. */
  anchorOf(name: string): RowAnchor | undefined {
    return this.#append?.earlier?.get(name) ?? this.#options.events.anchorOf(name);
  }

  addRow({ hash, ordinal, text }: RowHead, { event_name: name, event_text }: EntryText): void {
    this.#lines.add(text, event_text);
    this.#hashes.push(hash);
    if (name === null) return;
    const anchor = { ordinal, hash };
    this.#events.push({ name, anchor });
    this.#options.events.queued(name, anchor);
  }

  async write(): Promise<void> {
    const { events, table, writer } = this.#options;
    if (this.#hashes.length > 0 || this.#hasProbe) await writer.write(this.#lines, this.#hashes);
    for (const { first, last, thread } of this.#rows) {
      if (first !== undefined) table.stored(thread, first, last);
    }
    for (const { anchor, name } of this.#events) events.stored(name, anchor);
    for (const { thread, watermark } of this.#archivings) table.archived(thread, watermark);
  }

  settle(failure: Error | undefined): void {
    this.#lines.release();
    for (const { appends, last, waiter } of this.#rows) {
      try {
        if (failure === undefined) waiter?.stored(last, appends);
        else waiter?.failed(failure, appends);
      } catch {
        // One waiter's error must not reach the log or the other waiters.
      }
    }
  }
}
