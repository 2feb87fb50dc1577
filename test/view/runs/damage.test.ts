import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { completed, recording, started } from "../../cli/support/recorded.ts";
import { ALL, detailsOf, listOf, silentIo, withRuns } from "../support/opened.ts";

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder[Symbol.dispose]());

async function audited(...names: string[]): Promise<string> {
  const audit = folder.at("audit");
  await command(["replay", ...names.map(recording), "--audit", audit, "--no-spans"]);
  return audit;
}

describe("damaged input", () => {
  it("of a recording is listed by line, and the rest is shown", async () => {
    const file = folder.at("run.ndjson");
    writeFileSync(
      file,
      `${started()}\n{"type":\n${completed()}\n{"type":"complete","run_id":7}\n\xff\n`,
      "latin1",
    );
    await withRuns([file], ALL, async (runs) => {
      const { runs: listed, sources } = listOf(runs);
      expect(listed).toMatchObject([{ outcome: "complete", spans: 1, rows: 2 }]);
      expect(sources[0]?.problems.map(({ line, place }) => [place, line])).toEqual(
        expect.arrayContaining([
          [file, 2],
          [file, 4],
          [file, 5],
        ]),
      );
      expect(sources[0]?.problem_count).toBe(sources[0]?.problems.length);
    });
  });

  const ON_ONE_LINE = "in JSON on one line (jq -c . writes it so)";

  it.each([
    ["events", "json: expected a whole event in one line (jq -c . writes it so)"],
    ["spans", `expected an ExportTraceServiceRequest ${ON_ONE_LINE}`],
  ])(
    "that is JSON over several lines is one problem, which says what to do: %s",
    async (what, problem) => {
      const [file, out] = [folder.at("several-lines.json"), folder.at("out.json")];
      await command(["replay", recording("success"), "--out", out]);
      const source = what === "spans" ? out : recording("success");
      const lines = readFileSync(source, "utf8").trimEnd().split("\n");
      const several = lines.map((line) => JSON.stringify(JSON.parse(line), undefined, 2));
      writeFileSync(file, `${several.join("\n")}\n`);
      await withRuns([file], ALL, async (runs) => {
        const [source] = listOf(runs).sources;
        expect(source?.problems).toEqual([{ place: file, line: 1, problem }]);
        expect(source?.problem_count).toBe(1);
      });
    },
  );

  it("of a gzip file that is cut is told, and what came before is shown", async () => {
    const [file, whole] = [
      folder.at("run.ndjson.gz"),
      gzipSync(readFileSync(recording("success"))),
    ];
    writeFileSync(file, whole);
    await withRuns([file], { ...ALL, follow: true }, async (runs) => {
      expect(listOf(runs).runs).toMatchObject([{ outcome: "complete" }]);
      expect(listOf(runs).sources[0]).toMatchObject({ followed: false, problem_count: 0 });
    });
    writeFileSync(file, whole.subarray(0, whole.length - 20));
    await withRuns([file], ALL, async (runs) => {
      const [source] = listOf(runs).sources;
      expect(source?.problems[0]?.place).toBe(file);
      expect(source?.problems[0]?.problem).toMatch(/^cannot be read to its end: /);
      expect(listOf(runs).runs).toHaveLength(1);
    });
  });

  it("of a span file is listed by line, and the rest is shown", async () => {
    const [out, file] = [folder.at("out.json"), folder.at("spans.json")];
    await command(["replay", recording("success"), "--out", out]);
    const [first = ""] = readFileSync(out, "utf8").split("\n");
    const broken =
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"xyz","spanId":"1"}]}]}]}';
    writeFileSync(file, `${first}\n{"resourceSpans":\n${broken}\n[]\n`);
    await withRuns([file], ALL, async (runs) => {
      expect(listOf(runs).runs).toMatchObject([{ spans: 4 }]);
      const expected = "expected an ExportTraceServiceRequest in JSON on one line";
      expect(listOf(runs).sources[0]?.problems).toEqual([
        { place: file, line: 2, problem: expected },
        { place: file, line: 3, problem: "a span without ids or times" },
        { place: file, line: 4, problem: expected },
      ]);
    });
  });

  it("of an audit log is in its problems and its verdict, and the rest is shown", async () => {
    const audit = await audited("success", "two_tenants");
    const whole = await withRuns([audit], ALL, detailsOf);
    const segment = `${audit}/${readdirSync(audit).find((name) => name.endsWith(".ndjson"))}`;
    const lines = readFileSync(segment, "utf8").split("\n");
    const at = lines.findIndex((line) => line.includes('"kind":"tool_call"'));
    lines[at] = lines[at]?.replace("double", "triple") ?? "";
    writeFileSync(segment, lines.join("\n"));
    await withRuns([audit], ALL, async (runs) => {
      const [source] = listOf(runs).sources;
      expect(source?.problems.map(({ line }) => line)).toEqual([at + 1]);
      expect(source?.verdict?.state).toBe("damaged");
      expect(source?.verdict?.problems[0]?.line).toBe(at + 1);
      const damaged = await detailsOf(runs);
      expect([...damaged.keys()]).toEqual([...whole.keys()]);
      const rows = (details: typeof whole) =>
        [...details.values()].reduce((sum, { rows }) => sum + rows.length, 0);
      expect(rows(damaged)).toBe(rows(whole) - 1);
    });
  });

  it("is told once for what is the same, and counted beyond what is listed", async () => {
    const file = folder.at("run.ndjson");
    writeFileSync(file, `${started()}\n${"x\n".repeat(250)}${completed()}\n`);
    await withRuns([file], ALL, async (runs) => {
      const [source] = listOf(runs).sources;
      expect([source?.problem_count, source?.problems.length]).toEqual([250, 100]);
    });
  });
});

