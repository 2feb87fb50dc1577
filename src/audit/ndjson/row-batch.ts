import type { NamedThread, RowAnchor } from "../audit-row.ts";
import type { ChainedRow } from "../row-text.ts";
import type { RowWaiter } from "../session-log.ts";
import type { CommitBatch } from "../storage/commit-queue.ts";
import { type ChunkPool, LineChunks } from "../storage/line-chunks.ts";
import type { EventCache } from "./event-cache.ts";
import type { LogWriter } from "./log-writer.ts";
import type { ThreadTable } from "./thread-table.ts";

/** A line and the hash that its commit covers. */
export interface QueuedLine {
  readonly line: string;
  readonly hash: string;
}

/** A call whose lines wait to be written. */
export interface LineCall {
  /** Emptied once they are encoded. */
  lines: readonly QueuedLine[];
  /** Written even without lines, to find out whether the store works. */
  readonly isProbe: boolean;
  /** Called when its lines are in the log, before any later line is. */
  committed(): void;
  /** Called after {@link committed}, in the order of the calls. Its errors are ignored. */
  stored(): void;
  /** Called when none of its lines is in the log. Its errors are ignored. */
  failed(error: Error): void;
}

/** The threads and recent events of a log. */
export interface LogMemory {
  readonly table: ThreadTable;
  readonly events: EventCache;
}

/** An event with a row, by its name. */
interface NamedEvent {
  readonly name: string;
  readonly anchor: RowAnchor;
}

const NO_LINES: readonly QueuedLine[] = [];
const NO_EVENTS: readonly NamedEvent[] = [];

/** The rows of one append, from the queue to the disk. */
export class QueuedAppend implements LineCall {
  lines: readonly QueuedLine[];
  readonly isProbe: boolean;
  readonly #memory: LogMemory;
  readonly #thread: NamedThread;
  /** Ordinal of its first row. `undefined` for an append without rows. */
  readonly #first: number | undefined;
  readonly #last: RowAnchor;
  readonly #events: readonly NamedEvent[];
  readonly #waiter: RowWaiter | undefined;

  /** @param last the anchor with which the append resolves. */
  constructor(
    memory: LogMemory,
    thread: NamedThread,
    { rows, isProbe }: { readonly rows: readonly ChainedRow[]; readonly isProbe: boolean },
    last: RowAnchor,
    waiter: RowWaiter | undefined,
  ) {
    this.lines = rows;
    this.isProbe = isProbe;
    this.#memory = memory;
    this.#thread = thread;
    this.#first = rows[0]?.ordinal;
    this.#last = last;
    this.#events = eventsOf(rows);
    this.#waiter = waiter;
    for (const { name, anchor } of this.#events) memory.events.queued(name, anchor);
    if (this.#first !== undefined) memory.table.queued(thread, last);
  }

  committed(): void {
    const { events, table } = this.#memory;
    if (this.#first !== undefined) table.stored(this.#thread, this.#first, this.#last);
    for (const { name, anchor } of this.#events) events.stored(name, anchor);
  }

  stored(): void {
    this.#waiter?.stored(this.#last);
  }

  failed(error: Error): void {
    this.#waiter?.failed(error);
  }
}

export interface RowBatchOptions {
  readonly writer: LogWriter;
  readonly pool: ChunkPool;
  /** Each call gets its own write. */
  readonly each: boolean;
}

/** Bytes up to which appends share one write. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Lines of one write. Each is encoded when it is added. */
export class RowBatch implements CommitBatch<LineCall> {
  readonly #options: RowBatchOptions;
  readonly #lines: LineChunks;
  readonly #hashes: string[] = [];
  readonly #calls: LineCall[] = [];
  #bytes = 0;
  #hasProbe = false;

  constructor(options: RowBatchOptions) {
    this.#options = options;
    this.#lines = new LineChunks(options.pool);
  }

  get bytes(): number {
    return this.#bytes;
  }

  hasRoomFor(): boolean {
    return !this.#options.each && this.#bytes < BATCH_BYTES;
  }

  add(call: LineCall): void {
    for (const { hash } of call.lines) this.#hashes.push(hash);
    if (this.#options.each) {
      // Encoded when it is written: a chunk for every waiting call would need far more memory than its line.
      for (const { line } of call.lines) this.#bytes += Buffer.byteLength(line) + 1;
    } else {
      this.#encode(call);
      this.#bytes = this.#lines.bytes;
    }
    this.#hasProbe ||= call.isProbe;
    this.#calls.push(call);
  }

  async write(): Promise<void> {
    if (this.#options.each) for (const call of this.#calls) this.#encode(call);
    if (this.#hashes.length > 0 || this.#hasProbe) {
      await this.#options.writer.write(this.#lines, this.#hashes);
    }
    for (const call of this.#calls) call.committed();
  }

  settle(failure: Error | undefined): void {
    this.#lines.release();
    for (const call of this.#calls) {
      try {
        if (failure === undefined) call.stored();
        else call.failed(failure);
      } catch {
        // One waiter's error must not reach the log or the other waiters.
      }
    }
  }

  #encode(call: LineCall): void {
    for (const { line } of call.lines) this.#lines.add(line);
    call.lines = NO_LINES;
  }
}

function eventsOf(rows: readonly ChainedRow[]): readonly NamedEvent[] {
  let events: NamedEvent[] | undefined;
  for (const { entry, hash, ordinal } of rows) {
    if (entry.event_name === null) continue;
    events ??= [];
    events.push({ name: entry.event_name, anchor: { ordinal, hash } });
  }
  return events ?? NO_EVENTS;
}
