import { cp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { readRows } from "../../src/audit/verify/read-rows.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { entry, temporaryFolder } from "./support/entries.ts";

/*
 * fixtures/version-1 was written by the last version of this package without close marks: three segments with four rows
 * each of two threads, the archive line of one, and the indexes of the sealed segments.
 */

const FIXTURE = join(import.meta.dirname, "fixtures", "version-1");
const key = { tenant_id: "acme", thread_id: "th-1" };
const LAST = "segment-00000003.ndjson";

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  await cp(FIXTURE, folder, { recursive: true });
});

afterEach(() => rm(folder, { recursive: true }));

async function texts(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of await readdir(folder)) {
    if (/ndjson$|index$/.test(name)) found.set(name, await readFile(join(folder, name), "utf8"));
  }
  return found;
}

describe("a log without marks", () => {
  it("is verified, and says that it has none, also when it is cut: that can't be told", async () => {
    expect(await verifyLog(folder)).toMatchObject({
      ok: true,
      end: "unmarked",
      rows: 8,
      threads: 2,
      commits: 5,
      segments: 3,
    });
    const size = (await readFile(join(folder, LAST))).length;
    for (let cut = size; cut >= 0; cut -= 1) {
      await truncate(join(folder, LAST), cut);
      expect(await verifyLog(folder), `cut at ${cut}`).toMatchObject({ ok: true, end: "unmarked" });
    }
  });

  it("is read, and stays as it is as long as nothing is written", async () => {
    const before = await texts();
    const log = await NdjsonSessionLog.open(folder);
    expect(log.recovery).toBeUndefined();
    expect(await log.loadSince(key, 0)).toHaveLength(4);
    expect(await log.loadSince({ ...key, thread_id: "th-2" }, 0)).toHaveLength(3);
    await log.close();
    expect(await texts()).toEqual(before);
    const ordinals = [];
    for await (const { ordinal } of readRows(folder, { thread_id: "th-2" })) ordinals.push(ordinal);
    expect(ordinals).toEqual([1, 2, 3, 4]);
  });

  it("goes on with an open mark in its last segment, the rows in one of the new version", async () => {
    const before = await texts();
    const log = await NdjsonSessionLog.open(folder);
    const sent = entry("on", { event_id: "th-1-e4" });
    // A row of before is known by its event.
    expect((await log.append(key, [sent])).ordinal).toBe(4);
    expect((await log.append(key, [entry("on")])).ordinal).toBe(5);
    expect((await verifyLog(folder)).end).toBe("open");
    await log.close();
    expect(await verifyLog(folder)).toMatchObject({
      ok: true,
      end: "closed",
      rows: 9,
      unclosedReopenings: 0,
    });
    const after = await texts();
    for (const [name, text] of before) {
      if (name !== LAST) expect(after.get(name)).toBe(text);
    }
    const old = after.get(LAST) ?? "";
    expect(old.startsWith(before.get(LAST) ?? "-")).toBe(true);
    expect(old.slice(before.get(LAST)?.length)).toMatch(
      /^\{"commit":6,"rows":0,"mark":"open","hash":"[0-9a-f]{64}"\}\n$/,
    );
    // What an older version looks at before it writes: it refuses this one.
    expect(after.get("segment-00000004.ndjson")).toMatch(/^\{"segment":4,"version":2,/);
    await rm(join(folder, "segment-00000004.ndjson"));
    expect(await verifyLog(folder)).toMatchObject({ ok: true, end: "unclosed" });
  });

  it("seems closed, once it is continued, after no cut but behind a close mark", async () => {
    const log = await NdjsonSessionLog.open(folder);
    await log.append(key, [entry("on")]);
    await log.close();
    const newest = join(folder, "segment-00000004.ndjson");
    const size = (await readFile(newest)).length;
    for (let cut = size; cut >= 0; cut -= 1) {
      await truncate(newest, cut);
      const { end, ok } = await verifyLog(folder);
      expect([ok, end], `cut at ${cut}`).toEqual([true, cut === size ? "closed" : "unclosed"]);
    }
  });

  it("gets over a crash of its old writer", async () => {
    const text = await readFile(join(folder, LAST), "utf8");
    const commit = text.lastIndexOf('{"commit"');
    await writeFile(join(folder, LAST), `${text.slice(0, commit)}{"com`);
    const log = await NdjsonSessionLog.open(folder);
    expect(log.recovery).toMatchObject({ recoveredRows: 1, torn: { bytes: 5 } });
    await log.close();
    expect(await verifyLog(folder)).toMatchObject({ ok: true, end: "unmarked", rows: 8 });
    const again = await NdjsonSessionLog.open(folder);
    expect((await again.append(key, [entry("on")])).ordinal).toBe(5);
    await again.close();
    expect(await verifyLog(folder)).toMatchObject({ ok: true, end: "closed", rows: 9 });
  });
});
