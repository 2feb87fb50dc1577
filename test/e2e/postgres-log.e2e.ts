import fc from "fast-check";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AuditRow, MemorySessionLog, type ThreadKey } from "../../src/entries/audit.ts";
import {
  PostgresSessionLog,
  readPostgresRows,
  verifyPostgresLog,
} from "../../src/entries/postgres.ts";
import { entry, key } from "../audit/support/entries.ts";
import { expectWhole, sessionLogContract } from "../audit/support/session-log-contract.ts";
import { PostgresServer } from "./support/postgres.ts";
import { Appender, type AppenderOptions, bundleAppender } from "./support/postgres-appenders.ts";
import { AnswerCutter } from "./support/postgres-proxy.ts";
import { until } from "./support/until.ts";

let server: PostgresServer;
let appender: string;
const logs: PostgresSessionLog[] = [];
let schemas = 0;

beforeAll(async () => {
  server = await PostgresServer.start();
  appender = await bundleAppender(server.folder);
});

afterAll(async () => {
  for (const log of logs) await log.close();
  await server?.stop();
});

type Settings = Omit<Parameters<typeof PostgresSessionLog.open>[0], "connection" | "pool">;

async function open(schema: string, settings: Settings = {}): Promise<PostgresSessionLog> {
  const connection = server.url();
  const log = await PostgresSessionLog.open({ ...settings, connection, schema });
  logs.push(log);
  return log;
}

/** The name of a schema that is not there yet. */
function freshSchema(): string {
  schemas += 1;
  return `log_${schemas}`;
}

function place(schema: string) {
  return { connection: `${server.url()}?schema=${schema}` };
}

/** What a store answers, as far as stores must agree. */
function textsOf(rows: readonly AuditRow[]): string[] {
  return rows.map(({ event_text, hash, ordinal, prev }) =>
    [ordinal, prev, hash, event_text].join(" "),
  );
}

describe.each(["none", "batch", "each"] as const)("durability %s", (durability) => {
  sessionLogContract(() => open(freshSchema(), { durability }), "all");
});

const thread = fc.record({
  tenant_id: fc.constantFrom("a", "ab"),
  thread_id: fc.constantFrom("t", "bt", "u\u0000", "ü"),
});

const step = fc.oneof(
  fc.record({
    type: fc.constant("append" as const),
    appender: fc.nat(2),
    thread,
    texts: fc.array(fc.string({ unit: "binary", maxLength: 300 }), { maxLength: 4 }),
    ids: fc.array(fc.option(fc.nat(30), { nil: undefined }), { minLength: 4, maxLength: 4 }),
  }),
  fc.record({ type: fc.constant("archive" as const), thread, watermark: fc.nat(12) }),
  fc.record({ type: fc.constant("load" as const), thread, cursor: fc.nat(6) }),
  fc.record({ type: fc.constant("settle" as const) }),
);

function added(texts: readonly string[], ids: readonly (number | undefined)[]) {
  return texts.map((text, n) => {
    const id = ids[n];
    return entry(text, id === undefined ? {} : { event_id: `e${id}` });
  });
}

