import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogFile } from "../../../src/audit/storage/file-layer.ts";
import { setAside } from "../../../src/audit/storage/file-writes.ts";
import { nodeFileLayer } from "../../../src/audit/storage/node-file-layer.ts";
import { failingDisk } from "./support/failing-disk.ts";

let folder: string;
let file: LogFile;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-aside-"));
  await writeFile(join(folder, "log"), "good\ndamaged\n");
  const opened = await nodeFileLayer.open(join(folder, "log"), "read");
  if (opened === undefined) throw new Error("expected the file");
  file = opened;
});
afterEach(async () => {
  await file.close();
  await rm(folder, { recursive: true });
});

const torn = () => join(folder, "torn");

describe("setting bytes aside", () => {
  it("leaves complete copies only, each under a name of its own", async () => {
    const options = { files: nodeFileLayer, directory: torn(), stem: "log-5" };
    const copies = [await setAside(file, 5, 13, options), await setAside(file, 5, 13, options)];
    expect(copies).toEqual([join(torn(), "log-5.torn"), join(torn(), "log-5-2.torn")]);
    expect((await readdir(torn())).sort()).toEqual(["log-5-2.torn", "log-5.torn"]);
    expect(await readFile(copies[0] ?? "", "utf8")).toBe("damaged\n");
  });

  it("takes no more room with each attempt on a full disk", async () => {
    const { faults, layer } = failingDisk(nodeFileLayer);
    faults.cutsGiveRoom = true;
    faults.room = 3;
    const options = { files: layer, directory: torn(), stem: "log-5" };
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(setAside(file, 5, 13, options)).rejects.toMatchObject({ code: "ENOSPC" });
      expect(await readdir(torn())).toEqual(["draft.tmp"]);
      expect(await readFile(join(torn(), "draft.tmp"), "utf8")).toBe("");
      expect(faults.room).toBe(3);
    }
    faults.room = 100;
    expect(await readFile(await setAside(file, 5, 13, options), "utf8")).toBe("damaged\n");
    expect(await readdir(torn())).toEqual(["log-5.torn"]);
  });
});
