import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditRow } from "../../src/entries/audit.ts";
import {
  PostgresSessionLog,
  readPostgresRows,
  verifyPostgresLog,
} from "../../src/entries/postgres.ts";
import { migrated } from "../audit/postgres/support/statements.ts";
import { entries, entry, key } from "../audit/support/entries.ts";
import { command } from "../cli/support/command.ts";
import { codeBlocks, readPage, section } from "../docs/pages.ts";
import { withConnection } from "./support/postgres.ts";
import { PostgresLogs } from "./support/postgres-logs.ts";

let logs: PostgresLogs;

beforeAll(async () => {
  logs = await PostgresLogs.start();
});

afterAll(() => logs?.stop());

describe("erasing", () => {
  async function shown(url: string): Promise<AuditRow[]> {
    const rows: AuditRow[] = [];
    for await (const row of readPostgresRows({ connection: url })) rows.push(row);
    return rows;
  }

  it("a tenant's payloads leaves every chain valid, and nothing of them", async () => {
    const { log, schema, url } = await logs.filled();
    await log.append(key, [
      { event: { kind: "odd", secret: "one-secret \u0000", list: [1] }, event_id: "e1" },
    ]);
    await log.archiveBefore(key, 2);
    const before = await shown(url);
    expect(await log.erasePayloads("acme")).toBe(11);
    const after = await shown(url);
    expect(after.map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
    expect(after.filter(({ tenant_id }) => tenant_id === "acme").map(({ event }) => event)).toEqual(
      [
        ...Array(5).fill({ erased: true, kind: "tool_call", timestamp: "2026-04-29T12:00:00Z" }),
        { erased: true, kind: "odd", timestamp: "" },
        ...Array(5).fill({ erased: true, kind: "tool_call", timestamp: "2026-04-29T12:00:00Z" }),
      ],
    );
    const texts = await logs.server.sql(
      `select event from ${schema}.rows order by thread, ordinal`,
    );
    const kept = texts.map(({ event }) => String(event)).filter((text) => /one-|two-/.test(text));
    expect(kept).toEqual([]);
    expect(
      texts.map(({ event }) => String(event)).filter((text) => /other-/.test(text)),
    ).toHaveLength(2);
    expect(await log.loadSince(key, 0)).toHaveLength(4);
    const verified = await command(["audit", "verify", url]);
    expect(verified.code).toBe(0);
    expect(verified.stdout).toContain("11 payloads erased");
    // A redelivered event stays what it is: known, and erased.
    expect(await log.append(key, [{ ...entry("again"), event_id: "e1" }])).toMatchObject({
      ordinal: 6,
    });
    expect((await log.append(key, entries(1))).ordinal).toBe(7);
    expect(await log.erasePayloads("acme")).toBe(1);
    expect(await log.erasePayloads("nobody")).toBe(0);
  });

  it("one thread's payloads leaves the others", async () => {
    const { log, url } = await logs.filled();
    expect(await log.erasePayloads("acme", "t2")).toBe(5);
    expect(await log.erasePayloads("acme", "t3")).toBe(0);
    expect(await verifyPostgresLog({ connection: url })).toMatchObject({ ok: true, erasedRows: 5 });
    await expect(log.erasePayloads("")).rejects.toThrow("tenant_id: expected a string of 1");
  });

  it("takes an event that reads like an erased one for what it is", async () => {
    const { log, url } = await logs.filled();
    const forged = { ...key, thread_id: "forged" };
    const kind = `kind-${"x".repeat(60)}secret`;
    await log.append(forged, [
      { event: { erased: true, kind, timestamp: "secret" }, event_id: "e1" },
      { event: { erased: true, kind: "short", timestamp: "2026-04-29T12:00:00Z" } },
    ]);
    expect(await log.erasePayloads("acme", "forged")).toBe(1);
    expect(await log.erasePayloads("acme", "forged")).toBe(0);
    const events = (await shown(url)).filter(({ thread_id }) => thread_id === "forged");
    expect(events.map(({ event }) => event)).toEqual([
      { erased: true, kind: kind.slice(0, 64), timestamp: "" },
      { erased: true, kind: "short", timestamp: "2026-04-29T12:00:00Z" },
    ]);
    expect(await verifyPostgresLog({ connection: url })).toMatchObject({ ok: true, erasedRows: 1 });
  });

  it("goes past pages of rows, and past what was edited by hand", async () => {
    const { log, schema } = await logs.filled();
    const long = { ...key, thread_id: "long" };
    for (let n = 0; n < 5; n += 1) await log.append(long, entries(500, `long-${n}-`));
    await logs.byHand(
      schema,
      "update rows set event = 'no event: long-secret' where ordinal = 1234",
    );
    expect(await log.erasePayloads("acme", "long")).toBe(2500);
    const left = await logs.server.sql(
      `select ordinal from ${schema}.rows where event like '%long-%'`,
    );
    expect(left).toEqual([]);
  });
});

describe("the schema", () => {
  it("is made once by any number that open at a time", async () => {
    const schema = logs.freshSchema();
    const opened = await Promise.all(
      Array.from({ length: 6 }, () => logs.open({ schema, connections: 1 })),
    );
    const told = await Promise.all(opened.map((log) => log.append(key, entries(1))));
    expect(told.map(({ ordinal }) => ordinal).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await logs.server.sql(`select version from ${schema}.migrations`)).toEqual([
      { version: 1 },
      { version: 2 },
    ]);
  });

  it("of a newer version is refused, and an absent one where it may not be made", async () => {
    const { schema } = await logs.filled();
    const connection = logs.server.url();
    await expect(
      PostgresSessionLog.open({ connection, schema: "absent", migrate: false }),
    ).rejects.toThrow('audit log: there is none in the schema "absent"');
    await logs.asOwner(schema, "insert into migrations (version) values (3)");
    const refused = `audit log: schema "${schema}" is at version 3, this entelix-otel knows 2`;
    await expect(PostgresSessionLog.open({ connection, schema })).rejects.toThrow(refused);
    await expect(verifyPostgresLog({ connection, schema })).rejects.toThrow(refused);
  });

  it("is made whole or not at all", async () => {
    const schema = logs.freshSchema();
    const migrate = (allowed: boolean) => migrated(logs.server.url(), schema, allowed);
    await logs.asOwner("public", `create schema ${schema}`, `create table ${schema}.rows (x int)`);
    await expect(migrate(true)).rejects.toThrow(
      `schema "${schema}" has no log, but tables of the same names ("rows"): choose another schema`,
    );
    await logs.asOwner("public", `create sequence ${schema}.audit`);
    await logs.asOwner("public", `drop table ${schema}.rows`);
    await expect(migrate(true)).rejects.toThrow('relation "audit" already exists');
    const tables = await logs.server.sql("select tablename from pg_tables where schemaname = $1", [
      schema,
    ]);
    expect(tables).toEqual([]);
    await logs.asOwner("public", `drop sequence ${schema}.audit`);
    expect(await migrate(true)).toEqual({ from: 0, to: 2 });
    expect(await migrate(false)).toEqual({ from: 2, to: 2 });
  });

  it.each([
    ["delete from migrations", 'its table "migrations" does not say which version'],
    ["drop table migrations", 'its table "migrations" does not say which version'],
    ["drop trigger check_added on rows", "switched off: trigger check_added on rows."],
    ["alter table rows disable trigger check_changed", "off: trigger check_changed on rows."],
    ["drop function append_rows", "switched off: function append_rows."],
    ["drop table batches", "switched off: table batches."],
    ["drop index rows_event", "switched off: index rows_event."],
  ])("is named where something of it is missing: %s", async (statement, message) => {
    const { schema, url } = await logs.filled();
    await logs.asOwner(schema, statement);
    await expect(PostgresSessionLog.open({ connection: url })).rejects.toThrow(message);
    await expect(PostgresSessionLog.open({ connection: url, migrate: false })).rejects.toThrow(
      message,
    );
    if (statement.includes("migrations")) return;
    // What is there can still be read and verified.
    expect(await verifyPostgresLog({ connection: url })).toMatchObject({ ok: true, rows: 12 });
  });

  it("goes from version 1 to 2 with what was granted", async () => {
    const { log, schema, url } = await logs.filled();
    await logs.asOwner(
      schema,
      "delete from migrations where version = 2",
      "create role writer_of_1 nologin",
      "grant execute on function append_rows, archive_rows to writer_of_1",
    );
    await expect(PostgresSessionLog.open({ connection: url, migrate: false })).rejects.toThrow(
      `schema "${schema}" is at version 1, expected 2`,
    );
    await logs.open({ schema });
    const granted = await logs.server.sql(
      `select has_function_privilege('writer_of_1', oid, 'execute') as granted from pg_proc
        where pronamespace = '${schema}'::regnamespace and proname in ('append_rows', 'archive_rows')`,
    );
    expect(granted).toEqual([{ granted: true }, { granted: true }]);
    expect((await log.append(key, entries(1))).ordinal).toBe(6);
  });

  it("wants a database of UTF-8", async () => {
    await logs.server.sql("create database latin encoding 'LATIN1' template template0");
    const connection = logs.server.url().replace("/postgres", "/latin");
    await expect(PostgresSessionLog.open({ connection })).rejects.toThrow(
      "audit log: expected a database with the encoding UTF8, got LATIN1",
    );
  });

  it("gives each role of the page what it needs and no more", async () => {
    const page = readPage("docs/audit-postgres.md");
    const [grants] = codeBlocks(section(page, "Roles"));
    await logs.open({});
    await logs.asOwner(
      "public",
      grants?.text ?? "",
      "create role w login in role entelix_writer",
      "create role e login in role entelix_eraser",
      "create role r login in role entelix_reader",
    );
    const writer = await logs.open({}, "w");
    const eraser = await logs.open({ migrate: false }, "e");
    const reader = await logs.open({}, "r");
    expect((await writer.append(key, entries(3))).ordinal).toBe(3);
    expect(await writer.archiveBefore(key, 1)).toBe(1);
    expect(await writer.loadSince(key, 0)).toHaveLength(2);
    await expect(writer.erasePayloads("acme")).rejects.toThrow("permission denied");
    await expect(eraser.append(key, entries(1))).rejects.toThrow("permission denied");
    expect(await eraser.erasePayloads("acme")).toBe(3);
    await expect(reader.append(key, [])).rejects.toThrow("permission denied");
    expect(await verifyPostgresLog({ connection: logs.server.url("r") })).toMatchObject({
      ok: true,
      rows: 3,
      erasedRows: 3,
    });
    for (const role of ["w", "e", "r"]) {
      for (const statement of [
        "insert into entelix.threads default values",
        "update entelix.rows set event = ''",
        "delete from entelix.rows",
        "truncate entelix.rows",
        "select entelix.check_added()",
        "drop table entelix.rows",
        "alter table entelix.rows disable trigger all",
      ]) {
        await expect(
          withConnection(logs.server.url(role), (client) => client.query(statement)),
        ).rejects.toThrow(/permission denied|must be owner/);
      }
    }
    // The page's query for anybody who may read finds nothing wrong.
    const [check] = codeBlocks(section(page, "What holds the chain"));
    const wrong = await withConnection(logs.server.url("r"), (client) =>
      client.query(check?.text ?? ""),
    );
    expect(wrong.rows).toEqual([]);
  });
});
