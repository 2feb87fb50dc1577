import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RowAnchor } from "../audit-row.ts";
import type { Durability } from "../ndjson/ndjson-options.ts";
import { AppendBatch, type AppendCall } from "./append-batch.ts";
import { isCollision, isRefusal, type PgPool, type PgResult, withClient } from "./pg-pool.ts";

export interface BatchWriterOptions {
  readonly pool: PgPool;
  /** Quoted. */
  readonly schema: string;
  readonly durability: Durability;
  /** See `PostgresSettings.doubtMs`. */
  readonly doubtMs: number;
  /**
   * For how long a statement that met another transaction is tried again, in ms. Default 30,000: as long
   * as an append waits for the lock on its thread, which it does where transactions are not isolated
   * more than PostgreSQL's default has them.
   */
  readonly collisionMs?: number;
}

const COLLISION_MS = 30_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/** What `synchronous_commit` is for a durability. */
export function synchronousCommit(durability: Durability): "on" | "off" {
  return durability === "none" ? "off" : "on";
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
   * @throws (rejects) with the error of PostgreSQL or of the connection when nothing was written; with an
   *   Error that says so when that could not be found out.
   */
  async write(calls: readonly AppendCall[]): Promise<RowAnchor[]> {
    const { collisionMs = COLLISION_MS, doubtMs, durability } = this.#options;
    const collidesUntil = performance.now() + collisionMs;
    const batch = new AppendBatch(calls);
    const values = [randomUUID(), synchronousCommit(durability), ...batch.parameters()];
    const outcome: { doubt: unknown } = { doubt: undefined };
    let until = 0;
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await this.#send(values, outcome);
        if (!(answer instanceof Error)) return batch.anchors(answer);
        if (performance.now() >= collidesUntil) throw answer;
        await sleep(pauseMs(tries) / 10);
      } catch (error) {
        if (outcome.doubt === undefined) throw error;
        if (until === 0) until = performance.now() + doubtMs;
        if (performance.now() >= until) throw inDoubt(outcome.doubt);
        await sleep(pauseMs(tries));
      }
    }
  }

  /** @returns the answer, or the error of a collision: nothing was done, and the connection is whole. */
  #send(values: unknown[], outcome: { doubt: unknown }): Promise<PgResult | Error> {
    return withClient(this.#options.pool, async (client) => {
      try {
        return await client.query({ text: this.#text, values });
      } catch (error) {
        if (error instanceof Error && isCollision(error)) return error;
        if (!isRefusal(error)) outcome.doubt = error;
        throw error;
      }
    });
  }
}

function pauseMs(tries: number): number {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
  return most * (0.5 + Math.random() / 2);
}

function inDoubt(cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `audit log: the connection broke while rows were stored, and the server did not answer since: they may be in the log or not (${why})`,
    { cause },
  );
}
