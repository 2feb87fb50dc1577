import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import { lockDirectory } from "../../src/storage/directory-lock.ts";
import type { DirectoryLock } from "../../src/storage/file-layer.ts";
import { key, temporaryFolder } from "../audit/support/entries.ts";
import { bundle } from "./support/bundle.ts";

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  }
  await rm(folder, { recursive: true });
});

async function names(): Promise<string[]> {
  return (await readdir(folder)).map((name) => name.replace(/[0-9a-f]{12}/, "*")).sort();
}

describe("the lock of a log", () => {
  it("says what is wrong with its folder, as nothing that a service listens on is", async () => {
    const gone = join(folder, "gone");
    await expect(lockDirectory(gone)).rejects.toMatchObject({
      code: "ENOENT",
      syscall: "access",
      path: gone,
    });
  });

  it("is held once in a process, also under another name of the folder", async () => {
    const log = await NdjsonSessionLog.open(folder);
    for (const path of [
      folder,
      `${folder}/`,
      join(folder, "..", folder.slice(folder.lastIndexOf("/") + 1)),
    ]) {
      await expect(NdjsonSessionLog.open(path)).rejects.toMatchObject({
        code: "ELOCKED",
        message: expect.stringMatching(
          /audit-.*: another process, or another log here, has it open$/,
        ),
      });
    }
    expect((await log.append(key, [])).ordinal).toBe(0);
    await log.close();
    const again = await NdjsonSessionLog.open(folder);
    await again.close();
  });

  it("is won by exactly one of many who try at once", async () => {
    for (let round = 0; round < 10; round += 1) {
      const tries = await Promise.allSettled(
        Array.from({ length: 8 }, () => lockDirectory(folder)),
      );
      const won = tries.filter((each) => each.status === "fulfilled");
      expect(won).toHaveLength(1);
      for (const each of tries) {
        if (each.status === "rejected") expect(each.reason.code).toBe("ELOCKED");
        else await each.value.release();
      }
    }
    // The highest generation stays, so that nobody who looked earlier wins a second time.
    expect(await names()).toEqual(["lock-10"]);
  });

  it("is handed on and on without two ever holding it", async () => {
    let holders = 0;
    let most = 0;
    let turns = 0;
    async function contend(): Promise<void> {
      for (let n = 0; n < 60; n += 1) {
        let lock: DirectoryLock;
        try {
          lock = await lockDirectory(folder);
        } catch {
          continue;
        }
        holders += 1;
        turns += 1;
        most = Math.max(most, holders);
        await new Promise((resolve) => setImmediate(resolve));
        holders -= 1;
        await lock.release();
      }
    }
    await Promise.all(Array.from({ length: 5 }, contend));
    expect(most).toBe(1);
    expect(turns).toBeGreaterThan(5);
    expect((await names()).filter((name) => name.startsWith("sock"))).toEqual([]);
  });

  it("does not outlive its owner, however that died, and is not taken from one who lives", async () => {
    const program = await bundle(join(import.meta.dirname, "support", "lock-child.ts"), folder);
    const target = join(folder, "log");
    await mkdir(target);
    for (let round = 0; round < 5; round += 1) {
      const child = spawn(process.execPath, [program, target], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      children.push(child);
      const [said] = await once(child.stdout, "data");
      expect(String(said)).toBe("locked\n");
      await expect(lockDirectory(target)).rejects.toMatchObject({ code: "ELOCKED" });
      // A process that is stopped is not dead.
      child.kill("SIGSTOP");
      await expect(lockDirectory(target)).rejects.toMatchObject({ code: "ELOCKED" });
      child.kill("SIGKILL");
      await once(child, "close");
      const lock = await lockDirectory(target);
      await lock.release();
    }
    expect((await readdir(target)).filter((name) => name.startsWith("sock"))).toEqual([]);
  });

  it("lets its process end", async () => {
    const program = await bundle(join(import.meta.dirname, "support", "lock-child.ts"), folder);
    const target = join(folder, "log");
    await mkdir(target);
    const child = spawn(process.execPath, [program, target, "leave"], { stdio: "inherit" });
    children.push(child);
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    await (await lockDirectory(target)).release();
  });

  it("works in a folder whose path is longer than a socket's may be", async () => {
    const deep = join(folder, "d".repeat(100), "e".repeat(100));
    await mkdir(deep, { recursive: true });
    const lock = await lockDirectory(deep);
    await expect(lockDirectory(deep)).rejects.toMatchObject({ code: "ELOCKED" });
    await lock.release();
    await (await lockDirectory(deep)).release();
    expect(await readdir(deep)).toEqual(["lock-2"]);
  });

  it("is not confused by what dead ones and strangers left", async () => {
    await writeFile(join(folder, "lock-7"), "sock-000000000000");
    await writeFile(join(folder, "lock-3"), "");
    await writeFile(join(folder, "lock-x"), "");
    await writeFile(join(folder, "sock-aaaaaaaaaaaa"), "no socket");
    await writeFile(join(folder, "sock-bbbbbbbbbbbb.tmp"), "");
    const lock = await lockDirectory(folder);
    expect(await names()).toEqual(["lock-8", "lock-x", "sock-*"]);
    await lock.release();
    await writeFile(join(folder, "lock-9"), "");
    await (await lockDirectory(folder)).release();
    expect(await names()).toEqual(["lock-10", "lock-x"]);
  });

  it("leaves a contender's listening socket alone when it tidies up", async () => {
    const path = join(folder, "sock-cccccccccccc");
    const server = createServer().listen(path);
    await once(server, "listening");
    const lock = await lockDirectory(folder);
    expect(await readdir(folder)).toContain("sock-cccccccccccc");
    await lock.release();
    server.close();
    await once(server, "close");
  });

  it("is given back when opening fails", async () => {
    await writeFile(join(folder, "segment-00000001.ndjson"), '{"segment":1,"version":9}\n');
    await expect(NdjsonSessionLog.open(folder)).rejects.toThrow("version 9");
    await rm(join(folder, "segment-00000001.ndjson"));
    const log = await NdjsonSessionLog.open(folder);
    await log.close();
  });
});
