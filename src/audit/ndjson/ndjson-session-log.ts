import { resolve } from "node:path";
import { checkText, checkWhole } from "../../events/door.ts";
import {
  type AuditEntry,
  type AuditRow,
  type NamedThread,
  namedThread,
  type RowAnchor,
  type ThreadKey,
} from "../audit-row.ts";
import { chainEntries, type EntryText, encodeEntries } from "../row-text.ts";
import {
  type RowWaiter,
  reportFailure,
  reportWhenStored,
  type SessionLog,
} from "../session-log.ts";
import { type Commit, CommitQueue } from "../storage/commit-queue.ts";
import { ChunkPool } from "../storage/line-chunks.ts";
import { LockedDirectory } from "../storage/locked-directory.ts";
import { EarlierEvents } from "./earlier-events.ts";
import type { EventCache } from "./event-cache.ts";
import { KeyedMutex } from "./keyed-mutex.ts";
import { archivedText } from "./log-line.ts";
import { LogWriter } from "./log-writer.ts";
import {
  type NdjsonSessionLogOptions,
  type NdjsonSettings,
  ndjsonSettings,
} from "./ndjson-options.ts";
import { type OpenedLog, openLog, type Recovery } from "./open-log.ts";
import { type LineCall, type LogMemory, QueuedAppend, RowBatch } from "./row-batch.ts";
import { SegmentArchive } from "./segment-archive.ts";
import { type SegmentStore, segmentName } from "./segment-store.ts";
import { readThreadRows } from "./thread-rows.ts";
import { ThreadTable } from "./thread-table.ts";

/** An append whose rows are on their way. */
interface Enqueued {
  readonly anchor: RowAnchor;
  /** None where all rows are stored already. */
  readonly write: Commit | undefined;
}

/**
 * A {@link SessionLog} in one directory: NDJSON segments shared by all threads, so that one flush
 * serves many, and in them a chain of rows for each thread and a chain of commits through all.
 *
 * One writer has it open at a time; `verifyLog` and `readRows` read beside it. A crash loses nothing
 * that was reported as stored, and the log opens again at once. When the disk fails, appends and
 * probes reject until it works again. The folder must be on a disk of this machine.
 *
 * @example
 * const log = await NdjsonSessionLog.open("./audit");
 * const sink = new AuditSink({ log });
 * // …
 * await log.close();
 */
export class NdjsonSessionLog implements SessionLog {
  /** What a crash or an edit had left when the log was opened; `undefined` after a clean end. */
  readonly recovery: Recovery | undefined;
  readonly #settings: NdjsonSettings;
  readonly #lock: LockedDirectory;
  readonly #events: EventCache;
  readonly #store: SegmentStore;
  readonly #table: ThreadTable;
  readonly #archive: SegmentArchive;
  readonly #writer: LogWriter;
  readonly #queue: CommitQueue<LineCall>;
  readonly #memory: LogMemory;
  /** `undefined` without `lookUpBytes`. */
  readonly #earlier: EarlierEvents | undefined;
  /** Appends that read the disk first, by their thread. */
  readonly #cold = new KeyedMutex();
  #lastThread: NamedThread | undefined = undefined;
  #archiving: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /**
   * Opens the log of a directory, and makes the directory if it is missing.
   *
   * @throws RangeError for an option out of range; an Error with the code `ELOCKED` when the directory
   *   is open already, here or in another process; Error when it is the folder of a journal; TypeError
   *   for an empty path, which would mean the working directory; the system's error when it cannot be
   *   written.
   */
  static async open(
    directory: string,
    options: NdjsonSessionLogOptions = {},
  ): Promise<NdjsonSessionLog> {
    const settings = ndjsonSettings(options);
    checkText(directory, "directory");
    // From a variable that is not set: `open(process.env.AUDIT_DIR ?? "")`.
    if (directory === "") throw new TypeError("expected the log's directory, got an empty path");
    // Absolute, so that the log stays where it is when the program changes its working directory.
    const root = resolve(directory);
    await settings.files.makeDirectory(root);
    const lock = await LockedDirectory.lock(settings.files, root);
    let log: NdjsonSessionLog;
    try {
      const opened = await lock.whileOpening(() => openLog(root, settings));
      log = new NdjsonSessionLog(root, settings, lock, opened);
    } catch (error) {
      await lock.release();
      throw error;
    }
    if (log.recovery === undefined) return log;
    try {
      settings.onRecovered(log.recovery);
    } catch (error) {
      await log.close().catch(() => {});
      throw error;
    }
    return log;
  }

