import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Durability } from "../../src/audit/ndjson/ndjson-options.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { readRows } from "../../src/audit/verify/read-rows.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { KillableWriter } from "./storage/support/killable-writer.ts";
import { seeded } from "./storage/support/memory-disk.ts";
import { entry, temporaryFolder } from "./support/entries.ts";

let folder: string;
let writer: KillableWriter;

beforeAll(async () => {
  folder = await temporaryFolder();
  const source = join(import.meta.dirname, "support", "kill-child.ts");
  writer = await KillableWriter.make(source, folder);
});

afterAll(async () => {
  writer.end();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

interface Killed {
  /** What the child had reported as stored, one `thread ordinal hash event` each. */
  readonly stored: readonly string[];
  readonly opened: boolean;
}

/** Runs a writer and kills it after it has said `lines` lines, and then `delay` ms. */
async function runAndKill(
  log: string,
  durability: Durability,
  name: string,
  lines: number,
  delay: number,
): Promise<Killed> {
  const isDue = (said: readonly string[]) => said.length >= lines;
  const said = await writer.runAndKill([log, durability, name], { isDue, delay });
  const stored = said.filter((line) => line.startsWith("stored ")).map((line) => line.slice(7));
  return { stored, opened: said.includes("open") };
}

/**
 * Kills writers of one log over and over; after each the log must open at once and hold all.
 *
 * @returns how many rows were found that their writer had not come to report.
 */
async function ordeal(durability: Durability, kills: number, seed: number): Promise<number> {
  const random = seeded(seed);
  const log = join(folder, `log-${durability}-${seed}`);
  let stored: string[] = [];
  let unreported = 0;
  let reported = 0;
  let openedBefore = 0;
  for (let n = 1; n <= kills; n += 1) {
    // Some in the middle of opening, most in the middle of writing.
    const lines = random() < 0.2 ? 1 : 2 + Math.floor(random() * 24);
    const killed = await runAndKill(log, durability, `k${n}`, lines, random() ** 3 * 8);
    stored.push(...killed.stored);
    if (killed.opened) openedBefore += 1;
    const crashed = await verifyLog(log);
    const problems = killed.opened || openedBefore > 0 ? crashed.problems : [];
    expect(problems, `kill ${n}`).toEqual([]);
    if (killed.stored.length > 0) expect(crashed.end, `kill ${n}`).toBe("unclosed");

    const reopened = await NdjsonSessionLog.open(log, { durability });
    expect(reopened.recovery?.damage ?? []).toEqual([]);
    await expectKnown(reopened, killed.stored.at(-1));
    await reopened.close();
    if (n % 5 > 0 && n < kills) continue;

    const rows = new Set<string>();
    for await (const row of readRows(log)) {
      rows.add(`${row.thread_id} ${row.ordinal} ${row.hash} ${row.event_id}`);
    }
    expect(stored.filter((each) => !rows.has(each))).toEqual([]);
    expect(await verifyLog(log)).toMatchObject({
      end: "closed",
      problems: [],
      uncommittedLines: 0,
      tornBytes: 0,
    });
    reported += stored.length;
    unreported += rows.size - stored.length;
    stored = [];
    openedBefore = 0;
    // A log of its own for the next five keeps reading it whole quick.
    await rm(log, { recursive: true });
  }
  expect(reported).toBeGreaterThan(kills);
  return unreported;
}

/** A redelivered event is known after the crash: it gets the place that was reported. */
async function expectKnown(log: NdjsonSessionLog, last: string | undefined): Promise<void> {
  if (last === undefined) return;
  const [thread_id = "", ordinal, hash, event_id = ""] = last.split(" ");
  const place = await log.append({ tenant_id: "acme", thread_id }, [entry("x", { event_id })]);
  expect(`${place.ordinal} ${place.hash}`).toBe(`${ordinal} ${hash}`);
}

describe("kill -9 of the writer", () => {
  // Side by side, since most of the time is the children's starting.
  it("200 times loses nothing that it had reported, and the log opens at once", async () => {
    const unreported = await Promise.all([
      ordeal("batch", 60, 1),
      ordeal("batch", 50, 2),
      ordeal("each", 50, 3),
      ordeal("none", 50, 4),
    ]);
    // Kills came between a row's writing and its report, else the test would show nothing. That one came
    // within a write is rare where writing is fast: torn ends are in ndjson-session-log.test.ts.
    expect(unreported.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0);
  }, 180_000);
});
