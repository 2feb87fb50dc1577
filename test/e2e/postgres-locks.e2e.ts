import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresSessionLog, verifyPostgresLog } from "../../src/entries/postgres.ts";
import { entry } from "../audit/support/entries.ts";
import { expectWhole } from "../audit/support/session-log-contract.ts";
import { Appender, bundleAppender } from "./support/postgres-appenders.ts";
import { PostgresLogs } from "./support/postgres-logs.ts";
import { until } from "./support/until.ts";

let logs: PostgresLogs;

beforeAll(async () => {
  logs = await PostgresLogs.start();
});

afterAll(() => logs?.stop());

/** A session that holds locks until its transaction ends. */
class Holder {
  readonly #client = new Client({ connectionString: logs.server.url() });

  static async of(...statements: string[]): Promise<Holder> {
    const holder = new Holder();
    holder.#client.on("error", () => {});
    await holder.#client.connect();
    for (const statement of ["begin", ...statements]) await holder.#client.query(statement);
    return holder;
  }

  async release(): Promise<void> {
    await this.#client.query("rollback");
    await this.#client.end();
  }
}

function lockOf(schema: string, ...threads: string[]): string {
  const names = threads.map((name) => `'${name}'`).join(", ");
  return `select from ${schema}.threads where thread_id in (${names}) for update`;
}

function of(thread_id: string, tenant_id = "acme") {
  return { tenant_id, thread_id };
}

function outcome(promise: Promise<{ ordinal: number }>): Promise<number | string> {
  return promise.then(
    ({ ordinal }) => ordinal,
    (error: unknown) => String(error),
  );
}

async function opened(settings: Partial<Parameters<typeof PostgresSessionLog.open>[0]> = {}) {
  const schema = logs.freshSchema();
  const log = await logs.open({ ...settings, schema });
  return { log, schema, place: { connection: logs.server.url(), schema } };
}

describe.each([1, 4])("a thread that is locked, with %i connections", (connections) => {
  it("holds back its own rows only; they go on when it is free", async () => {
    const { log, place, schema } = await opened({ connections });
    await log.append(of("a"), [entry("a0")]);
    const holder = await Holder.of(lockOf(schema, "a"));
    const held = [1, 2, 3].map((n) => outcome(log.append(of("a"), [entry(`a${n}`)])));
    for (let n = 1; n <= 20; n += 1) {
      const others = [of("b"), of("c", "beta"), of(`new-${n}`)].map((key) =>
        outcome(log.append(key, [entry(`${n}`)])),
      );
      expect(await Promise.all(others)).toEqual([n, n, 1]);
    }
    expect(log.lockedThreads).toBe(1);
    // Its head is read without its lock.
    const reader = await logs.open({ schema, connections: 1 });
    expect(await reader.append(of("a"), [])).toMatchObject({ ordinal: 1 });
    await holder.release();
    expect(await Promise.all(held)).toEqual([2, 3, 4]);
    const rows = await log.loadSince(of("a"), 0);
    expectWhole(rows);
    expect(rows.map(({ event }) => "name" in event && event.name)).toEqual([
      "a0",
      "a1",
      "a2",
      "a3",
    ]);
    expect(await verifyPostgresLog(place)).toMatchObject({ ok: true, rows: 64 });
  });

  it("rejects with its name when its time is over, and with nothing written", async () => {
    const { log, place, schema } = await opened({ connections, lockMs: 300 });
    await log.append(of("a"), [entry("a0")]);
    const holder = await Holder.of(lockOf(schema, "a"));
    const held = [entry("a1", { event_id: "e1" }), entry("a2")].map((row) =>
      outcome(log.append(of("a"), [row])),
    );
    const text =
      "Error: audit log: tenant acme, thread a: for 300 ms another transaction has held its lock";
    for (const told of await Promise.all(held)) expect(told).toContain(text);
    await expect(log.archiveBefore(of("a"), 1)).rejects.toThrow(
      /for 300 ms .* nothing was archived/,
    );
    expect(await outcome(log.append(of("b"), [entry("b")]))).toBe(1);
    await holder.release();
    expect(await outcome(log.append(of("a"), [entry("a1", { event_id: "e1" })]))).toBe(2);
    expect(await log.archiveBefore(of("a"), 1)).toBe(1);
    expect(await verifyPostgresLog(place)).toMatchObject({ ok: true, rows: 3 });
  });
});

