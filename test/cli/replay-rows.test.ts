import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CliError } from "../../src/cli/cli-error.ts";
import type { Command } from "../../src/cli/command.ts";
import type { ReplaySummary } from "../../src/cli/replay/replay-summary.ts";
import { rowLines } from "../../src/cli/replay/replay-summary.ts";
import { replay } from "../../src/cli/replay.ts";
import { serve } from "../../src/cli/serve.ts";
import { Output } from "../../src/cli/terminal/output.ts";
import { type AuditRow, NdjsonSessionLog, readRows, verifyLog } from "../../src/entries/audit.ts";
import { FanOutSink, RecorderSink } from "../../src/entries/sinks.ts";
import { Bridge } from "../../src/index.ts";
import { collectSpans } from "../support/spans.ts";
import { MAIN } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { memoryIo } from "./support/memory-io.ts";
import { completed, line, recording, started } from "./support/recorded.ts";

const stream = (name: string) =>
  fileURLToPath(new URL(`../streams/graph_${name}.ndjson`, import.meta.url));

/** One character more than a name may have. */
const LONG = "x".repeat(4_097);

async function called(command: Command, args: string[], stdin = "") {
  const { io, ended } = memoryIo(stdin);
  const code = await command.run(args, io);
  return { code, ...(await ended()) };
}

async function converted(args: string[], stdin?: string) {
  const result = await called(replay, [...args, "--no-spans", "--json"], stdin);
  const { audit, ...summary } = JSON.parse(result.stdout);
  return { ...result, summary: { ...summary, ...audit } };
}

async function rowsOf(directory: string) {
  const rows: AuditRow[] = [];
  for await (const row of readRows(directory)) rows.push(row);
  return rows;
}