describe("beside the log in memory", () => {
  it("answers the same to any schedule of calls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const log = await open(freshSchema());
        const model = new MemorySessionLog();
        let waiting: Promise<void>[] = [];
        const settle = async () => {
          await Promise.all(waiting);
          waiting = [];
        };
        const same = async (mine: Promise<unknown>, its: Promise<unknown>) => {
          expect(await mine).toEqual(await its);
        };
        for (const each of steps) {
          if (each.type === "append") {
            const rows = added(each.texts, each.ids);
            waiting.push(same(log.append(each.thread, rows), model.append(each.thread, rows)));
            continue;
          }
          await settle();
          if (each.type === "archive") {
            const { thread: of, watermark } = each;
            await same(log.archiveBefore(of, watermark), model.archiveBefore(of, watermark));
          } else if (each.type === "load") {
            const mine = await log.loadSince(each.thread, each.cursor);
            const its = await model.loadSince(each.thread, each.cursor);
            expect(textsOf(mine)).toEqual(textsOf(its));
          }
        }
        await settle();
        await log.close();
      }),
      { numRuns: 25 },
    );
  });

  it("makes the rows that memory makes of the same entries, however many append at once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
        const schema = freshSchema();
        const appenders = [await open(schema), await open(schema), await open(schema)];
        const calls: Promise<{ key: ThreadKey; ordinal: number }>[] = [];
        for (const each of steps) {
          if (each.type === "settle") await Promise.allSettled(calls);
          if (each.type !== "append") continue;
          const log = appenders[each.appender];
          if (log === undefined) throw new Error("no such appender");
          const { thread: to } = each;
          calls.push(
            log
              .append(to, added(each.texts, each.ids))
              .then(({ ordinal }) => ({ key: to, ordinal })),
          );
        }
        const answers = await Promise.all(calls);
        const model = new MemorySessionLog();
        const [log] = appenders;
        for (const name of new Map(answers.map((each) => [JSON.stringify(each.key), each.key]))) {
          const rows = (await log?.loadSince(name[1], 0)) ?? [];
          for (const { event, event_id, run_id } of rows) {
            if ("erased" in event) throw new Error("nothing was erased");
            await model.append(name[1], [{ event, event_id, run_id }]);
          }
          expect(textsOf(rows)).toEqual(textsOf(await model.loadSince(name[1], 0)));
          const ids = rows.flatMap(({ event_id }) => event_id ?? []);
          expect(new Set(ids).size).toBe(ids.length);
          const highest = Math.max(0, ...rows.map(({ ordinal }) => ordinal));
          const told = answers.filter((each) => JSON.stringify(each.key) === name[0]);
          expect(Math.max(...told.map(({ ordinal }) => ordinal))).toBe(highest);
        }
        expect(await verifyPostgresLog(place(schema))).toMatchObject({ ok: true });
        for (const each of appenders) await each.close();
      }),
      { numRuns: 10 },
    );
  });
});

