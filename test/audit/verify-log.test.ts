import { appendFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditRow, RowAnchor } from "../../src/audit/audit-row.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { rowAfter, sha256 } from "../../src/audit/row-text.ts";
import { readRows } from "../../src/audit/verify/read-rows.ts";
import type { SpanAnchor } from "../../src/audit/verify/span-anchors.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import type { LogProblem } from "../../src/audit/verify/verify-report.ts";
import { entry, temporaryFolder } from "./support/entries.ts";

let parent: string;
let original: string;
let copies = 0;
/** The last row of each run, as its span has it. */
const spans: SpanAnchor[] = [];

const SEGMENT = "segment-00000001.ndjson";
const NOT_THOSE = "are not those it was made over";

beforeAll(async () => {
  parent = await temporaryFolder();
  original = join(parent, "original");
  const log = await NdjsonSessionLog.open(original, { segmentBytes: 6000 });
  for (let n = 1; n <= 8; n += 1) {
    const calls: Promise<RowAnchor>[] = [];
    for (const thread_id of ["t1", "t2"]) {
      const key = { tenant_id: "acme", thread_id };
      calls.push(log.append(key, [entry(`${thread_id}-${n}`, { run_id: `${thread_id}-r${n}` })]));
    }
    for (const [index, place] of (await Promise.all(calls)).entries()) {
      spans.push({ tenant_id: "acme", run_id: `t${index + 1}-r${n}`, ...place });
    }
  }
  await log.append({ tenant_id: "acme", thread_id: "once" }, [entry("only", { run_id: "once" })]);
  await log.close();
  const segments = (await readdir(original)).filter((name) => name.endsWith(".ndjson"));
  expect(segments).toHaveLength(2);
});

afterAll(() => rm(parent, { recursive: true }));

/** A copy of the log with some lines of its first segment changed. */
async function tampered(change: (lines: string[]) => void, name = SEGMENT): Promise<string> {
  copies += 1;
  const copy = join(parent, `copy-${copies}`);
  await cp(original, copy, { recursive: true, filter: (path) => !/(sock|lock)-/.test(path) });
  const path = join(copy, name);
  const lines = (await readFile(path, "utf8")).split("\n");
  change(lines);
  await writeFile(path, lines.join("\n"));
  return copy;
}

async function problemsOf(folder: string): Promise<readonly LogProblem[]> {
  const told: LogProblem[] = [];
  const report = await verifyLog(folder, { onProblem: (problem) => told.push(problem) });
  expect(report.problems).toEqual(told);
  expect(report.problemCount).toBe(told.length);
  expect(report.ok).toBe(told.length === 0);
  return report.problems;
}

function at(lines: readonly string[], thread: string, ordinal: number): number {
  const index = lines.findIndex((line) =>
    line.includes(`"thread_id":"${thread}","ordinal":${ordinal},`),
  );
  if (index < 0) throw new Error(`no row ${ordinal} of ${thread}`);
  return index;
}

function lineAt(lines: readonly string[], index: number): string {
  return lines[index] ?? "";
}

