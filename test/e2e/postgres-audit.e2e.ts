import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AuditSink } from "../../src/entries/audit.ts";
import { verifyPostgresLog } from "../../src/entries/postgres.ts";
import { pageBehind } from "../audit/postgres/support/statements.ts";
import { entries, entry, key } from "../audit/support/entries.ts";
import { expectWhole } from "../audit/support/session-log-contract.ts";
import { command } from "../cli/support/command.ts";
import { PostgresLogs } from "./support/postgres-logs.ts";

let logs: PostgresLogs;

beforeAll(async () => {
  logs = await PostgresLogs.start();
});

afterAll(() => logs?.stop());

const FIRST = "(select thread from threads where thread_id = 't1' and tenant_id = 'acme')";
const SECOND = "(select thread from threads where thread_id = 't2')";

describe("audit erase of the built command", () => {
  it("leaves kind and time, of the named tenant alone, and the log whole", async () => {
    const { url } = await logs.filled();
    expect(await command(["audit", "erase", url, "--tenant", "acme", "--thread", "t2"])).toEqual(
      expect.objectContaining({ code: 0, stdout: "5 payloads erased\n" }),
    );
    const again = await command(["audit", "erase", url, "--tenant", "acme"]);
    expect(again.stdout).toMatch(/^\d payloads erased\n$/);
    const shown = await command(["audit", "show", url, "--json"]);
    const rows = shown.stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(rows).toHaveLength(12);
    for (const row of rows) {
      const erased = expect.objectContaining({ erased: true, kind: expect.any(String) });
      const isAcmes = expect.objectContaining({ tenant_id: "acme", event: erased });
      const isOthers = expect.objectContaining({
        tenant_id: "other",
        event: expect.not.objectContaining({ erased: true }),
      });
      expect([isAcmes, isOthers]).toContainEqual(row);
    }
    const verified = await command(["audit", "verify", url]);
    expect([verified.code, verified.stdout.startsWith("✓ intact: 12 rows, 3 threads")]).toEqual([
      0,
      true,
    ]);
  });

  it("says what it needs", async () => {
    const noTenant = await command(["audit", "erase", "postgres://127.0.0.1/none"]);
    expect([noTenant.code, noTenant.stderr]).toEqual([
      1,
      expect.stringContaining("--tenant: expected"),
    ]);
    const noDatabase = await command(["audit", "erase", "./audit", "--tenant", "acme"]);
    expect([noDatabase.code, noDatabase.stderr]).toEqual([
      1,
      expect.stringContaining("postgres://"),
    ]);
  });
});

