import { setTimeout as sleep } from "node:timers/promises";
import {
  PostgresSessionLog,
  readPostgresRows,
  verifyPostgresLog,
} from "../../../src/entries/postgres.ts";
import { entry } from "../../audit/support/entries.ts";
import { installedPostgres, PostgresServer } from "../../e2e/support/postgres.ts";
import type { Random } from "../../support/random.ts";
import type { Family } from "../family.ts";
import { disturb, LockHolder } from "../support/lock-holder.ts";
import type { Trial } from "../trial.ts";

/** Threads of a trial. */
const THREADS = ["a", "b", "c", "d", "e", "f"];
/** Rows that each writer adds to each thread. */
const ROWS = 12;
/** Two rows are sent at a time, so that their order can be seen. */
const AT_ONCE = 2;
/** How long rows wait where a lock is held for longer, in ms. */
const TOO_LONG_MS = 3000;

/** Locks of others on threads and tables of an audit log in PostgreSQL. */
export const locks: Family = {
  name: "locks",
  about:
    "locks on threads of an audit log in PostgreSQL: other threads go on, each row once and in order",
  async run(trials, size) {
    try {
      await installedPostgres();
    } catch (error) {
      console.error(`locks: not tried, there is no PostgreSQL: ${error}`);
      return;
    }
    const server = await PostgresServer.start({ fsync: "off" });
    try {
      const options = { boundMs: 180_000 };
      const each = (kind: string, count: number, work: (trial: LogTrial) => Promise<void>) =>
        trials.each(
          kind,
          count,
          async (trial) => {
            const log = await LogTrial.begin(trial, server);
            await work(log);
            await log.check();
          },
          options,
        );
      await each("threads locked while others append", size.of(30, 4), lockedBeside);
      await each("threads locked for longer than rows wait", size.of(8, 2), lockedTooLong);
      await each("locks, broken connections, cancelled statements", size.of(15, 2), disturbed);
    } finally {
      await server.stop();
    }
  },
};

/** The writers of one trial, and what they were told. */
class LogTrial {
  readonly trial: Trial;
  readonly server: PostgresServer;
  readonly schema: string;
  readonly writers: PostgresSessionLog[] = [];
  /** Event ids in the order in which each writer sent them to each thread. */
  readonly #sent: string[][] = [];
  readonly #acknowledged = new Map<string, number>();

  static async begin(trial: Trial, server: PostgresServer): Promise<LogTrial> {
    const log = new LogTrial(trial, server);
    await log.open(2 + trial.random.below(2), 30_000);
    return log;
  }

  private constructor(trial: Trial, server: PostgresServer) {
    this.trial = trial;
    this.server = server;
    this.schema = `locks_${trial.number}`;
  }

  get random(): Random {
    return this.trial.random;
  }

  async open(count: number, lockMs: number): Promise<void> {
    const { random, schema, server, trial } = this;
    for (let n = 0; n < count; n += 1) {
      const log = await PostgresSessionLog.open({
        connection: server.url(),
        schema,
        lockMs,
        connections: random.of([1, 2, 4]),
        durability: random.of(["none", "batch", "each"]),
      });
      trial.atEnd(() => log.close());
      this.writers.push(log);
    }
  }