  private constructor(
    directory: string,
    settings: NdjsonSettings,
    lock: LockedDirectory,
    opened: OpenedLog,
  ) {
    const { durability, files, heads, lookUpBytes: maxBytes, onError, segmentBytes } = settings;
    const { active, events, sealed, store } = opened;
    this.recovery = opened.recovery;
    this.#settings = settings;
    this.#lock = lock;
    this.#events = events;
    this.#store = store;
    this.#table = new ThreadTable({ store, sealed, active: active.scan, heads, onError });
    this.#memory = { table: this.#table, events };
    if (maxBytes > 0) {
      this.#earlier = new EarlierEvents({ store, table: this.#table, events, maxBytes });
    }
    this.#archive = new SegmentArchive(store, this.#table, onError);
    this.#writer = new LogWriter(active, {
      files,
      directory,
      durable: durability !== "none",
      segmentBytes,
      onSealed: async (sealed) => {
        events.sealed();
        await this.#table.seal(sealed);
        await lock.reserve();
      },
    });
    const batch = { writer: this.#writer, pool: new ChunkPool(), each: durability === "each" };
    this.#queue = new CommitQueue({
      newBatch: () => new RowBatch(batch),
      // Their rows are chained to rows that are not there.
      failBehind: true,
      onFailure: () => {
        this.#table.forgetQueued();
        this.#events.forgetQueued();
      },
    });
  }

  /**
   * Entries written as new although earlier rows of their thread could not all be searched for their
   * event ids, since `lookUpBytes` is too little for them, or archived segments were taken elsewhere. 0
   * without `lookUpBytes`.
   */
  get unsearched(): number {
    return this.#earlier?.unsearched ?? 0;
  }

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    // Not async: promises around the promise of the queue would cost as much as encoding the row.
    try {
      const thread = this.#threadOf(key);
      const encoded = this.#encoded(thread, entries);
      const head = this.#warmHead(thread, encoded);
      return head === undefined
        ? this.#appendCold(thread, encoded)
        : this.#appendWarm(thread, head, encoded);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  appendFor(key: ThreadKey, entries: readonly AuditEntry[], waiter: RowWaiter): Promise<void> {
    try {
      const thread = this.#threadOf(key);
      const encoded = this.#encoded(thread, entries);
      const head = this.#warmHead(thread, encoded);
      if (head === undefined) return reportWhenStored(this.#appendCold(thread, encoded), waiter);
      const { anchor, write } = this.#enqueue(thread, head, encoded, waiter);
      return write?.reported ?? reportWhenStored(Promise.resolve(anchor), waiter);
    } catch (error) {
      return reportFailure(error, waiter);
    }
  }

  /** Done at the call, so that the caller's objects are his again. */
  #encoded(thread: NamedThread, entries: readonly AuditEntry[]): readonly EntryText[] {
    this.#checkOpen();
    const encoded = encodeEntries(entries, thread);
    const { maxPendingBytes } = this.#settings;
    const bytes = this.#queue.bytes + this.#cold.bytes;
    if (bytes < maxPendingBytes) return encoded;
    throw new Error(
      `audit log: ${bytes} bytes wait to be written, maxPendingBytes is ${maxPendingBytes}`,
    );
  }

  async loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    const thread = namedThread(key);
    checkWhole(cursor, "cursor");
    this.#checkOpen();
    const active = this.#table.active.get(thread.name);
    const { segment, size } = this.#writer;
    let archived = active?.archived ?? 0;
    const parts: { segment: number; bytes: number | undefined; last: number }[] = [];
    for (const { segment: sealed, span } of await this.#table.sealedSpans(thread)) {
      archived = Math.max(archived, span.archived);
      parts.push({ segment: sealed.number, bytes: undefined, last: span.last });
    }
    if (active !== undefined) parts.push({ segment, bytes: size, last: active.last });
    const after = Math.max(cursor, archived);
    const rows: AuditRow[] = [];
    for (const part of parts) {
      if (part.last <= after) continue;
      const name = segmentName(part.segment);
      const isThere = await this.#store.read(part.segment, async ({ bytes, file }) => {
        await readThreadRows({ name, file, bytes: part.bytes ?? bytes }, thread, after, rows);
        return true;
      });
      if (isThere === undefined) throw new Error(`${name}: the file is gone`);
    }
    return rows;
  }

  archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    const done = this.#archiving.then(() => this.#archiveOne(key, watermark));
    this.#archiving = done.catch(() => {});
    return done;
  }

  /**
   * Writes what waits, then a close mark: `verifyLog` can tell from it that no row is missing at the end. Closes the
   * files and gives the directory free. Later appends reject. Does nothing the second time.
   *
   * @throws (rejects) Error when the mark could not be written, with the system's as its cause. All else is done: no
   *   stored row is lost, and the log can be opened again.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#archiving;
    await this.#cold.settled();
    await this.#queue.drained();
    try {
      await this.#writer.close();
    } finally {
      await this.#lock.release();
    }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new Error("audit log: it is closed");
  }

  /** Rows of a thread mostly come one after the other: then its name is the same text, ready hashed. */
  #threadOf(key: ThreadKey): NamedThread {
    const last = this.#lastThread;
    if (
      last !== undefined &&
      last.thread_id === key.thread_id &&
      last.tenant_id === key.tenant_id
    ) {
      return last;
    }
    this.#lastThread = namedThread(key);
    return this.#lastThread;
  }

  /** The thread's head, unless the disk has to be read first, for it or for the entries' events. */
  #warmHead(thread: NamedThread, entries: readonly EntryText[]): RowAnchor | undefined {
    if (this.#cold.has(thread.name) || this.#earlier?.mustSearch(thread, entries)) return undefined;
    return this.#table.knownHead(thread);
  }

  /** Reads the disk first. Calls of one thread keep their order. */
  async #appendCold(thread: NamedThread, entries: readonly EntryText[]): Promise<RowAnchor> {
    const bytes = entries.reduce((sum, { event_text: text }) => sum + text.length, 0);
    const { anchor, write } = await this.#cold.run(thread.name, bytes, () =>
      this.#enqueueCold(thread, entries),
    );
    await write?.written;
    return anchor;
  }

  async #enqueueCold(thread: NamedThread, entries: readonly EntryText[]): Promise<Enqueued> {
    let stored: RowAnchor | undefined;
    for (;;) {
      // Before the search, which counts what it could not find out and so is made once.
      if (this.#table.knownHead(thread) === undefined)
        stored ??= await this.#table.coldHead(thread);
      const earlier = await this.#earlier?.search(thread, entries);
      // Nothing is waited for from here to the queue: what was found out still holds there.
      const head = this.#table.knownHead(thread) ?? stored;
      if (head !== undefined) return this.#enqueue(thread, head, entries, undefined, earlier);
    }
  }

  #appendWarm(
    thread: NamedThread,
    head: RowAnchor,
    entries: readonly EntryText[],
  ): Promise<RowAnchor> {
    const { anchor, write } = this.#enqueue(thread, head, entries, undefined);
    return write === undefined ? Promise.resolve(anchor) : write.written.then(() => anchor);
  }

  #enqueue(
    thread: NamedThread,
    head: RowAnchor,
    entries: readonly EntryText[],
    waiter: RowWaiter | undefined,
    earlier?: ReadonlyMap<string, RowAnchor>,
  ): Enqueued {
    const { anchor, rows } = chainEntries(
      thread,
      head,
      entries,
      (name) => earlier?.get(name) ?? this.#events.anchorOf(name),
    );
    if (rows.length === 0 && entries.length > 0 && !this.#anyQueued(entries)) {
      return { anchor, write: undefined };
    }
    const added = { rows, isProbe: entries.length === 0 };
    const call = new QueuedAppend(this.#memory, thread, added, anchor, waiter);
    return { anchor, write: this.#queue.push(call) };
  }

  #anyQueued(entries: readonly EntryText[]): boolean {
    return entries.some(
      ({ event_name }) => event_name !== null && this.#events.isQueued(event_name),
    );
  }

  async #archiveOne(key: ThreadKey, watermark: number): Promise<number> {
    const thread = this.#threadOf(key);
    checkWhole(watermark, "watermark");
    this.#checkOpen();
    await this.#archive.count();
    const spans = await this.#table.sealedSpans(thread);
    // From here to the queue without a wait, so that the rows counted are those queued before.
    const active = this.#table.active.get(thread.name);
    let [stored, from] = [0, active?.archived ?? 0];
    for (const { span } of spans) {
      stored = Math.max(stored, span.last);
      from = Math.max(from, span.archived);
    }
    const to = Math.min(watermark, this.#table.knownHead(thread)?.ordinal ?? stored);
    if (to <= from) return 0;
    const { hash, text } = archivedText(thread, to);
    const call: LineCall = {
      lines: [{ line: text, hash }],
      isProbe: false,
      committed: () => this.#table.archived(thread, to),
      stored: () => {},
      failed: () => {},
    };
    await this.#queue.push(call).written;
    await this.#archive.release(spans, from, to);
    return to - from;
  }
}
