import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NdjsonSessionLog } from "../../../src/entries/audit.ts";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-foreign-"));
});

afterEach(() => rm(folder, { recursive: true }));

/** What is there besides the locks. */
async function files(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !/^(?:lock|sock)-/.test(name)).sort();
}

describe("the folder of another log", () => {
  it("is refused to a journal where it is an audit log's, and stays as it was", async () => {
    await (await NdjsonSessionLog.open(folder)).close();
    const before = await files();
    expect(before).toContain("segment-00000001.ndjson");
    await expect(EventJournal.open(folder)).rejects.toThrow(
      `${join(folder, "segment-00000001.ndjson")}: expected a folder for a journal alone, found a file of an audit log`,
    );
    expect(await files()).toEqual(before);
    // The lock was given back.
    await (await NdjsonSessionLog.open(folder)).close();
  });

  it("is refused to an audit log where it is a journal's, and stays as it was", async () => {
    await (await EventJournal.open(folder)).close();
    const before = await files();
    expect(before).toContain("lines-0000000000000000.v1.log");
    await expect(NdjsonSessionLog.open(folder)).rejects.toThrow(
      `${join(folder, "lines-0000000000000000.v1.log")}: expected a folder for an audit log alone, found a file of a journal`,
    );
    expect(await files()).toEqual(before);
    await (await EventJournal.open(folder)).close();
  });
});
