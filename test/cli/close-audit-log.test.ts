import { expect, it } from "vitest";
import { closeAuditLog } from "../../src/cli/replay/audit-directory.ts";
import { NdjsonSessionLog } from "../../src/entries/audit.ts";
import { failingDisk } from "../audit/storage/support/failing-disk.ts";
import { MemoryDisk, seeded } from "../audit/storage/support/memory-disk.ts";
import { entries, key } from "../audit/support/entries.ts";

it("says why a command's log could not be closed, so that its summary is printed all the same", async () => {
  const { faults, layer } = failingDisk(new MemoryDisk(seeded(1)).layer());
  const said: string[] = [];
  const say = (text: string) => said.push(text);
  const log = await NdjsonSessionLog.open("/log", { files: layer });
  await log.append(key, entries(1));
  faults.room = 0;
  expect(await closeAuditLog(log, say)).toBe(false);
  expect(said).toEqual([
    expect.stringMatching(/^--audit: \/log: .* close mark could not be written: ENOSPC/),
  ]);
  faults.room = Number.POSITIVE_INFINITY;
  expect(await closeAuditLog(await NdjsonSessionLog.open("/log", { files: layer }), say)).toBe(
    true,
  );
  expect(said).toHaveLength(1);
});