const texts = (file: string): string[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((text) => text.includes('"kind"'))
    .map((text) => JSON.stringify(JSON.parse(text).event ?? JSON.parse(text)));

describe("replay --audit of a recording without event IDs of its sender", () => {
  it("writes the rows that the live log has, and none to that log", async () => {
    using folder = new Folder();
    const log = await NdjsonSessionLog.open(folder.at("live"));
    const bridge = new Bridge({ audit: log, tracerProvider: collectSpans().provider });
    const recorder = new RecorderSink({ path: folder.at("events.ndjson"), source: bridge });
    const sink = new FanOutSink([bridge, recorder]);
    const run = { run_id: "018f3c7a-0000-7000-8000-0000000000ab", tenant_id: "acme" };
    const call = { ...run, tool_use_id: "c1", tool: "search" };
    await sink.send({ type: "started", ...run, agent: "clerk" });
    await sink.send({ type: "tool_start", ...call, input: { q: 1 } });
    await sink.send({ type: "tool_complete", ...call, duration_ms: 1, output: "found" });
    await sink.send({ type: "complete", ...run, state: null });
    await sink.shutdown();
    await log.close();
    const live = await rowsOf(folder.at("live"));
    expect(live).toHaveLength(4);
    for (const directory of ["again", "live"]) {
      const args = [folder.at("events.ndjson"), "--audit", folder.at(directory)];
      expect((await converted(args)).summary).toMatchObject({ rows: 4, rejected: 0 });
      expect(await rowsOf(folder.at(directory))).toEqual(live);
    }
  });
});

describe("replay --no-spans", () => {
  it("writes the rows of entelix events that replay --audit writes, and counts the others", async () => {
    using folder = new Folder();
    const files = [recording("success"), recording("nested_subagent"), recording("two_tenants")];
    const { code, summary } = await converted([...files, "--audit", folder.at("converted")]);
    expect(code).toBe(0);
    expect(summary).toMatchObject({
      rows: 30,
      rows_by_kind: {
        tool_call: 10,
        tool_result: 10,
        "entelix.run_started": 5,
        "entelix.run_ended": 5,
      },
      unprojected: {},
      directory: folder.at("converted"),
      failures: 0,
      unsearched: 0,
      spans: 0,
      runs: 0,
    });
    expect(summary.events).toBe(30);
    await called(replay, [...files, "--audit", folder.at("replayed"), "--json"]);
    expect(await rowsOf(folder.at("converted"))).toEqual(await rowsOf(folder.at("replayed")));
    expect(await verifyLog(folder.at("converted"))).toMatchObject({ ok: true, rows: 30 });
  });

  it("writes only rows of upstream's kinds where that is asked for", async () => {
    using folder = new Folder();
    const args = [recording("success"), "--audit", folder.at("log"), "--audit-rows", "upstream"];
    const { summary } = await converted(args);
    expect(summary).toMatchObject({
      rows_by_kind: { tool_call: 3, tool_result: 3 },
      unprojected: { started: 1, complete: 1 },
    });
    for (const [more, message] of [
      [["--audit", folder.at("log"), "--audit-rows", "some"], "expected all or upstream"],
      [["--audit-rows", "upstream"], "expected --audit with it"],
    ] as const) {
      const failed = called(replay, [recording("success"), ...more]);
      await expect(failed).rejects.toThrow(`--audit-rows: ${message}`);
    }
  });

  it("takes a log of GraphEvents whole: every event, once, unchanged", async () => {
    using folder = new Folder();
    for (const name of ["turns", "endings", "sub_agents", "upstream"]) {
      const directory = folder.at(name);
      const { code, summary } = await converted([stream(name), "--audit", directory]);
      expect([code, summary.unprojected, summary.rejected]).toEqual([0, {}, 0]);
      const stored = (await rowsOf(directory)).map(({ event_text }) => event_text);
      expect(stored.map((text) => JSON.stringify(JSON.parse(text))).sort()).toEqual(
        texts(stream(name)).sort(),
      );
    }
  });

  it("keeps integers beyond 2^53 and nanoseconds", async () => {
    using folder = new Folder();
    await converted([stream("turns"), "--audit", folder.at("log")]);
    const stored = (await rowsOf(folder.at("log"))).map(({ event_text }) => event_text);
    expect(stored.filter((text) => text.includes('"account":9007199254740993'))).toHaveLength(2);
    expect(stored.filter((text) => text.includes("18446744073709551615"))).toHaveLength(1);
    expect(stored[0]).toContain("2026-05-04T09:00:00.000000001Z");
  });

  it("keeps what the rows of a log of ours say of themselves, and counts what was erased", async () => {
    using folder = new Folder();
    const directory = folder.at("log");
    const { summary } = await converted([stream("own_log"), "--audit", directory]);
    expect(summary).toMatchObject({ events: 13, rows: 12, unprojected: { tool_call: 1 } });
    expect(summary.unknown_types).toEqual({});
    const rows = (await rowsOf(directory))
      .filter(({ run_id }) => run_id === "r1")
      .map(({ event_id, run_id, span_id, trace_id }) => ({ event_id, run_id, span_id, trace_id }));
    const common = {
      run_id: "r1",
      trace_id: "018f3c7a000070008000000000000002",
      span_id: "dc409a847ff1018e",
    };
    expect(rows).toEqual([
      { event_id: "00000000-0000-4000-9000-000000000002", ...common },
      { event_id: "00000000-0000-4000-9000-000000000003", ...common },
    ]);
  });

  it("writes no row a second time, with event ids or without", async () => {
    using folder = new Folder();
    const args = [stream("turns"), stream("endings"), "--audit", folder.at("log")];
    await converted(args);
    const before = await rowsOf(folder.at("log"));
    const { summary } = await converted(args);
    expect(summary.rows).toBe(before.length);
    expect(await rowsOf(folder.at("log"))).toEqual(before);
  });

  it("writes what replay --audit writes of events without ids, and neither does it twice", async () => {
    using folder = new Folder();
    const streams = ["defect_lost_spawn", "graph_turns", "agent_sdk_cut_streams", "older_shape"];
    for (const name of streams) {
      const text = readFileSync(
        fileURLToPath(new URL(`../streams/${name}.ndjson`, import.meta.url)),
      )
        .toString("utf8")
        .replaceAll(/"event_id":"[^"]*",/g, "");
      const [replayed, directory] = [folder.at(`${name}-replayed`), folder.at(name)];
      await converted(["-", "--audit", directory], text);
      const rows = await rowsOf(directory);
      expect(rows.length).toBeGreaterThan(1);
      // What a segment has once has an id that its run and kind make.
      const isNamed = (id: string | null) => /^(row-[0-9a-f]{32}|[0-9a-f-]{36})$/.test(id ?? "");
      expect(rows.every(({ event_id }) => isNamed(event_id))).toBe(true);
      for (let time = 0; time < 2; time++) {
        const { code } = await called(replay, ["-", "--audit", replayed, "--json"], text);
        expect(code).toBe(0);
        expect(await rowsOf(replayed)).toEqual(rows);
      }
    }
  });

  it("gives lines that name no tenant the one that is asked for", async () => {
    using folder = new Folder();
    await converted([stream("turns"), "--audit", folder.at("log"), "--tenant", "acme"]);
    const tenants = (await rowsOf(folder.at("log"))).map(({ tenant_id }) => tenant_id);
    expect(new Set(tenants)).toEqual(new Set(["acme"]));
  });

  it("passes an event of an unknown kind into the log as it is, and counts it", async () => {
    using folder = new Folder();
    const event = '{"kind":"brand_new","b":1,"a":2,"timestamp":"2026-05-04T09:00:00Z"}';
    const known = '{"kind":"cancelled","reason":"x","timestamp":"2026-05-04T09:00:01Z"}';
    const args = ["-", "--audit", folder.at("log")];
    const { summary } = await converted(args, `${known}\n${event}\n`);
    expect(summary.unknown_values).toEqual({ "kind=brand_new": 1 });
    const stored = (await rowsOf(folder.at("log"))).map(({ event_text }) => event_text);
    expect(stored).toEqual([event, known]);
  });

  it("reports bad lines, copies them, and goes on: exit code 2", async () => {
    using folder = new Folder();
    const bad = line({ type: "tool_start" });
    writeFileSync(folder.at("in.ndjson"), `${started()}\n${bad}\n${completed()}\n`);
    const { code, stderr, summary } = await converted([
      folder.at("in.ndjson"),
      "--audit",
      folder.at("log"),
      "--rejects",
      folder.at("bad.ndjson"),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain("in.ndjson:2: tool_use_id: expected");
    expect(summary).toMatchObject({ rejected: 1, rows: 2 });
    expect(readFileSync(folder.at("bad.ndjson"), "utf8")).toBe(`${bad}\n`);
  });

  it("copies them to standard output for -, and says in words on standard error what it did", async () => {
    using folder = new Folder();
    const args = ["-", "--audit", folder.at("log"), "--rejects", "-", "--no-spans"];
    const { code, stderr, stdout } = await called(replay, args, `${started()}\nbad\n`);
    expect([code, stdout]).toEqual([2, "bad\n"]);
    expect(stderr).toContain("\n1 line rejected\n");
    const json = called(replay, [...args, "--json"]);
    await expect(json).rejects.toThrow("--rejects - and --json: expected only one of them");
  });

  it("says in words what it did", async () => {
    using folder = new Folder();
    const directory = folder.at("log");
    const { stdout } = await called(replay, [
      recording("success"),
      "--audit",
      directory,
      "--no-spans",
    ]);
    expect(stdout.split("\n")).toEqual([
      "8 events, 8 rows: 1 entelix.run_started, 3 tool_call, 3 tool_result, 1 entelix.run_ended",
      `audit log: ${directory}`,
      "",
    ]);
  });

  it("warns of rows that may be duplicates", () => {
    const audit = { directory: "log", failures: 0, unprojected: {}, unsearched: 2 };
    const summary: ReplaySummary = {
      events: 3,
      spans: 0,
      runs: 0,
      outcomes: {},
      failure_kinds: {},
      ignored: {},
      rejected: 0,
      rejected_fields: {},
      late: 0,
      unknown_types: {},
      unknown_values: {},
      adjustments: {},
      failures: 0,
      audit: { ...audit, rows: 3, rows_by_kind: { tool_call: 3 } },
      unreadable: [],
    };
    const output = new Output({ write: () => true, on: () => {} }, {});
    expect(rowLines(summary, output)).toEqual([
      "3 events, 3 rows: 3 tool_call",
      "2 rows may be duplicates: their threads have more rows than the search covers",
      "audit log: log",
    ]);
  });

  it("writes no row a second time that 100,000 others came after", async () => {
    using folder = new Folder();
    const key = { tenant_id: "acme", thread_id: "t1" };
    const log = await NdjsonSessionLog.open(folder.at("log"), {
      segmentBytes: 1024,
      durability: "none",
    });
    const event = { kind: "cancelled", reason: "x".repeat(100), timestamp: "2026-05-04T09:00:00Z" };
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => ({ event, event_id: `e${from + index}` }));
    for (const [from, to] of [
      [0, 2],
      [2, 100_003],
      [100_003, 100_004],
    ] as const) {
      await log.append(key, numbered(from, to));
    }
    await log.close();
    const { timestamp } = event;
    const again = `${JSON.stringify({ ...key, event_id: "e1", timestamp, event })}\n`;
    const { summary } = await converted(["-", "--audit", folder.at("log")], again);
    expect(summary).toMatchObject({ rows: 1, failures: 0, unsearched: 0 });
    expect(await verifyLog(folder.at("log"))).toMatchObject({ ok: true, rows: 100_004 });
  });

  it("says once why rows could not be stored, and how many: exit code 1", () => {
    using folder = new Folder();
    const input = "x".repeat(2_000);
    const texts = [1, 2, 3].map((n) =>
      line({ type: "tool_start", tool_use_id: `t${n}`, tool: "a", tool_version: null, input }),
    );
    // No file may have more than 1 KiB: none of the rows fits.
    const script = `trap '' XFSZ; ulimit -f 1; ${process.execPath} ${MAIN} replay - --audit log --no-spans --json`;
    const { status, stderr, stdout } = spawnSync("bash", ["--norc", "-c", script], {
      cwd: folder.path,
      encoding: "utf8",
      input: `${texts.join("\n")}\n`,
    });
    expect([status, JSON.parse(stdout).audit.failures]).toEqual([1, 3]);
    expect(stderr.split("\n").filter((text) => text.startsWith("audit append:"))).toEqual([
      "audit append: EFBIG: file too large, write",
    ]);
  });

  it.each([
    ["tenant_id", { tenant_id: LONG }],
    ["thread_id", { thread_id: LONG }],
    ["event_id", { event_id: LONG }],
    ["run_id", { run_id: LONG }],
    ["tool", { tool: LONG }],
    ["tool_use_id", { tool_use_id: LONG }],
  ])("names file, line and field of a name that no row can have: %s", async (field, more) => {
    using folder = new Folder();
    const call = { type: "tool_start", tool_use_id: "t", tool: "a", tool_version: null, input: 1 };
    const lines = `${started()}\n${line({ ...call, ...more })}\n${completed()}\n`;
    writeFileSync(folder.at("events"), lines);
    for (const options of [
      ["--audit", folder.at("converted"), "--no-spans"],
      ["--audit", folder.at("replayed")],
      [],
    ]) {
      const args = [folder.at("events"), "--json", "--rejects", folder.at("rejects"), ...options];
      const { code, stderr, stdout } = await called(replay, args);
      expect(stderr).toBe(
        `${folder.at("events")}:2: ${field}: expected at most 4,096 characters\n`,
      );
      expect(JSON.parse(stdout)).toMatchObject({ rejected: 1, rejected_fields: { [field]: 1 } });
      expect(readFileSync(folder.at("rejects"), "utf8")).toBe(`${line({ ...call, ...more })}\n`);
      expect(code).toBe(2);
    }
  });

  it("asks for the log to write to", async () => {
    const args = [recording("success"), "--no-spans"];
    const failed = await called(replay, args).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CliError);
    expect(String(failed)).toContain("--no-spans: expected --audit DIR");
  });

  it.each([["--endpoint", "http://127.0.0.1:4319"], ["--out", "-"], ["--capture-content"]])(
    "is not asked for spans: %s",
    async (...option) => {
      using folder = new Folder();
      const args = [recording("success"), "--audit", folder.at("log"), "--no-spans", ...option];
      const failed = await called(replay, args).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(CliError);
      expect(String(failed)).toContain(`${option[0]}: expected no --no-spans with it`);
      expect(existsSync(folder.at("log"))).toBe(false);
    },
  );

  it("takes no URL for a directory", async () => {
    const args = [recording("success"), "--audit", "postgres://u:secret@db.example/agents"];
    const failed = await called(replay, args).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CliError);
    expect(String(failed)).toContain("--audit: expected a directory, got a URL (postgres://…)");
    expect(existsSync("postgres:")).toBe(false);
  });

  it("takes no --tenant that no row could have", async () => {
    using folder = new Folder();
    const audit = folder.at("log");
    for (const [command, args] of [
      [replay, [recording("success")]] as const,
      [serve, ["--journal", folder.at("journal")]] as const,
    ]) {
      for (const tenant of ["", "a".repeat(4097)]) {
        const all = [...args, "--audit", audit, `--tenant=${tenant}`];
        const failed = await called(command, all).catch((error: unknown) => error);
        expect(failed).toBeInstanceOf(CliError);
        expect(String(failed)).toContain("--tenant: expected 1 to 4096 characters");
      }
    }
    expect(existsSync(audit)).toBe(false);
  });

  it("takes an empty --audit for none that was meant", async () => {
    const args = [recording("success"), "--audit="];
    const failed = await called(replay, args).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CliError);
    expect(String(failed)).toContain("--audit: expected a directory, got nothing");
    expect(existsSync("segment-00000001.ndjson")).toBe(false);
  });

  it("is not run on a file that is not there, and makes no log then", async () => {
    using folder = new Folder();
    const args = [folder.at("none.ndjson"), "--audit", folder.at("log")];
    await expect(called(replay, args)).rejects.toThrow("no such file");
    expect(existsSync(folder.at("log"))).toBe(false);
  });
});
