import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RowAnchor } from "../audit-row.ts";
import type { Durability } from "../ndjson/ndjson-options.ts";
import { AppendBatch, type AppendCall } from "./append-batch.ts";
import { isLocked, type PgPool, pauseMs, tryStatement } from "./pg-pool.ts";

export interface BatchWriterOptions {
  readonly pool: PgPool;
  /** Quoted for SQL. */
  readonly schema: string;
  readonly durability: Durability;
  /** See `PostgresSettings.doubtMs`. */
  readonly doubtMs: number;
  /**
   * How long a statement is retried after a collision with another transaction, in ms. Default 30,000, as an append
   * waits for the lock of its thread.
   */
  readonly collisionMs?: number;
}

const COLLISION_MS = 30_000;

/**
 * The transaction's settings for the functions of the schema: `synchronous_commit`, and how long to wait for a
 * thread's lock.
 *
 * @param waitMs in ms. 0: no wait.
 */
export function writeMode(durability: Durability, waitMs: number): string {
  return `${durability === "none" ? "off" : "on"} ${waitMs}`;
}

/**
 * Writes batches, each with one statement, which is one transaction.
 *
 * A statement whose answer was lost is sent again with the same batch ID until there is an answer. The database
 * executes it once.
 */
export class BatchWriter {
  readonly #options: BatchWriterOptions;
  readonly #text: string;

  constructor(options: BatchWriterOptions) {
    this.#options = options;
    const values = Array.from({ length: 13 }, (_, index) => `$${index + 1}`).join(", ");
    this.#text = `select place, ordinal::text as ordinal, encode(hash, 'hex') as hash from ${options.schema}.append_rows(${values})`;
  }

  /**
   * @param waitMs how long to wait for a thread's lock if every thread is locked, in ms. 0: no wait.
   * @returns the answer to each call. `undefined` if its thread was left out, see {@link AppendBatch}.
   * @throws (rejects) with the error of PostgreSQL or of the connection if nothing was written. Its code is 55P03 for
   *   a lock that is not a thread's.
   * @throws (rejects) with an Error that says so if the outcome is unknown.
   */
  async write(calls: readonly AppendCall[], waitMs = 0): Promise<(RowAnchor | undefined)[]> {
    const { collisionMs = COLLISION_MS, doubtMs, durability, pool } = this.#options;
    const collidesUntil = performance.now() + collisionMs;
    const batch = new AppendBatch(calls);
    const values = [randomUUID(), writeMode(durability, waitMs), ...batch.parameters()];
    const statement = { text: this.#text, values };
    let doubt: unknown;
    let until = 0;
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await tryStatement(pool, statement, (error) => {
          doubt = error;
        });
        if (!(answer instanceof Error)) return batch.anchors(answer);
        if (isLocked(answer) || performance.now() >= collidesUntil) throw answer;
        await sleep(pauseMs(tries) / 10);
      } catch (error) {
        if (doubt === undefined) throw error;
        if (until === 0) until = performance.now() + doubtMs;
        if (performance.now() >= until) throw inDoubt(doubt);
        await sleep(pauseMs(tries));
      }
    }
  }
}

function inDoubt(cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `audit log: the connection broke while rows were stored, and the server did not answer since: they may be in the log or not (${why})`,
    { cause },
  );
}