describe("places", () => {
  it.each([
    ["missing.ndjson", "missing.ndjson: no such file"],
    [
      "mysql://root:secret@db/x",
      "expected a file, a directory or postgres://…, got a URL (mysql://…)",
    ],
    ["postgres://me:secret@db/x", "expected a URL without a password"],
    ["postgres://me@db/x?password=secret", "expected a URL without a password"],
    ["postgres://me:secret@[/x", "that can't be read"],
  ])("that can't be read are named: %s", async (place, said) => {
    const opened = openSources([place], ALL, silentIo());
    await expect(opened).rejects.toThrow(said);
    await expect(opened).rejects.not.toThrow("secret");
  });

  it("are a folder with an audit log, or files of events and spans", async () => {
    const mixed = folder.at("mixed");
    mkdirSync(mixed);
    await command(["replay", recording("success"), "--out", `${mixed}/spans.json`]);
    writeFileSync(`${mixed}/a.ndjson`, readFileSync(recording("pause")));
    writeFileSync(`${mixed}/b.jsonl.gz`, gzipSync(readFileSync(recording("resume"))));
    writeFileSync(`${mixed}/notes.txt`, "no recording");
    await withRuns([mixed, await audited("approval"), `${mixed}/a.ndjson`], ALL, async (runs) => {
      const { runs: listed, sources } = listOf(runs);
      expect(sources.map(({ kind, name }) => [kind, name.slice(folder.path.length)])).toEqual([
        ["recording", "/mixed/a.ndjson"],
        ["recording", "/mixed/b.jsonl.gz"],
        ["spans", "/mixed/spans.json"],
        ["audit-log", "/audit"],
      ]);
      expect(listed.map(({ outcome }) => outcome).sort()).toEqual([
        "complete",
        "complete",
        "complete",
        "interrupted",
      ]);
      const paused = listed.find(({ outcome }) => outcome === "interrupted");
      const resumed = listed.find(({ resumed_from }) => resumed_from === paused?.run_id);
      expect((await runs.detail(paused?.key ?? ""))?.related).toMatchObject([
        { relation: "resumed_by", key: resumed?.key, agent: "supervised", outcome: "complete" },
      ]);
      expect((await runs.detail(resumed?.key ?? ""))?.related).toMatchObject([
        { relation: "resumes", key: paused?.key },
      ]);
    });
  });

  it("may be standard input", async () => {
    const { Readable } = await import("node:stream");
    const stdin = Readable.from([readFileSync(recording("success"))]);
    const runs = await openSources(["-"], { ...ALL, follow: true }, silentIo(stdin));
    await runs.ready();
    const [{ key = "" } = {}] = listOf(runs).runs;
    expect((await runs.detail(key))?.run).toMatchObject({ outcome: "complete", rows: 8 });
    expect(listOf(runs).sources).toMatchObject([{ name: "stdin", followed: false, read: 1 }]);
    await runs.close();
  });
});

