import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import type { FileLayer } from "../../src/audit/storage/file-layer.ts";
import { nodeFileLayer } from "../../src/audit/storage/node-file-layer.ts";
import { readRows } from "../../src/audit/verify/read-rows.ts";
import { verifyLog } from "../../src/audit/verify/verify-log.ts";
import { entries, key, temporaryFolder } from "./support/entries.ts";

let parent: string;

beforeAll(async () => {
  parent = await temporaryFolder();
});

afterAll(() => rm(parent, { recursive: true }));

/** The disk, where something happens between the first look into a folder and the next one. */
function afterFirstLook(folder: string, happens: () => Promise<unknown>): FileLayer {
  let looks = 0;
  return {
    ...nodeFileLayer,
    async list(directory) {
      const names = await nodeFileLayer.list(directory);
      if (directory === folder) looks += 1;
      if (directory === folder && looks === 1) await happens();
      return names;
    },
  };
}

describe("a segment that is archived while the folders are looked at", () => {
  it("is one segment, and its rows are read once", async () => {
    for (const read of ["verify", "rows"]) {
      const folder = join(parent, read);
      await using log = await NdjsonSessionLog.open(folder, { segmentBytes: 1024 });
      for (let n = 1; n <= 6; n += 1) await log.append(key, entries(1, `n${n}-`));
      const files = afterFirstLook(folder, async () => {
        expect(await log.archiveBefore(key, 4)).toBe(4);
        expect(await nodeFileLayer.list(join(folder, "archive"))).not.toEqual([]);
      });
      if (read === "verify") {
        expect(await verifyLog(folder, { files })).toMatchObject({ problems: [], rows: 6 });
      } else {
        const ordinals = [];
        for await (const { ordinal } of readRows(folder, {}, { files })) ordinals.push(ordinal);
        expect(ordinals).toEqual([1, 2, 3, 4, 5, 6]);
      }
    }
  });
});
