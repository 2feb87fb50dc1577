import { resolve } from "node:path";
import { checkGivenText, checkWhole } from "../../events/door.ts";
import {
  type AuditEntry,
  type AuditRow,
  EMPTY_THREAD,
  type NamedThread,
  namedThread,
  type RowAnchor,
  type ThreadKey,
} from "../audit-row.ts";
import { type EntryText, encodeEntries } from "../row-text.ts";
import {
  type RowWaiter,
  reportFailure,
  reportWhenStored,
  type SessionLog,
} from "../session-log.ts";
import { CommitQueue } from "../storage/commit-queue.ts";
import { ChunkPool } from "../storage/line-chunks.ts";
import { LockedDirectory } from "../storage/locked-directory.ts";
import { EarlierEvents } from "./earlier-events.ts";
import type { EventCache } from "./event-cache.ts";
import { KeyedMutex } from "./keyed-mutex.ts";
import { LogWriter } from "./log-writer.ts";
import {
  type NdjsonSessionLogOptions,
  type NdjsonSettings,
  ndjsonSettings,
} from "./ndjson-options.ts";
import { type OpenedLog, openLog, type Recovery } from "./open-log.ts";
import { type LogCall, type RowAppend, RowBatch } from "./row-batch.ts";
import type { SegmentStore } from "./segment-store.ts";
import { type LogThread, ThreadTable } from "./thread-table.ts";

const NOT_OPENED = "expected a call of NdjsonSessionLog.open(), got new NdjsonSessionLog()";

/**
 * A {@link SessionLog} in one directory. All threads share its NDJSON segments, so that one flush serves many. Each
 * thread has a chain of rows, and the log has a chain of commits.
 *
 * One writer at a time has it open. `verifyLog` and `readRows` can read meanwhile. A crash loses no row that was
 * reported as stored, and the log opens again at once. While the disk fails, appends and probes reject. The directory
 * must be on a local disk.
 *
 * @example
 * const log = await NdjsonSessionLog.open("./audit");
 * const sink = new AuditSink({ log });
 * // …
 * await log.close();
 */
export class NdjsonSessionLog implements SessionLog {
  /** What opening found after a crash or an edit. `undefined` after a clean end. */
  readonly recovery: Recovery | undefined;
  readonly #settings: NdjsonSettings;
  readonly #lock: LockedDirectory;
  readonly #events: EventCache;
  readonly #store: SegmentStore;
  readonly #table: ThreadTable;
  readonly #writer: LogWriter;
  readonly #queue: CommitQueue<LogCall>;
  /** `undefined` without `lookUpBytes`. */
  readonly #earlier: EarlierEvents | undefined;
  /** Appends that must read the disk first, by thread. */
  readonly #cold = new KeyedMutex();
  #archiving: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /**
   * Opens the log in a directory. Makes the directory if it is missing.
   *
   * @throws RangeError for an option out of range.
   * @throws TypeError for an empty path, which would be the working directory.
   * @throws Error with the code `ELOCKED` if the directory is already open, here or in another process.
   * @throws Error if it is the directory of a journal.
   * @throws the system's error if the directory cannot be written.
   */
  static async open(
    directory: string,
    options: NdjsonSessionLogOptions = {},
  ): Promise<NdjsonSessionLog> {
    const settings = ndjsonSettings(options);
    checkGivenText(directory, "directory");
    // As in `open(process.env.AUDIT_DIR ?? "")` if the variable is not set.
    if (directory === "") throw new TypeError("expected the log's directory, got an empty path");
    // Absolute, so that a later change of the working directory does not move the log.
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
    if (log.recovery !== undefined) settings.onRecovered(log.recovery);
    return log;
  }