describe("audit verify and audit show of the built command", () => {
  it("find an intact log intact and print its rows", async () => {
    const { url } = await logs.filled();
    const verified = await command(["audit", "verify", url]);
    expect(verified).toMatchObject({ code: 0, stdout: "✓ intact: 12 rows, 3 threads\n" });
    const shown = await command([
      "audit",
      "show",
      url,
      "--tenant",
      "acme",
      "--thread",
      "t2",
      "--json",
    ]);
    expect(shown.code).toBe(0);
    const rows = shown.stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(rows).toHaveLength(5);
    expect(rows[0]).toMatchObject({ tenant_id: "acme", thread_id: "t2", ordinal: 1 });
    const text = await command(["audit", "show", url, "--run", "r1"]);
    expect(text.stdout.match(/^tenant .*, thread .*$/gm)).toEqual([
      "tenant acme, thread t1",
      "tenant acme, thread t2",
      "tenant other, thread t1",
    ]);
    expect((await command(["audit", "show", url, "--run", "r2"])).stderr).toBe("No rows.\n");
  });

  it("finds the rows of a run by its UUID in any letters", async () => {
    const { log, url } = await logs.filled();
    const upper = "018F3C7A-0000-7000-8000-00000000000A";
    await new AuditSink({ log }).recordResumed({ ...key, run_id: upper }, "checkpoint");
    await log.append(key, [entry("an application's own", { run_id: upper })]);
    const runs = [];
    for (const run of [upper, upper.toLowerCase()]) {
      const { stdout } = await command(["audit", "show", url, "--run", run, "--json"]);
      runs.push(stdout.match(/"run_id":"[^"]+"/g));
    }
    const [asSinksWrite, asGiven] = [upper.toLowerCase(), upper].map((id) => `"run_id":"${id}"`);
    expect(runs).toEqual([[asSinksWrite, asGiven], [asSinksWrite]]);
  });

  it.each<[string, string[], RegExp]>([
    [
      "edited event",
      [`update rows set event = replace(event, 'one-3', 'one-X') where thread = ${FIRST}`],
      /^audit_\d+\.rows: edited: the event is not the one .* \(tenant acme, thread t1, row 3\)$/m,
    ],
    [
      "edited event with its digest",
      [
        `update rows set event = replace(event, 'one-3', 'one-X') where thread = ${FIRST}`,
        `update rows set digest = sha256(convert_to(event, 'UTF8')) where thread = ${FIRST}`,
      ],
      /edited: the row's hash is not that of its fields \(tenant acme, thread t1, row 3\)/,
    ],
    [
      "edited run",
      [`update rows set run_id = 'r9' where thread = ${FIRST} and ordinal = 2`],
      /edited: the row's hash .*row 2\)/,
    ],
    [
      "row that was made whole again after the edit",
      [
        `update rows set run_id = 'r9' where thread = ${FIRST} and ordinal = 2`,
        `update rows r set hash = row_hash(r.prev, t.tenant_id, t.thread_id, r.ordinal, r.run_id,
           r.event_id, r.trace_id, r.span_id, r.digest)
           from threads t where t.thread = r.thread and t.thread = ${FIRST}`,
      ],
      /row 2 of the thread is not the one this row was written behind.*row 3\)/,
    ],
    [
      "deleted row",
      [`delete from rows where thread = ${FIRST} and ordinal = 2`],
      /row 2 of the thread is missing before this row/,
    ],
    [
      "deleted last rows",
      [`delete from rows where thread = ${FIRST} and ordinal > 3`],
      /rows 4 to 5, the last of the thread, are missing/,
    ],
    [
      "deleted first row",
      [`delete from rows where thread = ${FIRST} and ordinal = 1`],
      /row 1 of the thread is missing before this row/,
    ],
    [
      "thread without rows",
      [`delete from rows where thread = ${FIRST}`],
      /rows 1 to 5, the last of the thread, are missing \(tenant acme, thread t1\)/,
    ],
    [
      "rows without their thread",
      ["delete from threads where thread_id = 't2'"],
      /the row's thread is missing/,
    ],
    [
      "swapped rows",
      [
        `update rows set ordinal = 90 where thread = ${FIRST} and ordinal = 2`,
        `update rows set ordinal = 2 where thread = ${FIRST} and ordinal = 3`,
        `update rows set ordinal = 3 where thread = ${FIRST} and ordinal = 90`,
      ],
      /edited: the row's hash .*row 2\)[\s\S]*edited: the row's hash .*row 3\)/,
    ],
    [
      "events swapped between threads",
      [
        `create temp table kept on commit preserve rows as
           select * from rows where ordinal = 2 and thread in (${FIRST}, ${SECOND})`,
        `update rows r set event = k.event, digest = k.digest, hash = k.hash, prev = k.prev
           from kept k where r.ordinal = 2 and k.thread <> r.thread and r.thread in (${FIRST}, ${SECOND})`,
      ],
      /edited: the row's hash .*thread t1, row 2\)[\s\S]*edited: the row's hash .*thread t2, row 2\)/,
    ],
    [
      "row that was put behind the last",
      [
        `insert into rows select r.thread, 6, r.hash, row_hash(r.hash, 'acme', 't1', 6, 'r1', null,
           null, null, r.digest), 'r1', null, null, null, null, r.digest, r.event
           from rows r where thread = ${FIRST} and ordinal = 5`,
      ],
      /the thread ends with row 5: this one was inserted .*row 6\)/,
    ],
    [
      "renamed thread",
      ["update threads set thread_id = 't9' where thread_id = 't2'"],
      /edited: the row's hash .*thread t9, row 1\)/,
    ],
    [
      "edited key of an event",
      [`update rows set event_key = gen_random_uuid() where thread = ${FIRST} and ordinal = 4`],
      /edited: the key is not that of its event .*row 4\)/,
    ],
  ])("find what was done by hand, %s: exit code 2", async (_, statements, said) => {
    const { schema, url } = await logs.filled();
    await logs.byHand(
      schema,
      `do $$ declare c text; begin for c in select conname from pg_constraint
         where conrelid = '${schema}.threads'::regclass and contype = 'c'
         loop execute format('alter table threads drop constraint %I', c); end loop; end $$`,
      ...statements,
    );
    const { code, stdout } = await command(["audit", "verify", url]);
    expect(stdout).toMatch(said);
    expect(stdout).toMatch(/\n✗ \d+ problems?: /);
    expect(code).toBe(2);
  });

  it("find a thread that was cut with its head by the spans alone", async () => {
    const { log, schema, url } = await logs.filled();
    const cut = { ...key, thread_id: "cut" };
    const last = await log.append(
      cut,
      entries(5).map((each) => ({ ...each, run_id: "rc" })),
    );
    const thread = "(select thread from threads where thread_id = 'cut')";
    await logs.byHand(
      schema,
      `delete from rows where thread = ${thread} and ordinal > 3`,
      `update threads t set ordinal = 3, hash = r.hash from rows r
         where t.thread = ${thread} and r.thread = t.thread and r.ordinal = 3`,
    );
    expect((await command(["audit", "verify", url])).code).toBe(0);
    const against = [{ tenant_id: "acme", run_id: "rc", ...last }];
    const report = await verifyPostgresLog({ connection: url }, { against });
    expect(report).toMatchObject({ ok: false, matchedSpans: 0, problemCount: 1 });
    expect(report.problems[0]?.problem).toBe(
      "row 5 of run rc is missing: a span names it, the log has no such row",
    );
  });

  it("say what is the matter where they can't read: exit code 1", async () => {
    const none = `${logs.server.url()}?schema=nothing_here`;
    const cases: [string, string][] = [
      [none, 'audit log: there is none in the schema "nothing_here"'],
      [
        `${logs.server.url()}?schema=No-Name`,
        "schema: expected a name of 1 to 63 of a-z, 0-9 and _",
      ],
      [logs.server.url().replace("/postgres", "/gone"), 'database "gone" does not exist'],
      ["postgres://u:secret@127.0.0.1:1/x", "connect ECONNREFUSED 127.0.0.1:1"],
    ];
    for (const [url, message] of cases) {
      for (const name of ["verify", "show"]) {
        const { code, stderr } = await command(["audit", name, url]);
        expect(stderr).toContain(message);
        expect(stderr).not.toContain("secret");
        expect(code).toBe(1);
      }
    }
  });
});

