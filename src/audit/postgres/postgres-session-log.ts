import { checkWhole } from "../../events/door.ts";
import {
  type AuditEntry,
  type AuditRow,
  namedThread,
  type RowAnchor,
  type ThreadKey,
} from "../audit-row.ts";
import { encodeEntries } from "../entry-text.ts";
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

/** Asks the store and nothing else: it belongs to no tenant, and no row of it is ever written. */
const PROBE: ThreadKey = { tenant_id: "entelix-otel", thread_id: "probe" };

/**
 * A {@link SessionLog} in PostgreSQL, for many writers at once: the same rows with the same hashes as
 * every other store has.
 *
 * The database itself chains the rows, under a lock on the thread, and refuses what does not follow.
 * An event id is known for as long as its row is there. The appends that wait at a time go in one
 * statement, which is one transaction; while the server is away they reject, and they work again as
 * soon as it is back.
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
   * Connects, and brings the schema to this package's version unless `migrate` is false.
   *
   * @throws RangeError or TypeError for an option that does not fit; an Error when the package `pg` is
   *   absent, when the database has a newer version of the schema, or an older one and `migrate` is
   *   false, or when something of the schema is missing; PostgreSQL's error otherwise.
   */
  static async open(options: PostgresSessionLogOptions): Promise<PostgresSessionLog> {
    const settings = postgresSettings(options);
    return new PostgresSessionLog(await openDatabase(options, settings), settings);
  }

  private constructor(database: Database, settings: CheckedSettings) {
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
      // The other half is left to the threads that are not locked.
      maxLockedBytes: maxPendingBytes / 2,
    });
  }

  /** Bytes of appends that wait or are being stored. */
  get pendingBytes(): number {
    return this.#queue.bytes;
  }

  /** Threads with appends that wait because another transaction has locked them. */
  get lockedThreads(): number {
    return this.#queue.lockedThreads;
  }

  async append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    // Everything up to the queue is done at the call, so that the caller's objects are his again.
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
   * Erases the payloads of a tenant's rows, or of one thread's: kind and time of each event are left,
   * its ids and hashes too, and every chain holds. Rows that are appended meanwhile may be left out.
   *
   * The old texts stay in the server's files until new rows take their place or `VACUUM FULL` writes the table
   * anew; its log and backups have them longer.
   *
   * @returns how many were erased by this call.
   * @throws (rejects) with PostgreSQL's error; what was erased before stays erased. TypeError for a
   *   tenant or thread that is no string of 1 to 4,096 characters.
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

  /** Resolves when something can be stored, rejects with the reason when not; it leaves no row. */
  async probe(): Promise<void> {
    await this.append(PROBE, []);
  }

  /**
   * Stores what waits and ends the connections, but for a pool that was given. Later calls reject. Does
   * nothing the second time.
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