describe("many locked threads", () => {
  it("take two connections at most, and the others go on", async () => {
    const { log, place, schema } = await opened();
    const stuck = Array.from({ length: 1200 }, (_, n) => `s${n}`);
    await Promise.all(stuck.map((name) => log.append(of(name), [entry(name)])));
    const holder = await Holder.of(`select from ${schema}.threads for update`);
    const held = stuck.map((name) => outcome(log.append(of(name), [entry(name)])));
    let most = 0;
    for (let n = 1; n <= 30; n += 1) {
      expect(await outcome(log.append(of("b"), [entry("b")]))).toBe(n);
      const [row] = await logs.server.sql(
        "select count(*)::int as active from pg_stat_activity where query like $1 and state = 'active' and pid <> pg_backend_pid()",
        [`%"${schema}".append_rows%`],
      );
      most = Math.max(most, Number(row?.active));
    }
    expect(most).toBeLessThanOrEqual(2);
    expect(log.lockedThreads).toBe(1200);
    await holder.release();
    expect(new Set(await Promise.all(held))).toEqual(new Set([2]));
    expect(await verifyPostgresLog(place)).toMatchObject({ ok: true, rows: 2430 });
  });
});

describe("other locks", () => {
  it("a thread that another session is creating holds back its own rows only", async () => {
    const { log, schema } = await opened();
    const other = await logs.open({ schema });
    const holder = await Holder.of(
      `insert into ${schema}.threads (name, tenant_id, thread_id)
        values (sha256(convert_to('["acme","a"]', 'UTF8')), 'acme', 'a')`,
    );
    const held = outcome(log.append(of("a"), [entry("a")]));
    const beside = ["b", "c"].map((name) => outcome(log.append(of(name), [entry(name)])));
    expect(await Promise.all(beside)).toEqual([1, 1]);
    expect(await outcome(other.append(of("d"), [entry("d")]))).toBe(1);
    await holder.release();
    expect(await held).toBe(1);
  });

  it("a lock on a table holds back all, is named when the time is over, and loses nothing", async () => {
    const { log, place, schema } = await opened({ lockMs: 1000 });
    const names = Array.from({ length: 20 }, (_, n) => `t${n}`);
    const all = () =>
      Promise.all(names.map((name) => outcome(log.append(of(name), [entry(name)]))));
    await all();
    const holder = await Holder.of(`lock table ${schema}.rows in access exclusive mode`);
    for (const told of await all()) expect(told).toMatch(/thread t\d+: for 1000 ms/);
    const waiting = all();
    await holder.release();
    expect(new Set(await waiting)).toEqual(new Set([2]));
    expect(await verifyPostgresLog(place)).toMatchObject({ ok: true, rows: 40 });
  });
});

describe("writers beside each other", () => {
  it("of version 1 and 2 keep one chain", async () => {
    const { log, place, schema } = await opened();
    const old = `select place from ${schema}.append_rows(gen_random_uuid(), 'on', array[$1::bytea],
      '{acme}', '{a}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`;
    await log.append(of("a"), [entry("a")]);
    const [head] = await logs.server.sql(`select name from ${schema}.threads`);
    expect(await logs.server.sql(old, [head?.name])).toEqual([{ place: -1 }]);
    expect(await verifyPostgresLog(place)).toMatchObject({ ok: true, rows: 1 });
  });

  it("of one set of threads all go on", async () => {
    const { log, place, schema } = await opened();
    const all = [log, await logs.open({ schema }), await logs.open({ schema, connections: 1 })];
    const names = ["x", "y", "z"];
    await Promise.all(
      all.map(async (writer, w) => {
        for (let n = 0; n < 40; n += 1) {
          const told = names.map((name) => writer.append(of(name), [entry(`${w} ${n}`)]));
          await Promise.all(told);
        }
      }),
    );
    expect(await verifyPostgresLog(place)).toMatchObject({ ok: true, rows: 360 });
    for (const name of names) expectWhole(await log.loadSince(of(name), 0));
  });
});

describe("a process that is stopped", () => {
  it("while it appends and archives holds back nobody", async () => {
    const program = await bundleAppender(logs.server.folder);
    const { log, place, schema } = await opened({ lockMs: 60_000 });
    const options = { program, url: logs.server.url(), schema, rows: 100_000, thread: "a" };
    const appender = new Appender({ ...options, name: "p", archives: true });
    await appender.open();
    const idle = () =>
      logs.server.sql(
        "select query from pg_stat_activity where state like 'idle in transaction%' and application_name = 'entelix-otel'",
      );
    for (let n = 1; n <= 8; n += 1) {
      const before = appender.stored.size;
      await until("more rows", () => appender.stored.size > before || undefined, { everyMs: 1 });
      for (let look = 0; look < 10; look += 1) expect(await idle()).toEqual([]);
      appender.signal("SIGSTOP");
      await log.append(of("a"), [entry("mine")]);
      expect(await outcome(log.append(of("b"), [entry("b")]))).toBe(n);
      appender.signal("SIGCONT");
    }
    await appender.kill();
    expect(await verifyPostgresLog(place)).toMatchObject({ ok: true });
  });
});
