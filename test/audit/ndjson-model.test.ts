import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AuditRow } from "../../src/audit/audit-row.ts";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import type { Durability } from "../../src/audit/ndjson/ndjson-options.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { runs } from "../support/runs.ts";
import { MemoryDisk, seeded } from "./storage/support/memory-disk.ts";
import { entries, entry, key } from "./support/entries.ts";

const thread = fc.record({
  tenant_id: fc.constantFrom("a", "ab"),
  thread_id: fc.constantFrom("t", "bt", "u\u0000", "ü"),
});

const step = fc.oneof(
  fc.record({
    type: fc.constant("append" as const),
    thread,
    texts: fc.array(fc.string({ unit: "binary", maxLength: 300 }), { maxLength: 4 }),
    ids: fc.array(fc.option(fc.nat(30), { nil: undefined }), { minLength: 4, maxLength: 4 }),
  }),
  fc.record({ type: fc.constant("archive" as const), thread, watermark: fc.nat(12) }),
  fc.record({ type: fc.constant("load" as const), thread, cursor: fc.nat(6) }),
  fc.record({ type: fc.constant("settle" as const) }),
  fc.record({ type: fc.constant("reopen" as const) }),
);

function textsOf(rows: readonly AuditRow[]): string[] {
  return rows.map(({ event_text, hash, ordinal }) => `${ordinal} ${hash} ${event_text}`);
}