  /** Each writer adds rows to threads; what rejects is sent again, with what was sent behind it. */
  async append(threads: readonly string[], refusal?: RegExp): Promise<void> {
    await Promise.all(
      this.writers.flatMap((log, w) =>
        threads.map((thread) => this.#addAll(log, w, thread, refusal)),
      ),
    );
  }

  async #addAll(
    log: PostgresSessionLog,
    writer: number,
    thread: string,
    refusal: RegExp | undefined,
  ): Promise<void> {
    const ids = Array.from(
      { length: ROWS },
      (_, n) => `${writer}/${this.#sent.length}/${thread}/${n}`,
    );
    this.#sent.push(ids);
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      let left = ids.slice(at, at + AT_ONCE);
      while (left.length > 0) {
        const told = await Promise.allSettled(
          left.map((event_id) =>
            log.append({ tenant_id: "acme", thread_id: thread }, [entry("x", { event_id })]),
          ),
        );
        for (const [n, outcome] of told.entries()) {
          if (outcome.status === "fulfilled") {
            this.#acknowledged.set(left[n] ?? "", outcome.value.ordinal);
            if (told.slice(0, n).some(({ status }) => status === "rejected")) {
              this.trial.harm(
                "altered",
                "what is sent behind a refused row is refused",
                `${left[n]} is stored`,
              );
            }
            continue;
          }
          this.trial.refuse();
          if (refusal === undefined)
            this.trial.harm("unexpected", `${thread} is stored`, `${outcome.reason}`);
          else this.trial.says(thread, `${outcome.reason}`, refusal);
        }
        left = left.filter((id) => !this.#acknowledged.has(id));
        if (left.length > 0) await sleep(20);
      }
    }
  }

  /** Each row is there once, where it was said to be, and in the order in which it was sent. */
  async check(): Promise<void> {
    const { schema, server, trial } = this;
    const place = { connection: server.url(), schema };
    const { ok, problems } = await verifyPostgresLog(place);
    trial.equal("the log, verified", [ok, problems], [true, []]);
    const found = new Map<string, number[]>();
    for await (const { event_id, ordinal } of readPostgresRows(place)) {
      const id = event_id ?? "";
      found.set(id, [...(found.get(id) ?? []), ordinal]);
    }
    for (const ids of this.#sent) {
      let last = 0;
      for (const id of ids) {
        const [ordinal, ...more] = found.get(id) ?? [];
        trial.accept();
        if (ordinal === undefined) {
          trial.harm("lost", `row ${id}`, "it is not there");
          continue;
        }
        trial.harm("doubled", `one row ${id}`, `${more.length + 1}`, more.length);
        if (ordinal !== this.#acknowledged.get(id) || ordinal <= last) {
          const told = `${this.#acknowledged.get(id)}, behind ${last}`;
          trial.harm("altered", `row ${id} is number ${told}`, `${ordinal}`);
        }
        last = ordinal;
      }
    }
    await server.sql(`drop schema ${schema} cascade`);
  }

  /** Some of the threads, and the others. */
  split(): [some: string[], others: string[]] {
    const some = THREADS.filter(() => this.random.chance(0.5));
    return [some, THREADS.filter((thread) => !some.includes(thread))];
  }

  async holder(): Promise<LockHolder> {
    const holder = await LockHolder.on(this.server);
    this.trial.atEnd(() => holder.end());
    return holder;
  }
}

/** The others store all their rows while the lock is held: that comes to its end only if they do. */
async function lockedBeside(log: LogTrial): Promise<void> {
  if (log.random.chance(0.5)) await log.append(THREADS);
  const [locked, free] = log.split();
  const holder = await log.holder();
  await holder.lock(log.schema, locked);
  const waiting = log.append(locked);
  await log.append(free);
  await holder.release();
  await waiting;
}

async function lockedTooLong(log: LogTrial): Promise<void> {
  const [locked, free] = log.split();
  for (const writer of log.writers.splice(0)) await writer.close();
  await log.open(2, TOO_LONG_MS);
  const holder = await log.holder();
  await holder.lock(log.schema, locked);
  const refusal = /tenant acme, thread [a-f]: for 3000 ms another transaction has held its lock/;
  const waiting = log.append(locked, refusal);
  await log.append(free);
  await sleep(TOO_LONG_MS + log.random.below(1000));
  await holder.release();
  await waiting;
}

async function disturbed(log: LogTrial): Promise<void> {
  let over = false;
  const disturbing = disturb({ ...log, threads: THREADS, random: log.random }, () => over);
  try {
    // A cancelled statement, or a connection that could not be had.
    await log.append(THREADS, /canceling statement|terminat|Connection|connect/);
  } finally {
    over = true;
    await disturbing;
  }
}
