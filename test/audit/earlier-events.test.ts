import { describe, expect, it } from "vitest";
import { namedThread, type RowAnchor } from "../../src/audit/audit-row.ts";
import { EarlierEvents } from "../../src/audit/ndjson/earlier-events.ts";
import { EventCache } from "../../src/audit/ndjson/event-cache.ts";
import type { NdjsonSessionLogOptions } from "../../src/audit/ndjson/ndjson-options.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { logPaths, SegmentStore } from "../../src/audit/ndjson/segment-store.ts";
import { ThreadTable } from "../../src/audit/ndjson/thread-table.ts";
import { encodeEntries } from "../../src/audit/row-text.ts";
import type { FileLayer } from "../../src/audit/storage/file-layer.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { failingDisk } from "./storage/support/failing-disk.ts";
import { MemoryDisk, seeded } from "./storage/support/memory-disk.ts";
import { entry, key } from "./support/entries.ts";

const other = { ...key, thread_id: "t2" };
const event = (n: number) => entry(`x${n}`, { event_id: `e${n}` });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

function open(files: FileLayer, options: NdjsonSessionLogOptions = {}): Promise<NdjsonSessionLog> {
  return NdjsonSessionLog.open("/log", {
    files,
    segmentBytes: 2048,
    eventIds: 5,
    lookUpBytes: 1_000_000,
    ...options,
  });
}

/** Rows 1 to `count` of one thread, in many segments. */
async function filled(files: FileLayer, count: number): Promise<readonly RowAnchor[]> {
  const log = await open(files);
  const places: RowAnchor[] = [];
  for (const n of numbers(count)) places.push(await log.append(key, [event(n)]));
  await log.close();
  return places;
}

async function edit(files: FileLayer, name: string, change: (text: string) => string) {
  const file = await files.open(`/log/${name}`, "update");
  if (file === undefined) throw new Error(`${name}: no such file`);
  const bytes = Buffer.alloc(await file.size());
  await file.read(bytes, 0);
  const changed = Buffer.from(change(bytes.toString("utf8")));
  await file.truncate(0);
  for (let at = 0; at < changed.length; ) at += await file.write(changed.subarray(at), at);
  await file.close();
}