describe("NdjsonSessionLog", () => {
  it("answers as a log in memory does, through any rotations and reopenings", async () => {
    const plan = fc.record({
      steps: fc.array(step, { maxLength: 60 }),
      durability: fc.constantFrom<Durability>("none", "batch", "each"),
      segmentBytes: fc.constantFrom(1024, 3000, 1_000_000),
      heads: fc.constantFrom(1, 1000),
      lookUpBytes: fc.constantFrom(0, 1_000_000),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ durability, heads, lookUpBytes, segmentBytes, steps }) => {
        const disk = new MemoryDisk(seeded(steps.length));
        const options = { durability, heads, lookUpBytes, segmentBytes, files: disk.layer() };
        const model = new MemorySessionLog();
        let log = await NdjsonSessionLog.open("/log", options);
        let open: Promise<void>[] = [];
        const settle = async () => {
          await Promise.all(open);
          open = [];
        };
        const same = async (mine: Promise<unknown>, its: Promise<unknown>) => {
          expect(await mine).toEqual(await its);
        };
        for (const each of steps) {
          switch (each.type) {
            case "append": {
              const added = each.texts.map((text, n) => {
                const id = each.ids[n];
                return entry(text, id === undefined ? {} : { event_id: `e${id}` });
              });
              open.push(same(log.append(each.thread, added), model.append(each.thread, added)));
              break;
            }
            case "archive": {
              // How many rows an overlapping archive call finds depends on when it comes.
              await settle();
              const { thread: of, watermark } = each;
              await same(log.archiveBefore(of, watermark), model.archiveBefore(of, watermark));
              break;
            }
            case "load": {
              await settle();
              const mine = await log.loadSince(each.thread, each.cursor);
              const its = await model.loadSince(each.thread, each.cursor);
              expect(textsOf(mine)).toEqual(textsOf(its));
              break;
            }
            case "settle":
              await settle();
              break;
            case "reopen":
              await settle();
              await log.close();
              log = await NdjsonSessionLog.open("/log", options);
              expect(log.recovery).toBeUndefined();
              break;
          }
        }
        await settle();
        await log.close();
        if (steps.length === 0) return;
        const report = await verifyLog("/log", { files: disk.layer() });
        expect(report.problems).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
  });

  it("says how it ends after any openings, closings and kills of its writers", async () => {
    const act = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom("append" as const, "probe" as const) },
      { weight: 1, arbitrary: fc.constant("archive" as const) },
      { weight: 2, arbitrary: fc.constantFrom("close" as const, "kill" as const) },
      { weight: 1, arbitrary: fc.constant("kill while writing" as const) },
    );
    const plan = fc.record({
      acts: fc.array(act, { maxLength: 40 }),
      durability: fc.constantFrom<Durability>("none", "batch", "each"),
      segmentBytes: fc.constantFrom(1024, 3000, 1_000_000),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ acts, durability, segmentBytes }) => {
        const disk = new MemoryDisk(seeded(acts.length));
        const options = () => ({ durability, segmentBytes, files: disk.layer() });
        const report = () => verifyLog("/log", { files: disk.layer() });
        let log = await NdjsonSessionLog.open("/log", options());
        // A new log says that it is open by its first header.
        let announced = true;
        let open = true;
        let halfOpen = false;
        let reopenings = 0;
        let rows = 0;
        const writes = () => {
          if (!announced && open) reopenings += 1;
          announced = true;
          open = true;
        };
        for (const each of acts) {
          switch (each) {
            case "append":
              writes();
              rows += 1;
              await log.append(key, entries(1, `r${rows}-`));
              break;
            case "probe":
              writes();
              await log.append(key, []);
              break;
            case "archive":
              if ((await log.archiveBefore(key, Math.max(0, rows - 2))) > 0) writes();
              break;
            case "close":
              if (open) writes();
              await log.close();
              open = false;
              expect(await report()).toMatchObject({ ok: true, end: "closed" });
              break;
            case "kill":
              disk.kill();
              expect(await report()).toMatchObject({ ok: true, end: open ? "unclosed" : "closed" });
              break;
            case "kill while writing": {
              const wasClosed = !open;
              const lost = log.append(key, entries(3, "lost"));
              for (let n = rows % 7; n > 0; n -= 1) await Promise.resolve();
              disk.kill();
              await lost.catch(() => {});
              const left = await report();
              expect(left.ok).toBe(true);
              expect([open, left.end]).not.toEqual([true, "closed"]);
              ({ rows } = left);
              reopenings = left.unclosedReopenings;
              open = left.end !== "closed";
              // Half an open mark behind a close mark is cut off when the log is opened: it is closed again.
              halfOpen = wasClosed && left.tornBytes > 0;
              break;
            }
          }
          if (each === "close" || each.startsWith("kill")) {
            log = await NdjsonSessionLog.open("/log", options());
            announced = false;
            if (halfOpen) open = (await report()).end !== "closed";
            halfOpen = false;
          }
          expect(await report()).toMatchObject({
            problems: [],
            end: open ? "open" : "closed",
            unclosedReopenings: reopenings,
            rows,
          });
        }
        await log.close();
        expect(await report()).toMatchObject({ problems: [], end: "closed", rows });
      }),
      { numRuns: runs(150) },
    );
  });

  it("opens after a cut at any byte, and holds every row that is whole", async () => {
    const disk = new MemoryDisk(seeded(3));
    const files = disk.layer();
    const log = await NdjsonSessionLog.open("/log", { files });
    await log.append(key, entries(2));
    await log.append(key, entries(2, "m"));
    await log.append({ ...key, thread_id: "t2" }, entries(1, "é"));
    await log.close();
    const path = "/log/segment-00000001.ndjson";
    const file = await files.open(path, "update");
    if (file === undefined) throw new Error("no segment");
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0);
    for (let cut = bytes.length; cut >= 0; cut -= cut > 200 ? 11 : 1) {
      await file.truncate(0);
      for (let at = 0; at < cut; ) at += await file.write(bytes.subarray(at, cut), at);
      const kept = bytes.subarray(0, cut).toString("latin1").split("\n").slice(0, -1);
      const rows = kept.filter((line) => line.startsWith('{"tenant_id"')).length;
      const again = await NdjsonSessionLog.open("/log", { files });
      const whole = cut === 0 || bytes[cut - 1] === 0x0a;
      expect(again.recovery?.torn?.bytes ?? 0, `cut at ${cut}`).toBe(
        whole ? 0 : cut - (bytes.subarray(0, cut).lastIndexOf(0x0a) + 1),
      );
      const first = Math.min(rows, 4);
      expect(await again.loadSince(key, 0)).toHaveLength(first);
      expect((await again.append(key, entries(1))).ordinal).toBe(first + 1);
      await again.close();
      const report = await verifyLog("/log", { files });
      expect(report.problems, `cut at ${cut}`).toEqual([]);
      expect(report.rows).toBe(rows + 1);
    }
  });
});