describe("the database itself", () => {
  it.each([
    [
      `update rows set event = replace(event, 'one', 'two') where thread = ${FIRST}`,
      "is never changed",
    ],
    [`update rows set hash = prev where ordinal = 3`, "is never changed"],
    [
      `update rows set run_id = 'r2', event = '{"erased":true,"kind":"k","timestamp":"t"}'`,
      "is never changed",
    ],
    [
      `update rows set event = '{"erased":true,"kind":"k","timestamp":"t","more":1}'`,
      "is never changed",
    ],
    ["delete from rows where ordinal = 5", "rows are never deleted"],
    ["truncate rows", "rows are never deleted"],
    ["delete from threads", "rows are never deleted"],
    ["truncate threads cascade", "rows are never deleted"],
    [
      `update threads set ordinal = 3, hash = (select hash from rows where thread = ${FIRST}
        and ordinal = 3) where thread = ${FIRST}`,
      "can only move to its last row",
    ],
    [`update threads set hash = decode(repeat('11', 32), 'hex')`, "can only move to its last row"],
    ["update threads set archived = 2; update threads set archived = 1", "can only move"],
    ["update threads set thread_id = 't9'", "can only move to its last row"],
    ["insert into threads (name, tenant_id, thread_id) values ('x', 'a', 'b')", "violates check"],
    // The row of another place: neither behind the last row, nor with the hash that it would have there.
    [
      `insert into rows select thread, 7, prev, hash, run_id, event_id, event_key, trace_id, span_id,
        digest, event from rows where thread = ${FIRST} and ordinal = 5`,
      "does not follow",
    ],
    [
      `insert into rows select thread, 6, hash, hash, run_id, event_id, event_key, trace_id, span_id,
        digest, event from rows where thread = ${FIRST} and ordinal = 5`,
      "does not follow",
    ],
    [
      `insert into rows select 999, 1, prev, hash, run_id, event_id, event_key, trace_id, span_id,
        digest, event from rows where thread = ${FIRST} and ordinal = 1`,
      "does not follow",
    ],
    [
      `insert into rows select r.thread, 6, r.hash, row_hash(r.hash, 'acme', 't1', 6, 'r1', 'e', null,
        null, r.digest), 'r1', 'e', null, null, null, r.digest, r.event
        from rows r where thread = ${FIRST} and ordinal = 5`,
      "does not follow",
    ],
  ])("refuses %s", async (statement, message) => {
    const { schema, log, url } = await logs.filled();
    await expect(logs.asOwner(schema, statement)).rejects.toThrow(message);
    expect(await verifyPostgresLog({ connection: url })).toMatchObject({ ok: true, rows: 12 });
    expect((await log.append(key, entries(1))).ordinal).toBe(6);
  });

  it("takes a row by hand that follows as it should", async () => {
    const { schema, log, url } = await logs.filled();
    await logs.asOwner(
      schema,
      `insert into rows select r.thread, 6, r.hash, row_hash(r.hash, 'acme', 't1', 6, 'r1', null, null,
         null, r.digest), 'r1', null, null, null, null, r.digest, r.event
         from rows r where thread = ${FIRST} and ordinal = 5`,
    );
    expect((await log.append(key, entries(1))).ordinal).toBe(7);
    expect(await verifyPostgresLog({ connection: url })).toMatchObject({ ok: true, rows: 14 });
  });

  it("goes on with the chain behind rows that were tampered with, for the evidence to stay", async () => {
    const { schema, log, url } = await logs.filled();
    await logs.byHand(schema, `delete from rows where thread = ${FIRST} and ordinal = 5`);
    await expect(log.loadSince(key, 0)).rejects.toThrow(
      "tenant acme, thread t1, row 5: it is missing; verify the log",
    );
    expect((await log.append(key, entries(1))).ordinal).toBe(6);
    const report = await verifyPostgresLog({ connection: url });
    expect(report.problems.map(({ ordinal, problem }) => [ordinal, problem])).toEqual([
      [6, "row 5 of the thread is missing before this row"],
    ]);
    await logs.byHand(
      schema,
      `update rows set prev = hash where thread = ${FIRST} and ordinal = 3`,
    );
    await expect(log.loadSince(key, 1)).rejects.toThrow("row 3: edited");
    expect(await log.loadSince(key, 5)).toHaveLength(1);
  });

  it("finds the rows that loadSince wants by the index, however many there are", async () => {
    const { schema, log } = await logs.filled();
    for (let n = 0; n < 40; n += 1) {
      await log.append({ tenant_id: "acme", thread_id: `many-${n}` }, entries(100));
    }
    await logs.asOwner(schema, "analyze rows", "analyze threads");
    const [{ thread } = {}] = await logs.server.sql(
      `select thread::text from ${schema}.threads where thread_id = 'many-7'`,
    );
    const { text, values = [] } = pageBehind(schema, String(thread), 90);
    const plan = await logs.server.sql(`explain (analyze, costs off, timing off) ${text}`, [
      ...values,
    ]);
    const lines = plan.map((line) => String(line["QUERY PLAN"])).join("\n");
    expect(lines).toMatch(/Index Scan using rows_pkey on rows r \(actual rows=10 /);
    expect(lines).toMatch(/Index Cond: \(\(thread = .*\) AND \(ordinal > /);
    expect(lines).not.toContain("Seq Scan on rows");
  });

  it("keeps a large event, and reads many of them a few at a time", async () => {
    const { log, url } = await logs.filled();
    const large = { ...key, thread_id: "large" };
    const text = 'é\u0000"'.repeat(200_000);
    for (let n = 1; n <= 6; n += 1) await log.append(large, [entry(`${n}${text}`)]);
    const rows = await log.loadSince(large, 0);
    expectWhole(rows);
    expect(rows.map(({ event }) => "name" in event && event.name)).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `${n}${text}`),
    );
    expect(await verifyPostgresLog({ connection: url })).toMatchObject({ ok: true, rows: 18 });
  });
});
