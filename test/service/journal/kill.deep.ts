import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import { KillableWriter } from "../../audit/storage/support/killable-writer.ts";
import { seeded } from "../../audit/storage/support/memory-disk.ts";
import { temporaryFolder } from "./support/lines.ts";

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

/** What every record of a log's life says it must hold. */
class Expected {
  /** Offset of each line whose append had resolved, by its id. */
  readonly offsets = new Map<string, number>();
  position = 0;

  hear(said: readonly string[]): void {
    for (const text of said) {
      const [what, id = "", first = "", last = ""] = text.split(" ");
      if (what === "position") this.position = Math.max(this.position, Number(id));
      if (what !== "stored") continue;
      for (let at = Number(first); at <= Number(last); at += 1) {
        this.offsets.set(`${id}.${at - Number(first)}`, at);
      }
    }
  }
}

/** Kills writers of one log over and over; after each the journal must open and hold all. */
async function ordeal(kills: number, seed: number) {
  const random = seeded(seed);
  const log = join(folder, `log-${seed}`);
  const expected = new Expected();
  /** Where each line ever read was: it must be there for ever. */
  const places = new Map<string, number>();
  let torn = 0;
  let next = 0;
  for (let n = 1; n <= kills; n += 1) {
    // Some in the middle of opening, most in the middle of writing.
    const lines = random() < 0.15 ? 1 : 2 + Math.floor(random() * 30);
    // Some in the middle of a large append.
    const large = lines > 1 && random() < 0.4;
    const isDue = (said: readonly string[]) =>
      said.length >= lines && (!large || said.at(-1) === "large");
    const moment = { isDue, delay: random() ** 3 * 8 };
    expected.hear(await writer.runAndKill([log, `k${n}`], moment));
    const journal = await EventJournal.open(log, { segmentBytes: 64 * 1024, keep: 30 });
    torn += journal.torn.length;
    expect(journal.next).toBeGreaterThanOrEqual(next);
    next = journal.next;
    expect(journal.position).toBeGreaterThanOrEqual(expected.position);
    expect(journal.first).toBeLessThanOrEqual(Math.max(0, journal.position - 30));
    const here = new Map<string, number>();
    const wrong: string[] = [];
    let offset = journal.first;
    for await (const line of journal.read(journal.first)) {
      const id = line.text.slice(0, line.text.indexOf(" "));
      const isDoubled = here.has(id) || (places.get(id) ?? line.offset) !== line.offset;
      if (line.offset !== offset || isDoubled) wrong.push(`${line.offset} ${id}`);
      offset += 1;
      here.set(id, line.offset);
      places.set(id, line.offset);
    }
    expect(wrong).toEqual([]);
    expect(offset).toBe(next);
    for (const [id, at] of expected.offsets) {
      if (at < journal.first) expected.offsets.delete(id);
      else if (here.get(id) !== at) wrong.push(`${at} ${id}`);
    }
    expect(wrong).toEqual([]);
    await journal.close();
  }
  return { torn, next, stored: expected.offsets.size, position: expected.position };
}

describe("a writer killed with kill -9", () => {
  it("104 times loses and doubles nothing that it had reported", async () => {
    const [a, b] = await Promise.all([ordeal(52, 1), ordeal(52, 2)]);
    expect(a.torn + b.torn).toBeGreaterThan(0);
    for (const { next, position, stored } of [a, b]) {
      expect(stored).toBeGreaterThan(20);
      expect(position).toBeGreaterThan(0);
      expect(next).toBeGreaterThan(500);
    }
  }, 120_000);
});
