import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { PostgresServer } from "../../e2e/support/postgres.ts";
import type { Random } from "../../support/random.ts";

/** A session of somebody else, which holds locks until its transaction ends. */
export class LockHolder {
  readonly #client: Client;

  static async on(server: PostgresServer): Promise<LockHolder> {
    const client = new Client({ connectionString: server.url() });
    client.on("error", () => {});
    await client.connect();
    return new LockHolder(client);
  }

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Locks threads by their rows, or by creating them where they are not there. */
  async lock(schema: string, threads: readonly string[]): Promise<void> {
    await this.#client.query("begin");
    for (const thread of threads.toSorted()) {
      await this.#client.query(
        `insert into ${schema}.threads (name, tenant_id, thread_id)
          select sha256(convert_to('["acme","' || $1 || '"]', 'UTF8')), 'acme', $1
          on conflict (name) do nothing`,
        [thread],
      );
    }
    const lock = `select from ${schema}.threads where thread_id = any ($1) order by thread for update`;
    await this.#client.query(lock, [threads]);
  }

  async lockTable(table: string): Promise<void> {
    await this.#client.query(`begin; lock table ${table} in access exclusive mode`);
  }

  async release(): Promise<void> {
    await this.#client.query("rollback");
  }

  async end(): Promise<void> {
    await this.#client.end();
  }
}

export interface Disturbance {
  readonly server: PostgresServer;
  readonly schema: string;
  readonly threads: readonly string[];
  readonly random: Random;
}

/** Locks threads and tables for a while, breaks connections and cancels statements, until it is stopped. */
export async function disturb(
  { random, schema, server, threads }: Disturbance,
  stopped: () => boolean,
): Promise<void> {
  const holder = await LockHolder.on(server);
  const writers = `from pg_stat_activity where application_name = 'entelix-otel' and query like '%${schema}%'`;
  try {
    while (!stopped()) {
      const what = random.below(10);
      if (what < 6) {
        await holder.lock(schema, [random.of(threads), random.of(threads)]);
        await sleep(random.below(400));
        await holder.release();
      } else if (what < 8) {
        await holder.lockTable(`${schema}.${random.of(["rows", "threads", "batches"])}`);
        await sleep(random.below(400));
        await holder.release();
      } else {
        const strike = what === 8 ? "pg_terminate_backend" : "pg_cancel_backend";
        await server.sql(`select ${strike}(pid) ${writers} and random() < 0.5`);
        await sleep(random.below(100));
      }
    }
  } finally {
    await holder.end();
  }
}