describe("two tenants with one run id", () => {
  it("have keys, spans and rows of their own", async () => {
    const file = folder.at("run.ndjson");
    const of = (tenant_id: string) => ({ tenant_id, run_id: "one/run", agent: tenant_id });
    const lines = ["acme", "b/eta"].flatMap((name) => [started(of(name)), completed(of(name))]);
    writeFileSync(file, `${lines.join("\n")}\n`);
    await withRuns([file], ALL, async (runs) => {
      expect(runs.keysOf("one/run")).toEqual(["acme/one/run", "b%2Feta/one/run"]);
      for (const [key, tenant] of [
        ["acme/one/run", "acme"],
        ["b%2Feta/one/run", "b/eta"],
      ] as const) {
        const detail = await runs.detail(key);
        expect(detail?.run).toMatchObject({
          key,
          run_id: "one/run",
          tenant_id: tenant,
          spans: 1,
          rows: 2,
        });
        expect(detail?.spans.map(({ attributes }) => attributes["entelix.tenant_id"])).toEqual([
          tenant,
        ]);
        expect(detail?.rows.map(({ tenant_id }) => tenant_id)).toEqual([tenant, tenant]);
      }
      expect(await runs.detail("one/run")).toBeUndefined();
      expect(runs.list(["acme/one/run", "nobody"]).runs).toHaveLength(1);
    });
  });
});

describe("rows of a log beside a recording", () => {
  it("are those of the log, and spans those of the recording", async () => {
    const audit = await audited("approval");
    const alone = await withRuns([recording("approval")], ALL, detailsOf);
    const logged = await withRuns([audit], ALL, detailsOf);
    for (const places of [
      [recording("approval"), audit],
      [audit, recording("approval")],
    ]) {
      await withRuns(places, ALL, async (runs) => {
        for (const [key, detail] of await detailsOf(runs)) {
          expect([detail.rows_from, detail.verdict?.state]).toEqual(["log", "intact"]);
          expect(detail.rows).toEqual(logged.get(key)?.rows);
          expect(detail.spans).toEqual(alone.get(key)?.spans);
          expect(detail.run).toEqual(alone.get(key)?.run);
        }
        expect(listOf(runs).runs).toHaveLength(alone.size);
      });
    }
  });
});

describe("what is written on the way", () => {
  const { TMPDIR } = process.env;
  const made = () => readdirSync(folder.path);

  beforeEach(() => {
    process.env.TMPDIR = folder.path;
  });
  afterEach(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });

  it("is the owner's alone, and gone after the end", async () => {
    // Others of this process may listen, too.
    const before = process.listeners("SIGHUP");
    const runs = await openSources([recording("success")], { ...ALL, follow: true }, silentIo());
    const path = folder.at(made()[0] ?? "");
    expect(statSync(path).mode & 0o777).toBe(0o700);
    await runs.ready();
    await Promise.all([runs.close(), runs.close()]);
    expect(existsSync(path)).toBe(false);
    expect(process.listeners("SIGHUP")).toEqual(before);
    const failing = openSources([recording("success"), "nowhere"], ALL, silentIo());
    await expect(failing).rejects.toThrow("no such file");
  });

  it("stays after a signal that others handle, until they close the runs", async () => {
    const heard: string[] = [];
    const listener = (signal: string) => void heard.push(signal);
    process.on("SIGHUP", listener);
    const runs = await openSources([recording("success")], ALL, silentIo());
    await runs.ready();
    expect(made()).toHaveLength(1);
    process.emit("SIGHUP", "SIGHUP");
    expect([made().length, heard]).toEqual([1, ["SIGHUP"]]);
    await runs.close();
    expect(made()).toEqual([]);
    process.off("SIGHUP", listener);
  });
});
