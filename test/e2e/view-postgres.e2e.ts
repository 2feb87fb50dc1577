import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "../cli/support/command.ts";
import { recording } from "../cli/support/recorded.ts";
import { OtlpServer, type WireSpan } from "../support/otlp-server.ts";
import type { RunDetail, RunList } from "../view/support/view-documents.ts";
import { viewedList, viewedRuns, visitor } from "../view/support/view-documents.ts";
import { PostgresServer, withConnection } from "./support/postgres.ts";
import { ServeProcess } from "./support/serve-process.ts";
import { sendUntilTaken } from "./support/serve-sender.ts";
import { untilHolds } from "./support/until.ts";
import { ViewProcess } from "./support/view-process.ts";

const PASSWORD = "open-sesame";
const SECRET = { PGPASSWORD: PASSWORD };
/** Of `nested_subagent`: the run, and the one that it dispatched. */
const NESTED = "01a1fbfa-4968-71c5-8c19-2e5f98e57b52";

let server: PostgresServer;
let live: readonly WireSpan[];

/** The log as its reader names it, without a password. */
const url = (user = "reader", database = "postgres") =>
  `postgres://${user}@127.0.0.1:${server.port}/${database}?schema=agents`;

beforeAll(async () => {
  server = await PostgresServer.start();
  // Of all roles this one needs its password.
  await server.sql(`create role reader login password '${PASSWORD}'`);
  const access = join(server.folder, "data", "pg_hba.conf");
  const rule = "host all reader 127.0.0.1/32 scram-sha-256\n";
  await writeFile(access, rule + (await readFile(access, "utf8")));
  await server.sql("select pg_reload_conf()");
  // What agents sent to a service: the spans that it made, and its log.
  await using receiver = await OtlpServer.start();
  const args = ["--endpoint", receiver.url, "--audit", url("entelix")];
  await using serve = await ServeProcess.start({ args });
  for (const name of ["nested_subagent", "approval", "tool_error_terminal", "two_tenants"]) {
    const text = await readFile(recording(name), "utf8");
    await sendUntilTaken(serve.url, text.trim().split("\n"));
  }
  await untilHolds("all runs ended", async () => {
    expect(receiver.spans.filter(({ name }) => name.startsWith("invoke_agent"))).toHaveLength(6);
  });
  await serve.stop();
  await server.sql("grant usage on schema agents to reader");
  await server.sql("grant select on all tables in schema agents to reader");
  live = [...new Map(receiver.spans.map((span) => [span.spanId, span])).values()];
});
afterAll(() => server?.stop());

/** Rows as `audit show --json` prints them, but for the text of their events. */
async function shownRows() {
  const { code, stdout } = await command(["audit", "show", url(), "--json"], { env: SECRET });
  expect(code).toBe(0);
  const lines = stdout.trim().split("\n");
  const rows = lines.map((line): Record<string, unknown> => JSON.parse(line));
  return rows.map(({ event_text: _, ...row }) => row);
}

const ids = ({ span_id, trace_id, parent_span_id, name }: RunDetail["spans"][number]) =>
  [trace_id, span_id, parent_span_id ?? "", name].join(" ");