describe("concurrent appenders", () => {
  /** So many processes on one thread. @returns what each was told, once all are done. */
  async function appenders(
    count: number,
    options: Omit<AppenderOptions, "name" | "program" | "url" | "thread">,
  ): Promise<Appender[]> {
    const all = Array.from(
      { length: count },
      (_, n) =>
        new Appender({
          ...options,
          name: `p${n}`,
          program: appender,
          url: server.url(),
          thread: "t1",
        }),
    );
    for (const each of all) await each.open();
    return all;
  }

  it("of eight processes make one chain: no fork, no gap, each row once", async () => {
    const schema = freshSchema();
    const log = await open(schema);
    const all = await appenders(8, { schema, rows: 150 });
    for (const each of all) await each.ended();
    const rows = await log.loadSince(key, 0);
    expect(rows).toHaveLength(1200);
    expectWhole(rows);
    const byEvent = new Map(rows.map((row) => [row.event_id, row]));
    expect(byEvent.size).toBe(1200);
    for (const [event, { hash, ordinal }] of all.flatMap(({ stored }) => [...stored])) {
      expect(byEvent.get(event)).toMatchObject({ hash, ordinal });
    }
    // They really came at once: no process had the thread for itself.
    const senders = rows.map(({ event_id }) => event_id?.split("-")[0]);
    expect(senders.filter((sender, n) => sender !== senders[n + 1]).length).toBeGreaterThan(20);
    expect(await verifyPostgresLog(place(schema))).toMatchObject({ ok: true, rows: 1200 });
  });

  it("that bring the same events at once leave one row of each, and are told the same", async () => {
    const schema = freshSchema();
    const [one, other] = [await open(schema), await open(schema)];
    for (let round = 0; round < 30; round += 1) {
      const event_id = `e${round}`;
      const told = await Promise.all(
        [one, other, one].map((log) => log.append(key, [entry("x", { event_id })])),
      );
      expect(told[1]).toEqual(told[0]);
      expect(told[2]).toEqual(told[0]);
      expect(told[0]?.ordinal).toBe(round + 1);
    }
    expect(await one.loadSince(key, 0)).toHaveLength(30);
  });

  it("may be killed at any point: what they were told is there, and others go on", async () => {
    const schema = freshSchema();
    const log = await open(schema);
    const all = await appenders(4, { schema, rows: 400 });
    const [victim, ...others] = all;
    await until("some rows", () => (victim?.stored.size ?? 0) > 20 || undefined, { everyMs: 5 });
    await victim?.kill();
    for (const each of others) await each.ended();
    const rows = await log.loadSince(key, 0);
    expectWhole(rows);
    const byEvent = new Map(rows.map((row) => [row.event_id, row]));
    expect(byEvent.size).toBe(rows.length);
    for (const [event, anchor] of all.flatMap(({ stored }) => [...stored])) {
      expect(byEvent.get(event)).toMatchObject(anchor);
    }
    expect(others.map(({ stored }) => stored.size)).toEqual([400, 400, 400]);
    expect(rows.length).toBeLessThan(1600);
    expect((await log.append(key, [entry("after")])).ordinal).toBe(rows.length + 1);
    expect(await verifyPostgresLog(place(schema))).toMatchObject({ ok: true });
  });

  it("lose nothing and double nothing when the server is killed and started again", async () => {
    const schema = freshSchema();
    const log = await open(schema);
    const all = await appenders(3, { schema, rows: 300 });
    for (let kills = 1; kills <= 2; kills += 1) {
      const reached = kills * 200;
      const stored = () => all.reduce((sum, each) => sum + each.stored.size, 0);
      await until("some rows", () => stored() > reached || undefined, { everyMs: 5 });
      await server.kill();
      await server.restart();
    }
    for (const each of all) await each.ended();
    const rows = await log.loadSince(key, 0);
    expectWhole(rows);
    expect(rows).toHaveLength(900);
    const byEvent = new Map(rows.map((row) => [row.event_id, row]));
    for (const [event, anchor] of all.flatMap(({ stored }) => [...stored])) {
      expect(byEvent.get(event)).toMatchObject(anchor);
    }
    expect(await verifyPostgresLog(place(schema))).toMatchObject({ ok: true, rows: 900 });
  });
});

describe("a pool that was given", () => {
  it("is used, and left open", async () => {
    const pool = new Pool({ connectionString: server.url(), max: 2 });
    const schema = freshSchema();
    const log = await PostgresSessionLog.open({ pool, schema });
    expect((await log.append(key, [entry("a")])).ordinal).toBe(1);
    await log.close();
    await expect(log.append(key, [entry("b")])).rejects.toThrow("audit log: it is closed");
    const { rows } = await pool.query(`select ordinal::int from ${schema}.rows`);
    expect(rows).toEqual([{ ordinal: 1 }]);
    await pool.end();
  });

  it("may have any isolation of transactions", async () => {
    const schema = freshSchema();
    await (await open(schema)).probe();
    const options = "-c default_transaction_isolation=serializable";
    const pools = Array.from(
      { length: 4 },
      () => new Pool({ connectionString: server.url(), max: 1, options }),
    );
    const all = await Promise.all(pools.map((pool) => PostgresSessionLog.open({ pool, schema })));
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(all.map((log, n) => log.append(key, [entry(`${round}-${n}`)])));
    }
    const rows = (await all[0]?.loadSince(key, 0)) ?? [];
    expectWhole(rows);
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(40);
    for (const pool of pools) await pool.end();
  });

  it("refuses nobody under such an isolation: not to open, to append nor to archive", async () => {
    const schema = freshSchema();
    const options = "-c default_transaction_isolation=repeatable\\ read";
    const pools = Array.from(
      { length: 8 },
      () => new Pool({ connectionString: server.url(), max: 1, options }),
    );
    const all = await Promise.all(pools.map((pool) => PostgresSessionLog.open({ pool, schema })));
    // Each goes on by itself, so that some meet the others far more often than a few times in a row.
    let archived = 0;
    const write = async (log: PostgresSessionLog, n: number) => {
      for (let row = 0; row < 40; row += 1) {
        const { ordinal } = await log.append(key, [entry(`${n}-${row}`)]);
        const by = row % 10 === 9 ? await log.archiveBefore(key, ordinal) : 0;
        archived += by;
      }
    };
    await Promise.all(all.map(write));
    const rows = [];
    for await (const row of readPostgresRows(place(schema))) rows.push(row);
    expectWhole(rows);
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(320);
    expect(await all[0]?.loadSince(key, 0)).toHaveLength(320 - archived);
    for (const pool of pools) await pool.end();
  });
});

