import { appendFile, mkdir, readdir, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AuditSink } from "../../src/audit/audit-sink.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { type RowFilter, readRows } from "../../src/audit/verify/read-rows.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import type { LogProblem } from "../../src/audit/verify/verify-report.ts";
import { entry, key, temporaryFolder } from "./support/entries.ts";

const UPPER = "018F3C7A-0000-7000-8000-00000000000A";
const LOWER = UPPER.toLowerCase();

let parent: string;

beforeAll(async () => {
  parent = await temporaryFolder();
});

afterAll(() => rm(parent, { recursive: true }));

async function runsOf(folder: string, filter: RowFilter): Promise<(string | null)[]> {
  const runs = [];
  for await (const { run_id } of readRows(folder, filter)) runs.push(run_id);
  return runs;
}

describe("the rows of a run", () => {
  it("are found by its UUID in any letters", async () => {
    const folder = join(parent, "letters");
    await using log = await NdjsonSessionLog.open(folder);
    const sink = new AuditSink({ log });
    await sink.recordResumed({ ...key, run_id: UPPER }, "checkpoint");
    // An application's own row stands as it was given.
    const last = await log.append(key, [entry("own", { run_id: UPPER }), entry("other")]);
    expect(await runsOf(folder, { run_id: UPPER })).toEqual([LOWER, UPPER]);
    expect(await runsOf(folder, { run_id: LOWER })).toEqual([LOWER]);
    expect(await runsOf(folder, { run_id: "R1" })).toEqual([]);
    const [first] = await log.loadSince(key, 0);
    const { hash = "", ordinal = 0 } = first ?? {};
    const against = [{ tenant_id: "acme", run_id: UPPER, ordinal, hash }];
    expect(last.ordinal).toBe(3);
    expect(await verifyLog(folder, { against })).toMatchObject({ ok: true, matchedSpans: 1 });
  });
});

describe("what is not there to be read", () => {
  /** A log of four segments with a row each. */
  async function fourSegments(name: string): Promise<string> {
    const folder = join(parent, name);
    const log = await NdjsonSessionLog.open(folder, { segmentBytes: 1024 });
    for (let n = 1; n <= 4; n += 1) {
      await log.append(key, [entry("x".repeat(1024), { event_id: `e${n}` })]);
    }
    await log.close();
    expect((await readdir(folder)).filter((each) => each.endsWith(".ndjson"))).toHaveLength(4);
    return folder;
  }

  async function read(folder: string): Promise<{ rows: number[]; problems: string[] }> {
    const problems: string[] = [];
    const rows: number[] = [];
    const onProblem = ({ file, line, problem }: LogProblem) =>
      problems.push(`${file}:${line}: ${problem}`);
    for await (const { ordinal } of readRows(folder, {}, { onProblem })) rows.push(ordinal);
    return { rows, problems };
  }

  it("is told: segments, also those of which only the index is left", async () => {
    const folder = await fourSegments("missing");
    await rm(join(folder, "segment-00000002.ndjson"));
    expect(await read(folder)).toEqual({
      rows: [1, 3, 4],
      problems: ["segment-00000002.ndjson:0: the segment is missing"],
    });
    await rm(join(folder, "segment-00000003.ndjson"));
    await rm(join(folder, "segment-00000004.ndjson"));
    expect(await read(folder)).toEqual({
      rows: [1],
      problems: ["segment-00000002.ndjson:0: missing, as all up to segment 3"],
    });
  });

  it("is told: the end of a segment that was cut, but not of the one being written", async () => {
    const folder = await fourSegments("cut");
    const first = join(folder, "segment-00000001.ndjson");
    const { size } = await stat(first);
    await truncate(first, size - 300);
    await appendFile(join(folder, "segment-00000004.ndjson"), '{"tenant_id":"ac');
    expect(await read(folder)).toEqual({
      rows: [2, 3, 4],
      problems: ["segment-00000001.ndjson:2: cut: the line has no end"],
    });
  });

  it("is told: a folder without a log", async () => {
    const folder = join(parent, "none");
    await mkdir(folder);
    expect(await read(folder)).toEqual({
      rows: [],
      problems: [`${folder}:0: there is no audit log here`],
    });
    await (await NdjsonSessionLog.open(folder)).close();
    expect(await read(folder)).toEqual({ rows: [], problems: [] });
  });
});