describe("view of a log in PostgreSQL", () => {
  it("has the rows of the log, and spans with the ids of the live ones", async () => {
    const details = await viewedRuns([url()], SECRET);
    expect(details.size).toBe(6);
    const shown = await shownRows();
    expect(shown.length).toBeGreaterThan(20);
    const spans = new Set<string>();
    for (const { rows, rows_from, run, spans: found, verdict } of details.values()) {
      expect([rows_from, verdict?.state, verdict?.text]).toEqual(["log", "intact", "intact"]);
      const own = rows.filter(({ run_id }) => run_id === run.run_id);
      const wanted = shown.filter(({ run_id }) => run_id === run.run_id);
      expect(own.map(({ kind: _, timestamp: __, ...row }) => row)).toEqual(wanted);
      expect(run.rows).toBe(wanted.length);
      for (const span of found) spans.add(ids(span));
    }
    const wanted = live.map(({ name, parentSpanId = "", spanId, traceId }) =>
      [traceId, spanId, parentSpanId, name].join(" "),
    );
    expect([...spans].toSorted()).toEqual(wanted.toSorted());
    const verified = await command(["audit", "verify", url()], { env: SECRET });
    const { sources } = await viewedList([url()], SECRET);
    expect(sources).toMatchObject([
      { kind: "database", name: url(), followed: false, read: 1, problem_count: 0 },
    ]);
    expect(verified.stdout).toBe(`✓ intact: ${sources[0]?.verdict?.rows} rows, 5 threads\n`);
  });

  it("is served as --json prints it", async () => {
    const printed = await viewedRuns([url()], SECRET);
    const view = await ViewProcess.start([url()], SECRET);
    const get = await visitor(view.url);
    await untilHolds("all is read", async () => {
      const { runs, sources } = await get<RunList>("/runs");
      expect(runs).toHaveLength(printed.size);
      expect(sources.map(({ verdict }) => verdict?.state)).toEqual(["intact"]);
    });
    const { rows, run, spans } = await get<RunDetail>(`/run?key=${NESTED}`);
    const wanted = printed.get(NESTED);
    expect([run, rows, spans]).toEqual([wanted?.run, wanted?.rows, wanted?.spans]);
    expect(await view.stop()).toBe(0);
  });

  it("whose row was changed is damaged: the row is named, and the runs are shown", async () => {
    const before = await viewedRuns([url()], SECRET);
    await withConnection(server.url(), async (client) => {
      await client.query("set session_replication_role = replica");
      await client.query(
        `update agents.rows set event = replace(event, 'call', 'kall')
           where run_id = $1 and ordinal = 2`,
        [NESTED],
      );
    });
    const { code, stdout } = await command(["view", url(), "--json"], { env: SECRET });
    const { runs, sources }: RunList = JSON.parse(stdout);
    const [source] = sources;
    expect([code, runs.length]).toEqual([2, before.size]);
    expect([source?.verdict?.state, source?.verdict?.problem_count]).toEqual(["damaged", 1]);
    const verified = await command(["audit", "verify", url()], { env: SECRET });
    expect(verified.code).toBe(2);
    for (const problem of [source?.problems[0], source?.verdict?.problems[0]]) {
      expect(problem?.place).toBe("agents.rows");
      expect(problem?.problem).toMatch(/edited: .* \(tenant acme, thread [^,]+, row 2\)$/);
      expect(verified.stdout).toContain(`${problem?.place}: ${problem?.problem}\n`);
    }
    const [damaged, whole] = [
      await viewedRuns([url()], SECRET).then((all) => all.get(NESTED)),
      before.get(NESTED),
    ];
    expect(damaged?.rows).toEqual(whole?.rows.filter(({ hash }) => hash !== changed(whole)));
  });
});

const changed = ({ rows, run }: RunDetail) =>
  rows.find(({ ordinal, run_id }) => run_id === run.run_id && ordinal === 2)?.hash;

describe("a database that can't be read", () => {
  it.each([
    ["no such database", () => url("reader", "gone"), SECRET, 'database "gone" does not exist'],
    [
      "no such schema",
      () => url().replace("=agents", "=nothing"),
      SECRET,
      'audit log: there is none in the schema "nothing"',
    ],
    [
      "another password",
      () => url(),
      { PGPASSWORD: "s3cret" },
      'password authentication failed for user "reader"',
    ],
    ["no password", () => url(), {}, "password"],
    [
      "a password in the URL",
      () => url().replace("@", ":s3cret@"),
      SECRET,
      "expected a URL without a password",
    ],
    [
      "nobody at the address",
      () => "postgres://reader@127.0.0.1:1/postgres",
      SECRET,
      "ECONNREFUSED",
    ],
  ])("is named as what it is, and no page is served: %s", async (_, place, env, said) => {
    for (const more of [["--json"], []]) {
      const { code, stderr, stdout } = await command(["view", place(), ...more], { env });
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(said);
      expect(stderr.trim().split("\n").length).toBeLessThan(4);
      expect(stderr).not.toContain("s3cret");
      expect(stderr).not.toContain(PASSWORD);
    }
  });

  it("to its end is shown as far as it was read, and its problem", async () => {
    await server.sql("revoke select on agents.rows from reader");
    const { code, stdout } = await command(["view", url(), "--json"], { env: SECRET });
    await server.sql("grant select on agents.rows to reader");
    const { runs, sources }: RunList = JSON.parse(stdout);
    expect([code, runs]).toEqual([2, []]);
    const problem = "cannot be read to its end: permission denied for table rows";
    expect(sources).toMatchObject([{ read: 1, problems: [{ place: url(), problem }] }]);
    expect(sources[0]?.verdict).toMatchObject({
      text: "could not be verified",
      problems: [{ problem: "permission denied for table rows" }],
    });
  });
});
