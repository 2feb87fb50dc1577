import { describe, expect, it } from "vitest";
import type { FileLayer, LogFile } from "../../../src/audit/door.ts";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import { failingDisk } from "../../audit/storage/support/failing-disk.ts";
import { MemoryDisk, seeded } from "../../audit/storage/support/memory-disk.ts";
import { diskOf, FOLDER, imageOf } from "./support/disk-image.ts";
import { lines } from "./support/lines.ts";

type OpenMode = Parameters<FileLayer["open"]>[1];

describe("the end mark", () => {
  const TOO_LARGE = "L".repeat(2_000);

  it("is there while a journal is open, however it came to be, and nothing is cut then", async () => {
    const disk = new MemoryDisk(seeded(1));
    const { faults, layer } = failingDisk(disk.layer());
    async function open(path: string, mode: "create"): Promise<LogFile>;
    async function open(path: string, mode: OpenMode): Promise<LogFile | undefined>;
    async function open(path: string, mode: OpenMode): Promise<LogFile | undefined> {
      const file = await layer.open(path, mode);
      const write: LogFile["write"] = async (bytes, position) => {
        if (Buffer.from(bytes).includes(TOO_LARGE)) {
          await file?.write(bytes.subarray(0, 300), position);
          throw Object.assign(new Error("full"), { code: "ENOSPC" });
        }
        return file?.write(bytes, position) ?? 0;
      };
      return file && { ...file, write };
    }
    const isWhole = async () => {
      const image = await imageOf(disk.layer(), disk.names);
      const copy = await diskOf(image);
      const journal = await EventJournal.open(FOLDER, { fileLayer: copy.layer() });
      expect(journal.torn).toEqual([]);
      await journal.close();
    };
    const journal = await EventJournal.open(FOLDER, {
      segmentBytes: 1024,
      fileLayer: { ...layer, open },
    });
    await isWhole();
    for (let n = 0; n < 20; n += 1) {
      await journal.append(lines(3));
      await isWhole();
    }
    faults.failingSyncs = 1;
    await expect(journal.append(lines(3))).rejects.toMatchObject({ code: "EIO" });
    await isWhole();
    await journal.append(lines(1));
    await isWhole();
    // What fits is written, and cut off again.
    await expect(journal.append(lines(1, TOO_LARGE))).rejects.toMatchObject({ code: "ENOSPC" });
    await isWhole();
    await journal.close();
    await isWhole();
  });
});