describe("verifyLog", () => {
  it("finds nothing in a log as it was written, also against its spans", async () => {
    expect(await verifyLog(original, { against: spans })).toEqual({
      ok: true,
      end: "closed",
      segments: 2,
      rows: 17,
      threads: 3,
      commits: 9,
      recoveredCommits: 0,
      unclosedReopenings: 0,
      erasedRows: 0,
      uncommittedLines: 0,
      tornBytes: 0,
      tornFiles: [],
      matchedSpans: 16,
      problemCount: 0,
      problems: [],
    });
  });

  it("finds an edited event", async () => {
    const copy = await tampered((lines) => {
      const index = at(lines, "t1", 3);
      lines[index] = lineAt(lines, index).replace("t1-3", "t1-X");
    });
    expect(await problemsOf(copy)).toEqual([
      {
        file: SEGMENT,
        line: 8,
        tenant_id: "acme",
        thread_id: "t1",
        ordinal: 3,
        problem: "edited: the event is not the one the row's digest was made of",
      },
    ]);
  });

  it.each([
    ["run_id", '"run_id":"t1-r3"', '"run_id":"t1-r9"'],
    ["event_id", '"event_id":null', '"event_id":"e"'],
    ["trace_id", '"trace_id":null', '"trace_id":"00"'],
    ["span_id", '"span_id":null', '"span_id":"00"'],
    ["ordinal", '"ordinal":3', '"ordinal":13'],
    ["thread", '"thread_id":"t1"', '"thread_id":"t3"'],
    ["tenant", '"tenant_id":"acme"', '"tenant_id":"evil"'],
    ["a field of the same name twice", '"run_id":"t1-r3"', '"run_id":"x","run_id":"t1-r3"'],
    ["white space", ',"event":{"kind"', ',"event": {"kind"'],
    ["an escape that reads the same", '"run_id":"t1-r3"', '"run_id":"t1\\u002dr3"'],
  ])("finds an edited row: %s", async (_, from, to) => {
    const copy = await tampered((lines) => {
      const index = at(lines, "t1", 3);
      expect(lineAt(lines, index)).toContain(from);
      lines[index] = lineAt(lines, index).replace(from, to);
    });
    const problems = await problemsOf(copy);
    expect(problems[0]).toMatchObject({ file: SEGMENT, line: 8 });
    expect(problems[0]?.problem).toMatch(/^edited: /);
  });

  it("finds a row edited together with its own hash", async () => {
    const copy = await tampered((lines) => {
      const index = at(lines, "t1", 3);
      lines[index] = forged(lineAt(lines, index), "forged");
    });
    expect(
      (await problemsOf(copy)).map(({ line, ordinal, problem }) => [line, ordinal, problem]),
    ).toEqual([
      [10, undefined, `the 2 lines before commit 3 ${NOT_THOSE}`],
      [11, 4, "row 3 of the thread is not the one this row was written behind: it was changed"],
    ]);
  });

  it("finds the last row of a thread edited together with its own hash", async () => {
    const copy = await tampered((lines) => {
      const index = at(lines, "once", 1);
      lines[index] = forged(lineAt(lines, index), "forged");
    }, "segment-00000002.ndjson");
    const problems = await problemsOf(copy);
    expect(problems.map(({ problem }) => problem)).toEqual([
      `the 1 lines before commit 9 ${NOT_THOSE}`,
    ]);
  });

  it("finds two rows swapped, of one thread and of two", async () => {
    const same = await tampered((lines) => swap(lines, at(lines, "t1", 3), at(lines, "t1", 4)));
    expect((await problemsOf(same)).map(({ problem }) => problem)).toEqual([
      "row 3 of the thread is missing before this row",
      `the 2 lines before commit 3 ${NOT_THOSE}`,
      "row 3 stands behind row 4: moved, inserted or there twice",
      `the 2 lines before commit 4 ${NOT_THOSE}`,
    ]);
    const two = await tampered((lines) => swap(lines, at(lines, "t1", 3), at(lines, "t2", 3)));
    expect((await problemsOf(two)).map(({ problem }) => problem)).toEqual([
      `the 2 lines before commit 3 ${NOT_THOSE}`,
    ]);
  });

  it("finds deleted rows, also the last of a thread and a whole thread", async () => {
    const middle = await tampered((lines) => lines.splice(at(lines, "t1", 3), 1));
    expect((await problemsOf(middle)).map(({ line, problem }) => [line, problem])).toEqual([
      [9, "commit 3 was made over 2 lines, here are 1"],
      [10, "row 3 of the thread is missing before this row"],
    ]);
    const last = await tampered(
      (lines) => lines.splice(at(lines, "t2", 8), 1),
      "segment-00000002.ndjson",
    );
    expect((await problemsOf(last)).map(({ problem }) => problem)).toEqual([
      "commit 8 was made over 2 lines, here are 1",
    ]);
    const whole = await tampered(
      (lines) => lines.splice(at(lines, "once", 1), 1),
      "segment-00000002.ndjson",
    );
    expect((await problemsOf(whole)).map(({ problem }) => problem)).toEqual([
      "commit 9 was made over 1 lines, here are 0",
    ]);
    const withCommit = await tampered((lines) => lines.splice(at(lines, "t1", 3), 3));
    expect((await problemsOf(withCommit)).map(({ problem }) => problem)).toEqual([
      "row 3 of the thread is missing before this row",
      "row 3 of the thread is missing before this row",
      `the 2 lines before commit 4 ${NOT_THOSE}`,
    ]);
  });

  it("finds a row that is there twice, and one that was inserted", async () => {
    const twice = await tampered((lines) => {
      const index = at(lines, "t1", 3);
      lines.splice(index, 0, lineAt(lines, index));
    });
    expect((await problemsOf(twice)).map(({ line, problem }) => [line, problem])).toEqual([
      [9, "row 3 stands behind row 3: moved, inserted or there twice"],
      [11, "commit 3 was made over 2 lines, here are 3"],
    ]);
    const inserted = await tampered((lines) => {
      const key = { tenant_id: "acme", thread_id: "ghost" };
      const event = '{"kind":"cancelled","reason":"x","timestamp":"2026-04-29T12:00:00Z"}';
      const attributes = { run_id: null, event_id: null, trace_id: null, span_id: null };
      const head = { ordinal: 0, hash: "0".repeat(64) };
      const { text } = rowAfter(head, key, { ...attributes, digest: sha256(event) });
      lines.splice(at(lines, "t1", 3), 0, `${text}${event}}`);
    });
    expect((await problemsOf(inserted)).map(({ line, problem }) => [line, problem])).toEqual([
      [11, "commit 3 was made over 2 lines, here are 3"],
    ]);
  });

  it("finds lines that cannot be read", async () => {
    for (const [line, problem] of [
      ["", "not a JSON object"],
      ["garbage", "not a JSON object"],
      ['{"hello":1}', "no line of an audit log of this version"],
      ['{"tenant_id":"acme"}', "no row: the line is not whole"],
      ['{"tenant_id":"acme","event":{}}', "no row: a field is missing or has the wrong type"],
    ] as const) {
      const copy = await tampered((lines) => lines.splice(5, 0, line));
      expect(await problemsOf(copy)).toEqual([{ file: SEGMENT, line: 6, problem }]);
    }
    const binary = await tampered(() => {});
    const bytes = await readFile(join(binary, SEGMENT));
    const name = bytes.indexOf("t1-3");
    bytes[name] = 0xff;
    await writeFile(join(binary, SEGMENT), bytes);
    expect((await problemsOf(binary))[0]).toEqual({ file: SEGMENT, line: 8, problem: "not UTF-8" });
  });

  it("finds a cut in a sealed segment, and segments that are missing or out of place", async () => {
    const cut = await tampered((lines) => lines.splice(-2, 2));
    const places = (await problemsOf(cut)).map(({ file, line }) => `${file}:${line}`);
    const next = "segment-00000002.ndjson";
    expect(places).toEqual([`${SEGMENT}:21`, `${SEGMENT}:21`, `${next}:1`, `${next}:3`]);
    const clean = await tampered((lines) => lines.splice(-4, 3));
    expect((await problemsOf(clean))[0]).toEqual({
      file: "segment-00000002.ndjson",
      line: 1,
      problem: "what was written up to commit 7, before this segment, is changed",
    });
    const missing = await tampered(() => {});
    await rm(join(missing, SEGMENT));
    expect((await problemsOf(missing))[0]).toEqual({
      file: SEGMENT,
      line: 0,
      problem: "the segment is missing",
    });
    const swapped = await tampered(() => {});
    await rename(join(swapped, SEGMENT), join(swapped, "x"));
    await rename(join(swapped, "segment-00000002.ndjson"), join(swapped, SEGMENT));
    await rename(join(swapped, "x"), join(swapped, "segment-00000002.ndjson"));
    expect((await problemsOf(swapped))[0]).toMatchObject({
      problem: "the header is that of segment 2",
    });
    const twice = await tampered(() => {});
    await mkdir(join(twice, "archive"));
    await cp(join(twice, SEGMENT), join(twice, "archive", SEGMENT));
    expect(await problemsOf(twice)).toEqual([
      {
        file: SEGMENT,
        line: 0,
        problem: "the segment is there twice, in its place and in the archive",
      },
    ]);
  });

  it("finds an edited commit, header or archive line", async () => {
    const commit = await tampered((lines) => {
      lines[3] = lineAt(lines, 3).replace('"commit":1', '"commit":2');
    });
    expect((await problemsOf(commit))[0]).toMatchObject({ line: 4 });
    const count = await tampered((lines) => {
      lines[3] = lineAt(lines, 3).replace('"rows":2', '"rows":3');
    });
    expect(await problemsOf(count)).toEqual([
      { file: SEGMENT, line: 4, problem: "edited: commit 1 covers 2 lines and says 3" },
    ]);
    const header = await tampered((lines) => {
      lines[0] = lineAt(lines, 0).replace('"commit":0', '"commit":0,"by":"x"');
    });
    expect((await problemsOf(header))[0]).toEqual({
      file: SEGMENT,
      line: 1,
      problem: "the segment does not begin with its header",
    });
    const folder = join(parent, "archived");
    const log = await NdjsonSessionLog.open(folder);
    const key = { tenant_id: "acme", thread_id: "t1" };
    await log.append(key, [entry("a"), entry("b")]);
    await log.archiveBefore(key, 1);
    await log.close();
    expect(await problemsOf(folder)).toEqual([]);
    const path = join(folder, SEGMENT);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace('"watermark":1', '"watermark":2'));
    expect((await problemsOf(folder))[0]).toMatchObject({
      line: 5,
      problem: "edited: not written as this log writes it",
    });
  });

  it("says of a clean cut at the end that the log is not closed; the spans say what is missing", async () => {
    const copy = await tampered((lines) => lines.splice(-7, 6), "segment-00000002.ndjson");
    expect(await verifyLog(copy)).toMatchObject({ end: "unclosed", problems: [] });
    const report = await verifyLog(copy, { against: spans });
    expect(report.problems).toEqual([
      {
        file: "spans",
        line: 15,
        tenant_id: "acme",
        ordinal: 8,
        problem: "row 8 of run t1-r8 is missing: a span names it, the log has no such row",
      },
      {
        file: "spans",
        line: 16,
        tenant_id: "acme",
        ordinal: 8,
        problem: "row 8 of run t2-r8 is missing: a span names it, the log has no such row",
      },
    ]);
    expect(report.matchedSpans).toBe(14);
  });

  it("finds a log rewritten from end to end against its spans", async () => {
    const folder = join(parent, "rewritten");
    const log = await NdjsonSessionLog.open(folder);
    for (let n = 1; n <= 8; n += 1) {
      for (const thread_id of ["t1", "t2"]) {
        const name = n === 8 && thread_id === "t1" ? "forged" : `${thread_id}-${n}`;
        const run_id = `${thread_id}-r${n}`;
        await log.append({ tenant_id: "acme", thread_id }, [entry(name, { run_id })]);
      }
    }
    await log.close();
    expect(await problemsOf(folder)).toEqual([]);
    async function* given() {
      yield* spans;
    }
    const { problems } = await verifyLog(folder, { against: given() });
    expect(problems).toEqual([
      {
        file: "spans",
        line: 15,
        tenant_id: "acme",
        ordinal: 8,
        problem: `row 8 of run t1-r8 has another hash than its span says (${SEGMENT}:30)`,
      },
    ]);
  });

  it("counts an erased payload and checks the chain around it", async () => {
    const erased = '{"erased":true,"kind":"tool_call","timestamp":"2026-04-29T12:00:00Z"}';
    const copy = await tampered((lines) => {
      const index = at(lines, "t1", 3);
      lines[index] = lineAt(lines, index).replace(/"event":.*$/, `"event":${erased}}`);
    });
    const report = await verifyLog(copy, { against: spans });
    expect(report).toMatchObject({ ok: true, erasedRows: 1, rows: 17, matchedSpans: 16 });
    const log = await NdjsonSessionLog.open(copy);
    const row = (await log.loadSince({ tenant_id: "acme", thread_id: "t1" }, 2))[0];
    expect(row?.event).toEqual(JSON.parse(erased));
    expect((await log.append({ tenant_id: "acme", thread_id: "t1" }, [entry("on")])).ordinal).toBe(
      9,
    );
    await log.close();
    for (const wrong of [
      '{"erased":true}',
      `${erased.slice(0, -1)},"input":1}`,
      // What is left of the first member is read by nobody, and is there.
      `{"kind":"what was said",${erased.slice(1)}`,
      '{"erased":false}',
    ]) {
      const other = await tampered((lines) => {
        const index = at(lines, "t1", 3);
        lines[index] = lineAt(lines, index).replace(/"event":.*$/, `"event":${wrong}}`);
      });
      expect((await problemsOf(other))[0]?.problem).toMatch(/^edited: the event is not the one/);
    }
  });

  it("runs beside the writer, whose unfinished end is no problem", async () => {
    const folder = join(parent, "busy");
    const log = await NdjsonSessionLog.open(folder, { segmentBytes: 4096 });
    const key = { tenant_id: "acme", thread_id: "t1" };
    let appends = 0;
    let running = true;
    const writer = (async () => {
      while (running) {
        await log.append(key, [entry(`n${appends}`), entry("x")]);
        appends += 1;
      }
    })();
    for (let n = 0; n < 15; n += 1) expect(await problemsOf(folder)).toEqual([]);
    running = false;
    await writer;
    await log.close();
    expect((await verifyLog(folder)).rows).toBe(appends * 2);
    await appendFile(
      join(folder, (await readdir(folder)).filter((n) => n.endsWith(".ndjson")).at(-1) ?? ""),
      '{"ten',
    );
    expect(await verifyLog(folder)).toMatchObject({ ok: true, tornBytes: 5 });
  });

  it("lists as many problems as wanted and counts all", async () => {
    const copy = await tampered((lines) => {
      for (let n = 0; n < 50; n += 1) lines.splice(1, 0, "x");
    });
    const report = await verifyLog(copy, { maxProblems: 3 });
    expect(report.problems).toHaveLength(3);
    expect(report.problemCount).toBe(50);
  });

  it("says when there is no log", async () => {
    expect((await verifyLog(join(parent, "nowhere"))).problems).toEqual([
      { file: join(parent, "nowhere"), line: 0, problem: "there is no audit log here" },
    ]);
  });
});