describe("events of sealed segments", () => {
  it("are known however long ago, also after a restart, and new ones are new", async () => {
    const files = new MemoryDisk(seeded(1)).layer();
    const places = await filled(files, 60);
    const log = await open(files);
    expect(await Promise.all(numbers(60).map((n) => log.append(key, [event(n)])))).toEqual(places);
    expect((await log.append(key, [event(3), event(61), event(4)])).ordinal).toBe(61);
    // What is known by its thread: in another thread it is another event.
    expect((await log.append(other, [event(3)])).ordinal).toBe(1);
    expect((await log.append(other, [event(3)])).ordinal).toBe(1);
    expect(log.unsearched).toBe(0);
    await log.close();
    expect(await verifyLog("/log", { files })).toMatchObject({ ok: true, rows: 62 });
  });

  it("are forgotten where no memory is given for them", async () => {
    const files = new MemoryDisk(seeded(1)).layer();
    await filled(files, 60);
    const log = await open(files, { lookUpBytes: 0 });
    expect((await log.append(key, [event(3)])).ordinal).toBe(61);
    await log.close();
  });

  it("are known while segments are sealed, by appends that wait at a time", async () => {
    const files = new MemoryDisk(seeded(1)).layer();
    const log = await open(files);
    const appends = numbers(400).map((n) => log.append(key, [event(1 + (n % 150)), event(n)]));
    const places = await Promise.all(appends);
    const again = numbers(400).map((n) => log.append(key, [event(n)]));
    expect(new Set((await Promise.all(again)).map(({ ordinal }) => ordinal)).size).toBe(400);
    expect(Math.max(...places.map(({ ordinal }) => ordinal))).toBe(400);
    await log.close();
    expect(await verifyLog("/log", { files })).toMatchObject({ ok: true, rows: 400 });
  });

  it("are known without indexes, in the archive, and once their payload is erased", async () => {
    const files = new MemoryDisk(seeded(1)).layer();
    const places = await filled(files, 60);
    let log = await open(files);
    await log.archiveBefore(key, 20);
    await log.close();
    expect(await files.list("/log/archive")).toContain("segment-00000001.ndjson");
    for (const name of await files.list("/log")) {
      if (name.endsWith(".index")) await edit(files, name, () => "");
    }
    const left = '"event":{"erased":true,"kind":"tool_call","timestamp":""}}';
    await edit(files, "archive/segment-00000001.ndjson", (text) =>
      text.replaceAll(/"event":\{.*\}/g, left),
    );
    log = await open(files);
    expect(await Promise.all(numbers(60).map((n) => log.append(key, [event(n)])))).toEqual(places);
    await log.close();
    const report = await verifyLog("/log", { files });
    expect([report.ok, report.rows, report.erasedRows > 0]).toEqual([true, 60, true]);
  });

  it("are not believed of a row that was edited", async () => {
    const files = new MemoryDisk(seeded(1)).layer();
    await filled(files, 60);
    await edit(files, "segment-00000001.ndjson", (text) =>
      text.replace('"event_id":"e1"', '"event_id":"e999"'),
    );
    const log = await open(files);
    expect((await log.append(key, [event(999)])).ordinal).toBe(61);
    expect((await log.append(key, [event(2)])).ordinal).toBe(2);
    await log.close();
  });

  it("that there was no room to look for are counted when they are taken for new", async () => {
    const files = new MemoryDisk(seeded(1)).layer();
    await filled(files, 60);
    const log = await open(files, { lookUpBytes: 700 });
    // The last segments are searched all the same, and what was written since is known.
    expect((await log.append(key, [event(57)])).ordinal).toBe(57);
    expect(log.unsearched).toBe(0);
    expect((await log.append(key, [event(1), event(61)])).ordinal).toBe(62);
    expect(log.unsearched).toBe(2);
    expect((await log.append(key, [event(1)])).ordinal).toBe(61);
    expect(log.unsearched).toBe(2);
    await log.close();
  });

  it("that may stand in an archive taken elsewhere are counted when they are taken for new", async () => {
    const files = new MemoryDisk(seeded(1)).layer();
    await filled(files, 60);
    let log = await open(files);
    await log.archiveBefore(key, 20);
    await log.close();
    for (const name of await files.list("/log/archive")) {
      await files.rename(`/log/archive/${name}`, `/elsewhere/${name}`);
    }
    log = await open(files);
    expect((await log.append(key, [event(57)])).ordinal).toBe(57);
    expect(log.unsearched).toBe(0);
    expect((await log.append(key, [event(1), event(2)])).ordinal).toBe(62);
    expect(log.unsearched).toBe(2);
    // A thread that has no row there is not meant.
    expect((await log.append(other, [event(1)])).ordinal).toBe(1);
    expect(log.unsearched).toBe(2);
    await log.close();
  });

  it("that can't be read cost the append, and nothing once the disk works again", async () => {
    const { faults, layer } = failingDisk(new MemoryDisk(seeded(1)).layer());
    const places = await filled(layer, 60);
    const log = await open(layer);
    faults.failingReads = 1000;
    const failed = [log.append(key, [event(1)]), log.append(key, [event(70)])];
    expect((await Promise.allSettled(failed)).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
    ]);
    faults.failingReads = 0;
    expect(await log.append(key, [event(1)])).toEqual(places[0]);
    expect((await log.append(key, [event(70)])).ordinal).toBe(61);
    await log.close();
  });

  it("are not taken for stored when the write that they wait in fails", async () => {
    const { faults, layer } = failingDisk(new MemoryDisk(seeded(1)).layer());
    await filled(layer, 60);
    const log = await open(layer);
    faults.room = 0;
    const both = [log.append(key, [event(61)]), log.append(key, [event(61)])];
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
    ]);
    faults.room = Number.POSITIVE_INFINITY;
    expect((await log.append(key, [event(61)])).ordinal).toBe(61);
    await log.close();
    expect(await verifyLog("/log", { files: layer })).toMatchObject({ ok: true, rows: 61 });
  });
});

describe("a search for earlier events", () => {
  it("has the rows that the cache forgets before the caller goes on", async () => {
    const store = new SegmentStore(new MemoryDisk(seeded(1)).layer(), logPaths("/log"));
    const active = { threads: new Map(), rows: 0 };
    const table = new ThreadTable({ store, sealed: [], active, heads: 1, onError: () => {} });
    const events = new EventCache(1, true);
    const earlier = new EarlierEvents({ store, table, events, maxBytes: 1_000_000 });
    const thread = namedThread(key);
    const [stored, queued] = encodeEntries([event(1), event(2)], thread);
    const [row, waiting] = [1, 2].map((ordinal) => ({ ordinal, hash: `${ordinal}` }));
    if (stored?.event_name == null || queued?.event_name == null) throw new Error("no names");
    if (row === undefined || waiting === undefined) throw new Error("no rows");
    events.stored(stored.event_name, row);
    events.queued(queued.event_name, waiting);
    const found = earlier.search(thread, [stored, queued]);
    events.sealed();
    events.sealed();
    expect(events.anchorOf(stored.event_name)).toBeUndefined();
    // A queued row may fail, so it is not one that is stored.
    expect(await found).toEqual(new Map([[stored.event_name, row]]));
  });
});
