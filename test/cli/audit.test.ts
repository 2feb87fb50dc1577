import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NdjsonSessionLog } from "../../src/entries/audit.ts";
import { bundle } from "../audit/storage/support/bundle.ts";
import { command } from "./support/any-process.ts";
import { Folder } from "./support/folder.ts";
import { recording } from "./support/recorded.ts";

const FILES = [recording("success"), recording("nested_subagent"), recording("two_tenants")];

/** A log of three recordings, and the spans that belong to it. */
async function replayed(folder: Folder): Promise<{ directory: string; spans: string }> {
  const directory = folder.at("audit");
  const spans = folder.at("spans.jsonl");
  const args = ["replay", ...FILES, "--audit", directory, "--out", spans];
  expect((await command(args)).code).toBe(0);
  return { directory, spans };
}

function segment(directory: string): string {
  const [name = ""] = readdirSync(directory).filter((file) => file.endsWith(".ndjson"));
  return join(directory, name);
}

/** Changes the lines of the log's one segment. */
function change(directory: string, by: (lines: string[]) => string[]): void {
  const file = segment(directory);
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, by(lines).join("\n"));
}

describe("replay --audit", () => {
  it("writes the projection of every tool event, once, however often it is replayed", async () => {
    using folder = new Folder();
    const { directory } = await replayed(folder);
    const before = readFileSync(segment(directory), "utf8");
    const again = await command(["replay", ...FILES, "--audit", directory, "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ audit: { directory, failures: 0 } });
    const { stdout } = await command(["audit", "verify", directory, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, rows: 30, threads: 4, problemCount: 0 });
    const rows = (text: string) => text.split("\n").filter((line) => line.includes('"ordinal"'));
    expect(rows(readFileSync(segment(directory), "utf8"))).toEqual(rows(before));
  });

  it("refuses a log that another process has open", async () => {
    using folder = new Folder();
    const log = await NdjsonSessionLog.open(folder.at("audit"));
    try {
      const { code, stderr } = await command(["replay", ...FILES, "--audit", folder.at("audit")]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^entelix-otel: --audit: .*audit.*open/);
    } finally {
      await log.close();
    }
  });
});

describe("audit verify", () => {
  it("finds a log intact that is, against its spans too", async () => {
    using folder = new Folder();
    const { directory, spans } = await replayed(folder);
    const { code, stdout } = await command(["audit", "verify", directory, "--against", spans]);
    expect(stdout).toMatch(
      /^✓ intact, closed: 30 rows, 4 threads, 1 segment, \d+ commits?\n5 of 5 spans found their row\n$/,
    );
    expect(code).toBe(0);
  });

  it.each<[string, (lines: string[]) => string[], RegExp]>([
    [
      "edited",
      (lines) => lines.map((line) => line.replace('"q":"inner"', '"q":"other"')),
      /edited/,
    ],
    [
      "deleted",
      (lines) => lines.filter((line) => !line.includes('"ordinal":2,')),
      /row 2 of the thread is missing/,
    ],
    ["swapped", (lines) => lines.with(1, lines[2] ?? "").with(2, lines[1] ?? ""), /missing|behind/],
    ["doubled", (lines) => lines.toSpliced(2, 0, lines[1] ?? ""), /there twice/],
  ])("finds a row that was %s, and says where: exit code 2", async (_, by, said) => {
    using folder = new Folder();
    const { directory } = await replayed(folder);
    change(directory, by);
    const { code, stdout } = await command(["audit", "verify", directory]);
    expect(code).toBe(2);
    expect(stdout).toMatch(said);
    expect(stdout.split("\n")[0]).toMatch(/^segment-00000001\.ndjson:\d+: /);
    expect(stdout).toMatch(/\n✗ \d+ problems?: /);
  });

  it("finds a log cut exactly at an earlier close mark by the spans alone, and names the span's line", async () => {
    using folder = new Folder();
    const first = folder.at("first.jsonl");
    const directory = folder.at("audit");
    await command(["replay", recording("success"), "--audit", directory, "--out", first]);
    const whole = readFileSync(segment(directory), "utf8");
    const { spans } = await replayed(folder);
    writeFileSync(segment(directory), whole);
    const alone = await command(["audit", "verify", directory]);
    const against = await command(["audit", "verify", directory, "--against", spans]);
    expect([alone.code, against.code]).toEqual([0, 2]);
    const lines = against.stdout.split("\n");
    expect(lines.filter((line) => line.startsWith(`${spans}:1: row `))).toHaveLength(4);
    expect(against.stdout).toContain("is missing: a span names it, the log has no such row");
    expect(against.stdout).toContain("\n✗ 4 problems: 8 rows");
  });

  it("says of a log whose newest rows were cut off that it is not closed: exit code 3", async () => {
    using folder = new Folder();
    const { directory, spans } = await replayed(folder);
    const whole = readFileSync(segment(directory));
    for (const bytes of [1, 100, 200, 1000, whole.length - 150]) {
      writeFileSync(segment(directory), whole.subarray(0, whole.length - bytes));
      const { code, stdout } = await command(["audit", "verify", directory]);
      expect([code, stdout.split(": ")[0]]).toEqual([3, "! no damage, not closed"]);
      expect(stdout).toContain(
        "\nThe log has no close mark at its end, and no process has it open: ",
      );
      expect(stdout).toContain("\naudit verify --against SPANS finds missing rows.");
    }
    // Only the mark is missing: the spans find every row, and what no span names is not known.
    writeFileSync(segment(directory), whole.subarray(0, whole.lastIndexOf('{"commit"')));
    const against = await command(["audit", "verify", directory, "--against", spans]);
    expect([against.code, against.stdout.includes("5 of 5 spans found their row")]).toEqual([
      3,
      true,
    ]);
    expect(against.stdout).toContain("\nAll rows that the spans name are there; ");
    const json = await command(["audit", "verify", directory, "--json"]);
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([3, { ok: true, end: "unclosed" }]);
    rmSync(segment(directory));
    expect((await command(["audit", "verify", directory])).code).toBe(2);
  });

  it("knows a log that a living process has open from one whose writer died, and from a copy", async () => {
    using folder = new Folder();
    const source = join(import.meta.dirname, "../audit/support/hold-child.ts");
    const program = await bundle(source, folder.path);
    const directory = folder.at("log");
    for (const ending of ["close", "kill"]) {
      const writer = spawn(process.execPath, [program, directory]);
      try {
        await once(writer.stdout, "data");
        const open = await command(["audit", "verify", directory]);
        expect([open.code, open.stdout]).toEqual([
          0,
          expect.stringMatching(/^✓ no damage, open: \d+ rows.*\nA process has the log open\. /),
        ]);
        const copy = folder.at(`copy-${ending}`);
        const filter = (path: string) => !lstatSync(path).isSocket();
        cpSync(directory, copy, { recursive: true, filter });
        expect((await command(["audit", "verify", copy])).code).toBe(3);
      } finally {
        if (ending === "close") writer.stdin.end("close\n");
        else writer.kill("SIGKILL");
        await once(writer, "close");
      }
      const { code, stdout } = await command(["audit", "verify", directory]);
      expect([code, stdout.split(": ")[0]]).toEqual(
        ending === "close" ? [0, "✓ intact, closed"] : [3, "! no damage, not closed"],
      );
    }
    // Opened again and closed, it is no problem that its writer died.
    expect((await command(["replay", recording("success"), "--audit", directory])).code).toBe(0);
    const { code, stdout } = await command(["audit", "verify", directory]);
    expect([code, stdout.split(": ")[0]]).toEqual([0, "✓ intact, closed"]);
    expect(stdout).toContain(
      "opened 1 time without having been closed before: after a crash, or after rows were cut off",
    );
  });

  it("names the version of a log of another format version", async () => {
    using folder = new Folder();
    const { directory } = await replayed(folder);
    const text = readFileSync(segment(directory), "utf8");
    writeFileSync(segment(directory), text.replace('"version":2', '"version":1'));
    const problem = "written by version 1 of the format, expected 2";
    const { code, stdout } = await command(["audit", "verify", directory]);
    expect(code).toBe(2);
    expect(stdout).toContain(problem);
    const again = await command(["replay", recording("success"), "--audit", directory]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain(`${segment(directory)}: ${problem}`);
  });

  it("can't check what is not there: exit code 1", async () => {
    using folder = new Folder();
    const { directory } = await replayed(folder);
    writeFileSync(folder.at("no-spans"), '{"resourceSpans":[]}\n');
    writeFileSync(folder.at("other"), '{"resourceSpans":[]}\n{"type":"started"}\n');
    const cases: [string[], string][] = [
      [[folder.at("none")], `${folder.at("none")}: no such directory`],
      [
        [segment(directory)],
        `${segment(directory)}: expected the directory of an audit log, got a file`,
      ],
      [
        [directory, "--against", folder.at("no-spans")],
        `--against: ${folder.at("no-spans")}: expected run spans with entelix.audit.ordinal and .hash, found none`,
      ],
      [
        [directory, "--against", folder.at("other")],
        `${folder.at("other")}:2: expected an ExportTraceServiceRequest in JSON on one line`,
      ],
      [[directory, "--against", folder.at("gone")], "--against: ENOENT"],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await command(["audit", "verify", ...args]);
      expect(stderr).toContain(`entelix-otel: ${message}`);
      expect(code).toBe(1);
    }
  });

  it("repeats no URL that it can't read, nor do show and erase: a password may be in it", async () => {
    const cases = [["verify"], ["show"], ["erase", "--tenant", "acme"]];
    for (const [name = "", ...more] of cases) {
      for (const scheme of ["mysql://", "Postgres://"]) {
        const url = `${scheme}auditor:s3cret@db.example/agents`;
        const { code, stderr } = await command(["audit", name, url, ...more]);
        expect(stderr).toContain(`postgres://…, got a URL (${scheme}…)`);
        expect([code, stderr.includes("s3cret")]).toEqual([1, false]);
      }
    }
  });
});

describe("audit show", () => {
  it("prints rows by thread, and only those asked for", async () => {
    using folder = new Folder();
    const { directory } = await replayed(folder);
    const { code, stdout } = await command(["audit", "show", directory, "--thread", "th-7"]);
    const [heading, ...rows] = stdout.trimEnd().split("\n");
    expect([code, heading, rows.length]).toEqual([0, "tenant acme, thread th-7", 10]);
    expect(rows[3]).toBe(
      '     4  2026-11-21T02:40:46.453687776Z  tool_call                  {"id":"tu-1","name":"search","input":{"q":"inner"}}',
    );
    const upstream = await command(["audit", "show", directory, "--thread", "th-7", "--upstream"]);
    expect(upstream.stdout.trimEnd().split("\n")).toEqual([
      heading,
      ...rows.filter((row) => !row.includes(" entelix.")),
    ]);
    const globex = await command(["audit", "show", directory, "--tenant", "globex"]);
    expect(globex.stdout.split("\n")[0]).toBe("tenant globex, thread th-12b");
    const none = await command(["audit", "show", directory, "--tenant", "nobody"]);
    expect([none.code, none.stdout, none.stderr]).toEqual([0, "", "No rows.\n"]);
  });

  it("prints the stored rows as JSON, ids of run and span among them", async () => {
    using folder = new Folder();
    const { directory } = await replayed(folder);
    const { stdout } = await command(["audit", "show", directory, "--json", "--thread", "th-2"]);
    const stored = readFileSync(segment(directory), "utf8").split("\n");
    const rows = stdout.trimEnd().split("\n");
    expect(rows).toHaveLength(8);
    for (const row of rows) expect(stored).toContain(row);
    expect(JSON.parse(rows[1] ?? "")).toMatchObject({
      tenant_id: "acme",
      thread_id: "th-2",
      ordinal: 2,
      run_id: "01a1fbfa-4823-7117-8175-79e327b20933",
      trace_id: "01a1fbfa48237117817579e327b20933",
      event: { kind: "tool_call", id: "tu-1", name: "double", input: { n: 21 } },
    });
  });

  it("stops quietly when its reader goes away", async () => {
    using folder = new Folder();
    const { directory } = await replayed(folder);
    const { code, stderr } = await command(["audit", "show", directory], { closeStdoutAfter: 1 });
    expect([code, stderr]).toEqual([0, ""]);
  });

  it("says that there is no log, where it would seem to be an empty one: exit code 2", async () => {
    using folder = new Folder();
    mkdirSync(folder.at("typo"));
    const { code, stderr, stdout } = await command(["audit", "show", folder.at("typo"), "--json"]);
    expect(stderr).toBe(`${folder.at("typo")}: there is no audit log here\n`);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("names lines that are no rows: exit code 2", async () => {
    using folder = new Folder();
    const { directory } = await replayed(folder);
    change(directory, (lines) => lines.toSpliced(3, 0, "garbage"));
    const { code, stderr, stdout } = await command(["audit", "show", directory]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^segment-00000001\.ndjson:4: /);
    expect(stdout.match(/ {2}tool_call /g)).toHaveLength(10);
  });
});
