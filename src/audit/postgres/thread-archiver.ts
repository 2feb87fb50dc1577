import { setTimeout as sleep } from "node:timers/promises";
import type { NamedThread } from "../audit-row.ts";
import type { Durability } from "../ndjson/ndjson-options.ts";
import { threadName } from "./append-batch.ts";
import { writeMode } from "./batch-writer.ts";
import { LOCK_WAIT_MS, lockedTooLong } from "./locked-threads.ts";
import { isLocked, type PgPool, type PgResult, pauseMs, tryStatement } from "./pg-pool.ts";

export interface ThreadArchiverOptions {
  readonly pool: PgPool;
  /** Quoted for SQL. */
  readonly schema: string;
  readonly durability: Durability;
  /** How long a locked thread is retried, in ms. */
  readonly lockMs: number;
}

/**
 * Archives rows of threads. Each call is one statement, which is one transaction, so a process that stops in between
 * holds no lock. One runs at a time, so that locked threads never take all connections.
 */
export class ThreadArchiver {
  readonly #options: ThreadArchiverOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ThreadArchiverOptions) {
    this.#options = options;
  }

  /**
   * @returns how many rows were archived by this call.
   * @throws (rejects) with PostgreSQL's error, or with an Error that names a thread that stays locked.
   */
  async archive(thread: NamedThread, watermark: number): Promise<number> {
    const { lockMs } = this.#options;
    const until = performance.now() + lockMs;
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#inTurn(thread, watermark);
      if (!(answer instanceof Error)) return Number(answer.rows[0]?.archived);
      const locked = isLocked(answer);
      if (performance.now() >= until) {
        throw locked ? lockedTooLong(thread, lockMs, "nothing was archived") : answer;
      }
      await sleep(locked ? pauseMs(tries) : pauseMs(tries) / 10);
    }
  }

  #inTurn(thread: NamedThread, watermark: number): Promise<PgResult | Error> {
    const { durability, pool, schema } = this.#options;
    const statement = {
      text: `select ${schema}.archive_rows($1, $2::bigint, $3)::text as archived`,
      values: [threadName(thread), watermark, writeMode(durability, LOCK_WAIT_MS)],
    };
    const done = this.#last.then(() => tryStatement(pool, statement));
    this.#last = done.catch(() => {});
    return done;
  }
}
