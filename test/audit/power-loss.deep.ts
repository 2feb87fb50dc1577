import { describe, expect, it } from "vitest";
import type { RowAnchor, ThreadKey } from "../../src/audit/audit-row.ts";
import type { Durability } from "../../src/audit/ndjson/ndjson-options.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { MemoryDisk, PowerLoss, seeded } from "./storage/support/memory-disk.ts";
import { entry } from "./support/entries.ts";

const LOG = "/log";

interface Stored {
  readonly thread: ThreadKey;
  readonly eventId: string;
  readonly place: RowAnchor;
}

/** A log on one disk through many power losses, and what it has reported as stored. */
class Ordeal {
  readonly disk: MemoryDisk;
  readonly stored: Stored[] = [];
  readonly archived = new Map<string, number>();
  readonly #random: () => number;
  readonly #durability: Durability;
  #events = 0;

  constructor(seed: number, durability: Durability) {
    this.#random = seeded(seed);
    this.disk = new MemoryDisk(this.#random);
    this.#durability = durability;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  open(): Promise<NdjsonSessionLog> {
    const files = this.disk.layer();
    return NdjsonSessionLog.open(LOG, { files, durability: this.#durability, segmentBytes: 2500 });
  }

  /** Opens and writes until the power goes, at any access from the first. */
  async run(): Promise<void> {
    this.disk.losePowerAfter(1 + this.#below(140));
    try {
      const log = await this.open();
      for (;;) await this.#work(log);
    } catch (error) {
      if (!(error instanceof PowerLoss)) throw error;
    }
    this.disk.restart();
  }

  async #work(log: NdjsonSessionLog): Promise<void> {
    const calls: Promise<unknown>[] = [];
    for (let n = this.#below(4); n >= 0; n -= 1) {
      const thread = { tenant_id: `tenant${this.#below(2)}`, thread_id: `t${this.#below(5)}` };
      if (this.#random() < 0.1) calls.push(this.#archive(log, thread));
      else calls.push(this.#append(log, thread));
    }
    const failed = (await Promise.allSettled(calls)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  async #append(log: NdjsonSessionLog, thread: ThreadKey): Promise<void> {
    this.#events += 1;
    const eventId = `e${this.#events}`;
    const place = await log.append(thread, [entry(eventId, { event_id: eventId })]);
    this.stored.push({ thread, eventId, place });
  }

  async #archive(log: NdjsonSessionLog, thread: ThreadKey): Promise<void> {
    const watermark = this.#below(8);
    const name = `${thread.tenant_id}/${thread.thread_id}`;
    const count = await log.archiveBefore(thread, watermark);
    const before = this.archived.get(name) ?? 0;
    if (count > 0) this.archived.set(name, Math.max(before, Math.min(watermark, before + count)));
  }
}

async function expectStored(ordeal: Ordeal, log: NdjsonSessionLog): Promise<void> {
  const rows = new Map<string, string>();
  for (let n = 0; n < 10; n += 1) {
    const thread = { tenant_id: `tenant${n % 2}`, thread_id: `t${n >> 1}` };
    for (const row of await log.loadSince(thread, 0)) {
      rows.set(`${row.tenant_id}/${row.thread_id}/${row.ordinal}`, `${row.hash} ${row.event_id}`);
    }
  }
  for (const { eventId, place, thread } of ordeal.stored) {
    const name = `${thread.tenant_id}/${thread.thread_id}`;
    const row = rows.get(`${name}/${place.ordinal}`);
    const mayBeArchived = place.ordinal <= 8;
    if (row === undefined && mayBeArchived) {
      // Archived, with or without its call having been told: the row is still known by its event.
      expect(await log.append(thread, [entry("again", { event_id: eventId })])).toEqual(place);
    } else {
      expect(row, `${name}/${place.ordinal}`).toBe(`${place.hash} ${eventId}`);
    }
  }
}

describe.each(["batch", "each"] as const)("power loss, durability %s", (durability) => {
  it("loses nothing that was reported as stored, at any of hundreds of moments", async () => {
    let losses = 0;
    let rows = 0;
    for (let seed = 1; seed <= 60; seed += 1) {
      const ordeal = new Ordeal(seed * 7919, durability);
      for (let round = 0; round < 5; round += 1) {
        const before = ordeal.stored.length;
        await ordeal.run();
        losses += 1;
        const report = await verifyLog(LOG, { files: ordeal.disk.layer() });
        if (ordeal.stored.length > before) expect(report.end).toBe("unclosed");
        // A crash is not tampering: what it left is counted, also before anybody opens the log.
        const found = report.problems.filter(
          ({ problem }) => problem !== "there is no audit log here",
        );
        expect(found, `seed ${seed}, round ${round}`).toEqual([]);
        const log = await ordeal.open();
        await expectStored(ordeal, log);
        await log.close();
        const after = await verifyLog(LOG, { files: ordeal.disk.layer() });
        expect(after.problems, `seed ${seed}, round ${round}`).toEqual([]);
        expect(after).toMatchObject({ end: "closed", uncommittedLines: 0, tornBytes: 0 });
        expect(after.rows).toBeGreaterThanOrEqual(ordeal.stored.length);
        expect(report.rows).toBeLessThanOrEqual(after.rows);
        rows = Math.max(rows, after.rows);
      }
    }
    expect(losses).toBe(300);
    expect(rows).toBeGreaterThan(40);
  });
});

describe("power loss, durability none", () => {
  it("opens again whatever was lost, and writes on", async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const ordeal = new Ordeal(seed * 104_729, "none");
      for (let round = 0; round < 4; round += 1) await ordeal.run();
      const log = await ordeal.open();
      const thread = { tenant_id: "fresh", thread_id: `t${seed}` };
      expect((await log.append(thread, [entry("a"), entry("b")])).ordinal).toBe(2);
      expect(await log.loadSince(thread, 0)).toHaveLength(2);
      await log.close();
    }
  });
});