  private constructor(
    directory: string,
    settings: NdjsonSettings,
    lock: LockedDirectory,
    opened: OpenedLog,
  ) {
    if (typeof opened !== "object") throw new TypeError(NOT_OPENED);
    const { durability, files, heads, lookUpBytes: maxBytes, onError, segmentBytes } = settings;
    const { active, events, sealed, store } = opened;
    this.recovery = opened.recovery;
    this.#settings = settings;
    this.#lock = lock;
    this.#events = events;
    this.#store = store;
    this.#table = new ThreadTable({ store, sealed, active: active.scan, heads, onError });
    if (maxBytes > 0) {
      this.#earlier = new EarlierEvents({ store, table: this.#table, events, maxBytes });
    }
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
    const pool = durability === "each" ? undefined : new ChunkPool();
    const batch = { writer: this.#writer, table: this.#table, events, pool };
    this.#queue = new CommitQueue({
      newBatch: () => new RowBatch(batch),
      // The later rows are chained to rows that were not stored.
      failBehind: true,
      onFailure: () => {
        this.#table.forgetQueued();
        this.#events.forgetQueued();
      },
    });
  }

  /**
   * Entries written as new although not all earlier rows of their thread could be searched for their event IDs:
   * `lookUpBytes` is too small, or archived segments were moved elsewhere. Always 0 without `lookUpBytes`.
   */
  get unsearched(): number {
    return this.#earlier?.unsearched ?? 0;
  }

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    // Not async: promises around the queue's promise would cost as much as encoding the row.
    try {
      const thread = this.#table.thread(key);
      const encoded = this.#encoded(thread, entries);
      if (this.#isCold(thread, encoded)) return this.#appendCold(thread, encoded);
      const { anchor, write } = this.#enqueue(thread, encoded, undefined);
      return write === undefined ? Promise.resolve(anchor) : write.written.then(() => anchor);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  appendFor(key: ThreadKey, entries: readonly AuditEntry[], waiter: RowWaiter): Promise<void> {
    try {
      const thread = this.#table.thread(key);
      const encoded = this.#encoded(thread, entries);
      if (this.#isCold(thread, encoded)) {
        return reportWhenStored(this.#appendCold(thread, encoded), waiter);
      }
      const { anchor, write } = this.#enqueue(thread, encoded, waiter);
      return write?.reported ?? reportWhenStored(Promise.resolve(anchor), waiter);
    } catch (error) {
      return reportFailure(error, waiter);
    }
  }

  /** Encodes during the call, so that the caller may change its objects afterwards. */
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
    const parts: { number: number; until: number | undefined; last: number }[] = [];
    for (const { segment: sealed, span } of await this.#table.sealedSpans(thread)) {
      archived = Math.max(archived, span.archived);
      parts.push({ number: sealed.number, until: undefined, last: span.last });
    }
    if (active !== undefined) parts.push({ number: segment, until: size, last: active.last });
    const after = Math.max(cursor, archived);
    const rows: AuditRow[] = [];
    for (const part of parts) {
      if (part.last > after) await this.#store.addRows(part, thread, after, rows);
    }
    return rows;
  }

  archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    const done = this.#archiving.then(() => this.#archiveOne(key, watermark));
    this.#archiving = done.catch(() => {});
    return done;
  }

  /**
   * Writes all waiting rows, then a close mark, by which `verifyLog` knows that no row is missing at the end. Closes
   * the files and releases the directory. Later appends reject. A second call does nothing.
   *
   * @throws (rejects) Error with the system's error as its cause, if the mark could not be written. No stored row is
   *   lost, and the log can be opened again.
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

  /** Whether the disk must be read first, for the thread's last row or for the entries' events. */
  #isCold(thread: LogThread, entries: readonly EntryText[]): boolean {
    if (this.#cold.has(thread.name) || !thread.isKnown) return true;
    return this.#earlier?.mustSearch(thread, entries) === true;
  }

  /** Reads the disk first. Calls for one thread keep their order. */
  async #appendCold(thread: NamedThread, entries: readonly EntryText[]): Promise<RowAnchor> {
    const bytes = entries.reduce((sum, { event_text: text }) => sum + text.length, 0);
    const { anchor, write } = await this.#cold.run(thread.name, bytes, () =>
      this.#enqueueCold(thread, entries),
    );
    await write?.written;
    return anchor;
  }

  async #enqueueCold(named: NamedThread, entries: readonly EntryText[]): Promise<RowAppend> {
    let stored: RowAnchor | undefined;
    for (;;) {
      // Before the search, which runs once because it counts the entries that it could not search for.
      if (!this.#table.thread(named).isKnown) stored ??= await this.#table.coldHead(named);
      const earlier = await this.#earlier?.search(named, entries);
      // No await from here to the queue, so that the results are still valid there.
      const thread = this.#table.thread(named);
      if (!thread.isKnown) thread.continueFrom(stored);
      if (thread.isKnown) return this.#enqueue(thread, entries, undefined, earlier);
    }
  }

  #enqueue(
    thread: LogThread,
    entries: readonly EntryText[],
    waiter: RowWaiter | undefined,
    earlier?: ReadonlyMap<string, RowAnchor>,
  ): RowAppend {
    const stored = this.#storedAnchor(entries, earlier);
    const anchor = stored ?? EMPTY_THREAD;
    const call: RowAppend = { thread, entries, waiter, earlier, anchor, write: undefined };
    if (stored === undefined) call.write = this.#queue.push(call);
    return call;
  }

  /** The highest row of the entries' events if all are stored. */
  #storedAnchor(
    entries: readonly EntryText[],
    earlier: ReadonlyMap<string, RowAnchor> | undefined,
  ): RowAnchor | undefined {
    let highest: RowAnchor | undefined;
    for (const { event_name: name } of entries) {
      if (name === null || this.#events.isQueued(name)) return undefined;
      const anchor = earlier?.get(name) ?? this.#events.anchorOf(name);
      if (anchor === undefined) return undefined;
      if (highest === undefined || anchor.ordinal > highest.ordinal) highest = anchor;
    }
    return highest;
  }

  async #archiveOne(key: ThreadKey, watermark: number): Promise<number> {
    const named = namedThread(key);
    checkWhole(watermark, "watermark");
    this.#checkOpen();
    await this.#table.countLive();
    const spans = await this.#table.sealedSpans(named);
    // No await from here to the queue, so that exactly the rows queued before are counted.
    const active = this.#table.active.get(named.name);
    let [stored, from] = [0, active?.archived ?? 0];
    for (const { span } of spans) {
      stored = Math.max(stored, span.last);
      from = Math.max(from, span.archived);
    }
    const thread = this.#table.thread(named);
    const to = Math.min(watermark, thread.isKnown ? thread.ordinal : stored);
    if (to <= from) return 0;
    await this.#queue.push({ thread, watermark: to }).written;
    await this.#table.release(spans, from, to);
    return to - from;
  }
}
