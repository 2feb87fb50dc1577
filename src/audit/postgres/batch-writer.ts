import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RowAnchor } from "../audit-row.ts";
import type { Durability } from "../ndjson/ndjson-options.ts";
import { AppendBatch, type AppendCall } from "./append-batch.ts";
import { isLocked, type PgPool, pauseMs, tryStatement } from "./pg-pool.ts";

export interface BatchWriterOptions {
  readonly pool: PgPool;
  /** Quoted. */
  readonly schema: string;
  readonly durability: Durability;
  /** See `PostgresSettings.doubtMs`. */
  readonly doubtMs: number;
  /**
   * For how long a statement that met another transaction is tried again, in ms. Default 30,000: as long
   * as an append waits for the lock on its thread.
   */
  readonly collisionMs?: number;
}

const COLLISION_MS = 30_000;

/**
 * What the functions of the schema are told of their transaction: `synchronous_commit`, and how long it
 * waits for a thread's lock.
 *
 * @param waitMs 0: not at all.
 */
export function writeMode(durability: Durability, waitMs: number): string {
  return `${durability === "none" ? "off" : "on"} ${waitMs}`;
}

/**
 * Writes batches, each with one statement, which is one transaction.
 *
 * A statement whose answer was lost is sent again under the same batch id until there is an answer:
 * the database does it once.
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
   * @param waitMs how long the lock of a thread is waited for where none of the threads can be had. 0: not
   *   at all.
   * @returns what each call is told; `undefined` where its thread was left out, see {@link AppendBatch}.
   * @throws (rejects) with the error of PostgreSQL or of the connection when nothing was written, 55P03
   *   where it met a lock on more than a thread; with an Error that says so when that could not be found
   *   out.
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
