import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AuditSink } from "../../src/audit/audit-sink.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { type RowFilter, readRows } from "../../src/audit/verify/read-rows.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
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
