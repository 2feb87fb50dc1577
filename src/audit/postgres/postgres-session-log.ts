import { checkWhole } from "../../events/door.ts";
import {
  type AuditEntry,
  type AuditRow,
  namedThread,
  type RowAnchor,
  type ThreadKey,
} from "../audit-row.ts";
import { encodeEntries } from "../row-text.ts";
import type { SessionLog } from "../session-log.ts";
import { AppendQueue } from "./append-queue.ts";
import { BatchWriter } from "./batch-writer.ts";
import { eraseThread } from "./erase.ts";
import { type Database, openDatabase } from "./open-database.ts";
import {
  type CheckedSettings,
  type PostgresSessionLogOptions,
  postgresSettings,
} from "./postgres-options.ts";
import { ThreadArchiver } from "./thread-archiver.ts";
import { loadThread, threadHead, threadsOf } from "./threads.ts";

const NOT_OPENED = "expected a call of PostgresSessionLog.open(), got new PostgresSessionLog()";

/** Thread of probes. It belongs to no tenant and never gets a row. */
const PROBE: ThreadKey = { tenant_id: "entelix-otel", thread_id: "probe" };

/**
 * A {@link SessionLog} in PostgreSQL, for many writers at once. Its rows have the same hashes as in every other
 * store.
 *
 * The database chains the rows under a lock on the thread, and refuses a row that does not continue it. It remembers
 * an event ID as long as the row exists. Waiting appends share one statement, which is one transaction. They reject
 * while the server is not reachable.
 *
 * @example
 * const log = await PostgresSessionLog.open({ connection: "postgres://audit@db.example/agents" });
 * const sink = new AuditSink({ log });
 * // …
 * await log.close();
 */
export class PostgresSessionLog implements SessionLog {
  readonly #settings: CheckedSettings;
  readonly #database: Database;
  readonly #queue: AppendQueue;
  readonly #archiver: ThreadArchiver;
  #closing: Promise<void> | undefined;

  /**
   * Connects, and migrates the schema to this package's version unless `migrate` is false.
   *
   * @throws RangeError or TypeError for an invalid option.
   * @throws Error if the package `pg` is missing, if the schema is newer, if it is older and `migrate` is false, or
   *   if a part of it is missing.
   * @throws PostgreSQL's error otherwise.
   */
  static async open(options: PostgresSessionLogOptions): Promise<PostgresSessionLog> {
    const settings = postgresSettings(options);
    return new PostgresSessionLog(await openDatabase(options, settings), settings);
  }

  private constructor(database: Database, settings: CheckedSettings) {
    if (typeof settings !== "object" || settings === null) throw new TypeError(NOT_OPENED);
    const { doubtMs, durability, lockMs, maxPendingBytes } = settings;
    this.#settings = settings;
    this.#database = database;
    const { pool, schema } = database;
    this.#archiver = new ThreadArchiver({ pool, schema, durability, lockMs });
    const writer = new BatchWriter({ pool, schema, durability, doubtMs });
    this.#queue = new AppendQueue({
      write: (calls, waitMs) => writer.write(calls, waitMs),
      each: durability === "each",
      lockMs,
      // The other half is for threads that are not locked.
      maxLockedBytes: maxPendingBytes / 2,
    });
  }

  /** Bytes of appends that are not stored yet. */
  get pendingBytes(): number {
    return this.#queue.bytes;
  }

  /** Threads whose appends wait because another transaction has locked them. */
  get lockedThreads(): number {
    return this.#queue.lockedThreads;
  }

  async append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    // Everything before the queue is done during the call, so that the caller may change its objects afterwards.
    const thread = namedThread(key);
    this.#checkOpen();
    const encoded = encodeEntries(entries, thread);
    const { maxPendingBytes } = this.#settings;
    if (this.#queue.bytes >= maxPendingBytes) {
      throw new Error(
        `audit log: ${this.#queue.bytes} bytes wait to be stored, maxPendingBytes is ${maxPendingBytes}`,
      );
    }
    return this.#queue.push({ thread, entries: encoded });
  }

  async loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    const thread = namedThread(key);
    checkWhole(cursor, "cursor");
    this.#checkOpen();
    const head = await threadHead(this.#database.run, this.#database.schema, thread);
    if (head === undefined) return [];
    return loadThread(
      this.#database.run,
      this.#database.schema,
      head,
      Math.max(cursor, head.archived),
    );
  }

  async archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    const thread = namedThread(key);
    checkWhole(watermark, "watermark");
    this.#checkOpen();
    return this.#archiver.archive(thread, watermark);
  }

  /**
   * Erases the payloads of a tenant's rows, or of one thread's. Each event's kind, time, IDs and hashes remain, and
   * every chain stays valid. Rows that are appended meanwhile may keep their payloads.
   *
   * The old texts stay in the server's files until new rows replace them or `VACUUM FULL` rewrites the table. Its
   * write-ahead log and backups keep them longer.
   *
   * @returns how many payloads this call erased.
   * @throws (rejects) with PostgreSQL's error. Payloads that were erased before it stay erased.
   * @throws (rejects) TypeError if tenant or thread is not a string of 1 to 4,096 characters.
   */
  async erasePayloads(tenant: string, thread?: string): Promise<number> {
    const key = namedThread({ tenant_id: tenant, thread_id: thread ?? "all" });
    this.#checkOpen();
    if (thread !== undefined) {
      const head = await threadHead(this.#database.run, this.#database.schema, key);
      return head === undefined
        ? 0
        : eraseThread(this.#database.run, this.#database.schema, head.thread);
    }
    let erased = 0;
    for await (const head of threadsOf(this.#database.run, this.#database.schema, tenant)) {
      erased += await eraseThread(this.#database.run, this.#database.schema, head.thread);
    }
    return erased;
  }

  /** Resolves if rows can be stored, rejects with the reason if not. It leaves no row. */
  async probe(): Promise<void> {
    await this.append(PROBE, []);
  }

  /**
   * Stores waiting rows and closes the connections, unless the pool was given by the caller. Later calls reject. A
   * second call does nothing.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#queue.drained();
    await this.#database.close();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new Error("audit log: it is closed");
  }
}
