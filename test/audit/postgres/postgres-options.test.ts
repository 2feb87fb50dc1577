import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { PARTS } from "../../../src/audit/postgres/check-schema.ts";
import {
  isPostgresUrl,
  postgresSettings,
  quotedSchema,
} from "../../../src/audit/postgres/postgres-options.ts";
import { PostgresSessionLog } from "../../../src/audit/postgres/postgres-session-log.ts";
import { readPage, tableRows } from "../../docs/pages.ts";
import { entry, key } from "../support/entries.ts";
import { coded, FakePool } from "./support/fake-pool.ts";

const connection = "postgres://audit@db.example/agents";

describe("the options", () => {
  it("have their defaults, and take the schema from the URL", () => {
    expect(postgresSettings({ connection })).toMatchObject({
      schema: "entelix",
      durability: "batch",
      migrate: true,
      maxPendingBytes: 64 * 1024 * 1024,
      connections: 4,
      doubtMs: 10_000,
    });
    expect(postgresSettings({ connection, doubtMs: 180_000 }).doubtMs).toBe(180_000);
    const there = `${connection}?sslmode=require&schema=audit_2`;
    expect(postgresSettings({ connection: there }).schema).toBe("audit_2");
    expect(postgresSettings({ connection: there, schema: "mine" }).schema).toBe("mine");
  });

  it("are those of the page, with their defaults", () => {
    const settings = postgresSettings({ connection });
    const [options] = readPage("docs/audit-postgres.md").split("\n\n## ", 1);
    const rows = tableRows(options ?? "");
    expect(rows.map(([name]) => name).toSorted()).toEqual(
      ["connection", ...Object.keys(settings)].toSorted(),
    );
    const defaults = new Map(rows.map(([name, value]) => [name, value]));
    expect(defaults.get("maxPendingBytes")).toBe(`${settings.maxPendingBytes / 1024 ** 2} MiB`);
    expect(defaults.get("doubtMs")).toBe(`${settings.doubtMs.toLocaleString("en")} ms`);
    expect(defaults.get("durability")).toBe(settings.durability);
    expect(defaults.get("connections")).toBe(String(settings.connections));
  });

  it.each([
    [{ connection, schema: 'x"; drop table rows; --' }, "schema: expected a name of 1 to 63"],
    [{ connection: `${connection}?schema=Big` }, "schema: expected"],
    [{ connection, maxPendingBytes: 0 }, "maxPendingBytes: expected a whole number from 1"],
    [{ connection, connections: 0 }, "connections: expected"],
    [{ connection, doubtMs: -1 }, "doubtMs: expected"],
    [{ connection, doubtMs: 180_001 }, "doubtMs: expected at most 180000, got 180001"],
    [{ connection: "mysql://x" }, "connection: expected a URL that begins with postgres://"],
  ])("that do not fit are named: %j", async (options, message) => {
    await expect(PostgresSessionLog.open(options)).rejects.toThrow(message);
  });

  it("want one place, and a known durability", async () => {
    const open = (options: unknown) =>
      Reflect.apply(PostgresSessionLog.open, PostgresSessionLog, [options]);
    await expect(open({})).rejects.toThrow("expected a connection (postgres://…) or a pool");
    await expect(open({ connection, pool: new FakePool() })).rejects.toThrow("and not both");
    await expect(open({ connection, durability: "maybe" })).rejects.toThrow("durability: expected");
  });

  it("tell a URL from a directory", () => {
    expect(["postgres://x/y", "postgresql://x/y"].map(isPostgresUrl)).toEqual([true, true]);
    expect(["./postgres", "postgres:x", "/a/postgres://b"].map(isPostgresUrl)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it("quote a schema's name only where it needs none of quoting's rules", () => {
    expect(quotedSchema("entelix_2")).toBe('"entelix_2"');
    for (const name of ["", "2x", "pg_x", "a-b", "Ä", "x".repeat(64), "a b", 'a"b']) {
      expect(() => quotedSchema(name)).toThrow(RangeError);
    }
  });
});

const THERE = [...PARTS, "table migrations", "column version"].map((part) => ({ part }));

/** The answers of a database that has the schema in this version. */
const READY = [() => ({ rows: THERE }), () => ({ rows: [{ version: "2" }] })];

describe("a log on a pool that was given", () => {
  it("refuses an append while too much waits, and takes the next when that is stored", async () => {
    const stored: (() => void)[] = [];
    const pool = new FakePool(...READY, async () => {
      await new Promise<void>((done) => stored.push(done));
      const rows = [-1, 1].map((place) => ({ place, ordinal: place < 0 ? "0" : "1", hash: "ab" }));
      return { rows };
    });
    const log = await PostgresSessionLog.open({ pool, maxPendingBytes: 3000 });
    const first = log.append(key, [entry("x".repeat(3000))]);
    await expect(log.append(key, [entry("y")])).rejects.toThrow(
      /^audit log: \d+ bytes wait to be stored, maxPendingBytes is 3000$/,
    );
    await expect.poll(() => stored.length).toBe(1);
    stored[0]?.();
    expect(await first).toEqual({ ordinal: 1, hash: "ab" });
    expect(log.pendingBytes).toBe(0);
    const next = log.append(key, [entry("y")]);
    await expect.poll(() => stored.length).toBe(2);
    stored[1]?.();
    expect(await next).toEqual({ ordinal: 1, hash: "ab" });
    const last = log.append(key, [entry("z")]);
    const closed = log.close();
    await expect(log.append(key, [])).rejects.toThrow("audit log: it is closed");
    await expect.poll(() => stored.length).toBe(3);
    stored[2]?.();
    await Promise.all([last, closed]);
  });

  it("opens nothing of a newer version", async () => {
    const pool = new FakePool(
      () => ({ rows: THERE }),
      () => ({ rows: [{ version: "9" }] }),
    );
    await expect(PostgresSessionLog.open({ pool })).rejects.toThrow(
      'audit log: schema "entelix" is at version 9, this entelix-otel knows 2: install a newer one',
    );
    expect(pool.statements).toHaveLength(2);
  });

  it("archives with one statement, so that a process that stops holds no lock", async () => {
    const pool = new FakePool(
      ...READY,
      () => coded("55P03", "lock timeout"),
      () => ({ rows: [{ archived: "3" }] }),
    );
    const log = await PostgresSessionLog.open({ pool, durability: "none" });
    expect(await log.archiveBefore(key, 3)).toBe(3);
    const sent = pool.statements.slice(2);
    expect(sent.map(({ text }) => text)).toEqual(
      Array(2).fill(`select "entelix".archive_rows($1, $2::bigint, $3)::text as archived`),
    );
    expect(sent.map(({ values }) => values?.slice(1))).toEqual(Array(2).fill([3, "off 250"]));
    expect(pool.released).toEqual([false, false, false]);
  });

  it("archives one thread at a time, and fails for the one that stays locked", async () => {
    const pool = new FakePool(...READY, () => coded("55P03", "lock timeout"));
    const log = await PostgresSessionLog.open({ pool, lockMs: 0 });
    await expect(log.archiveBefore(key, 3)).rejects.toThrow(
      `tenant ${key.tenant_id}, thread ${key.thread_id}: for 0 ms another transaction has held its lock`,
    );
  });

  it("opens nothing of which a part is missing", async () => {
    const without = (...parts: string[]) =>
      new FakePool(
        () => ({ rows: THERE.filter(({ part }) => !parts.includes(part)) }),
        () => ({ rows: [{ version: "2" }] }),
      );
    const opened = (...parts: string[]) => PostgresSessionLog.open({ pool: without(...parts) });
    await expect(opened("trigger check_added on rows")).rejects.toThrow(
      'audit log: schema "entelix" is not complete: missing or switched off: trigger check_added on rows. Enable the trigger, or restore the schema from a backup; then verify the log',
    );
    const [a = "", b = "", c = "", d = "", e = ""] = PARTS;
    await expect(opened(a, b, c, d, e)).rejects.toThrow(`: ${a}, ${b}, ${c} and 2 more.`);
    await expect(opened("table migrations")).rejects.toThrow(
      'schema "entelix" has the tables of a log ("rows", "threads", "batches"), but its table "migrations" does not say which version',
    );
    await expect(opened("table migrations", "table threads")).rejects.toThrow(
      'has no log, but tables of the same names ("rows", "batches"): choose another schema',
    );
  });
});

describe("where the package pg is absent", () => {
  it("says what to install", async () => {
    const folder = await mkdtemp(join(tmpdir(), "no-pg-"));
    try {
      const built = await rolldown({
        input: join(import.meta.dirname, "support", "open-log.ts"),
        platform: "node",
        logLevel: "silent",
        plugins: [
          {
            name: "absent-pg",
            // Another name: a folder above may hold the package.
            resolveId: (source) =>
              source === "pg" ? { id: "pg-that-is-not-installed", external: true } : undefined,
          },
        ],
      });
      await built.write({ file: join(folder, "open-log.mjs"), format: "esm" });
      await built.close();
      const { stdout } = await promisify(execFile)(process.execPath, [
        join(folder, "open-log.mjs"),
      ]);
      expect(stdout).toBe(
        'the audit log in PostgreSQL needs the package "pg" (version 8.13 or newer): npm install pg\n',
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