describe("a connection that breaks", () => {
  /** A log behind a proxy that can lose answers. */
  async function behindProxy(doubtMs: number) {
    const schema = freshSchema();
    const direct = await open(schema);
    const cutter = await AnswerCutter.before(server.port);
    const url = server.url().replace(String(server.port), String(cutter.port));
    const log = await PostgresSessionLog.open({ connection: url, schema, doubtMs });
    logs.push(log);
    return { cutter, direct, log };
  }

  it("after the commit costs nothing and doubles nothing, also without event ids", async () => {
    const { cutter, direct, log } = await behindProxy(10_000);
    await log.append(key, [entry("first")]);
    cutter.cutNext(2);
    const told = await Promise.all([
      log.append(key, [entry("a"), entry("a"), entry("b", { event_id: "b" })]),
      log.append({ ...key, thread_id: "t2" }, [entry("c")]),
      log.append(key, []),
    ]);
    expect(cutter.cut).toBe(2);
    expect(told.map(({ ordinal }) => ordinal)).toEqual([4, 1, 4]);
    const rows = await direct.loadSince(key, 0);
    expectWhole(rows);
    expect(rows.map(({ event }) => "name" in event && event.name)).toEqual([
      "first",
      "a",
      "a",
      "b",
    ]);
    expect(await direct.loadSince({ ...key, thread_id: "t2" }, 0)).toHaveLength(1);
    await log.close();
    await cutter.close();
  });

  it("for good is reported as what it is, and event ids make it harmless", async () => {
    const { cutter, direct, log } = await behindProxy(300);
    cutter.cutNext(1000);
    await expect(log.append(key, [entry("a", { event_id: "a" })])).rejects.toThrow(
      "they may be in the log or not",
    );
    cutter.cutNext(0);
    expect((await log.append(key, [entry("a", { event_id: "a" })])).ordinal).toBe(1);
    expect(await direct.loadSince(key, 0)).toHaveLength(1);
    await log.close();
    await cutter.close();
  });

  it("while the server is away rejects, probes too, and the next append works when it is back", async () => {
    const log = await open(freshSchema(), { doubtMs: 0 });
    await log.append(key, [entry("before")]);
    await server.kill();
    await expect(log.append(key, [entry("a", { event_id: "a" })])).rejects.toThrow();
    await expect(log.append(key, [entry("a", { event_id: "a" })])).rejects.toThrow("ECONNREFUSED");
    await expect(log.append(key, [])).rejects.toThrow("ECONNREFUSED");
    await expect(log.probe()).rejects.toThrow("ECONNREFUSED");
    await expect(log.loadSince(key, 0)).rejects.toThrow("ECONNREFUSED");
    expect(log.pendingBytes).toBe(0);
    await server.restart();
    await log.probe();
    expect((await log.append(key, [entry("a", { event_id: "a" })])).ordinal).toBe(2);
    const rows = await log.loadSince(key, 0);
    expectWhole(rows);
    expect(rows).toHaveLength(2);
  });
});