describe("readRows", () => {
  async function collect(rows: AsyncIterable<AuditRow>): Promise<string[]> {
    const names: string[] = [];
    for await (const { event } of rows) names.push("name" in event ? String(event.name) : "");
    return names;
  }

  it("gives the rows in the order they were written, all or those wanted", async () => {
    const all = await collect(readRows(original));
    expect(all).toHaveLength(17);
    expect(all.slice(0, 4)).toEqual(["t1-1", "t2-1", "t1-2", "t2-2"]);
    expect(await collect(readRows(original, { thread_id: "t2" }))).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `t2-${n}`),
    );
    expect(await collect(readRows(original, { tenant_id: "acme", run_id: "t1-r7" }))).toEqual([
      "t1-7",
    ]);
    expect(await collect(readRows(original, { tenant_id: "other" }))).toEqual([]);
    expect(await collect(readRows(original, { event_id: "e" }))).toEqual([]);
    expect(await collect(readRows(original, { trace_id: "e" }))).toEqual([]);
  });

  it("passes damaged lines over and tells of them", async () => {
    const copy = await tampered((lines) => {
      lines[1] = lineAt(lines, 1).replace("t1-1", "t1-X");
    });
    const told: LogProblem[] = [];
    const rows = await collect(readRows(copy, {}, { onProblem: (problem) => told.push(problem) }));
    expect(rows).toHaveLength(16);
    expect(told.map(({ file, line }) => [file, line])).toEqual([[SEGMENT, 2]]);
  });
});

/** The row with another event, its digest and hash made anew. */
function forged(line: string, name: string): string {
  const row = JSON.parse(line);
  const event = JSON.stringify({ ...row.event, name });
  const attributes = { ...row, digest: sha256(event) };
  const { text } = rowAfter({ ordinal: row.ordinal - 1, hash: row.prev }, row, attributes);
  return `${text}${event}}`;
}

function swap(lines: string[], a: number, b: number): void {
  const first = lineAt(lines, a);
  lines[a] = lineAt(lines, b);
  lines[b] = first;
}
