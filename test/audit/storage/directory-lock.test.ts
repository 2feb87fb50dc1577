import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, lstat, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NdjsonSessionLog } from "../../../src/audit/ndjson/ndjson-session-log.ts";
import { lockDirectory, lockHolder } from "../../../src/audit/storage/directory-lock.ts";
import type { DirectoryLock } from "../../../src/audit/storage/file-layer.ts";
import { key, temporaryFolder } from "../support/entries.ts";
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
    // Released: a file, which any tool can copy.
    expect((await lstat(join(folder, "lock-10"))).isFile()).toBe(true);
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

  it("writes no byte, for which a full disk would have no room", async () => {
    for (let round = 0; round < 2; round += 1) {
      const lock = await lockDirectory(folder);
      for (const name of await readdir(folder)) {
        const found = await lstat(join(folder, name));
        expect([name, found.isSocket(), found.mode & 0o777]).toEqual([name, true, 0o600]);
      }
      await lock.release();
    }
  });

  it("is not taken from an owner whose lock is a file, as it was once", async () => {
    const server = createServer().listen(join(folder, "sock-dddddddddddd"));
    await once(server, "listening");
    await writeFile(join(folder, "lock-4"), "sock-dddddddddddd");
    await expect(lockDirectory(folder)).rejects.toMatchObject({ code: "ELOCKED" });
    server.close();
    await once(server, "close");
    await (await lockDirectory(folder)).release();
  });

  it.each([
    ["a named pipe", (path: string) => void execFileSync("mkfifo", [path])],
    ["a directory", (path: string) => mkdir(path)],
    ["a symbolic link", (path: string) => symlink("nothing", path)],
    ["a symbolic link", (path: string) => symlink("/dev/zero", path)],
  ])("is not waited for where %s has its name, and says so", async (kind, make) => {
    const path = join(folder, "lock-5");
    await make(path);
    await expect(lockDirectory(folder)).rejects.toThrow(
      `${path}: expected the lock of a log, which is a socket; found ${kind}. Remove it if no process has the log open.`,
    );
    expect(await names()).toEqual(["lock-5"]);
  });

  it("takes no number that no lock has after it", async () => {
    await writeFile(join(folder, "lock-999999999999999"), "");
    await expect(lockDirectory(folder)).rejects.toThrow("remove lock-999999999999999");
  });

  it("is in nobody's way where an old one can't be removed", async () => {
    await mkdir(join(folder, "lock-3"));
    await writeFile(join(folder, "lock-4"), "");
    await (await lockDirectory(folder)).release();
    expect(await names()).toEqual(["lock-3", "lock-5"]);
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

describe("looking who holds the lock", () => {
  async function snapshot(): Promise<string[]> {
    const found = await readdir(folder);
    return Promise.all(
      found.sort().map(async (name) => {
        const { ino, mtimeMs } = await lstat(join(folder, name));
        return `${name} ${ino} ${mtimeMs}`;
      }),
    );
  }

  it("finds the owner from anywhere, none before and after, and changes nothing", async () => {
    expect(await lockHolder(folder)).toBe("none");
    expect(await lockHolder(join(folder, "gone"))).toBe("none");
    const lock = await lockDirectory(folder);
    const before = await snapshot();
    expect(await Promise.all(Array.from({ length: 20 }, () => lockHolder(folder)))).toEqual(
      Array.from({ length: 20 }, () => "alive"),
    );
    expect(await snapshot()).toEqual(before);
    await expect(lockDirectory(folder)).rejects.toMatchObject({ code: "ELOCKED" });
    await lock.release();
    expect(await lockHolder(folder)).toBe("none");
  });

  it("finds an owner that is stopped alive, and one that was killed gone", async () => {
    const program = await bundle(join(import.meta.dirname, "support", "lock-child.ts"), folder);
    const target = join(folder, "log");
    await mkdir(target);
    const child = spawn(process.execPath, [program, target], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    await once(child.stdout, "data");
    child.kill("SIGSTOP");
    expect(await lockHolder(target)).toBe("alive");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(await lockHolder(target)).toBe("none");
  });

  it("finds none in a copy of a directory that somebody holds, whatever the copy has of the lock", async () => {
    await using log = await NdjsonSessionLog.open(join(folder, "log"));
    expect(await lockHolder(join(folder, "log"))).toBe("alive");
    for (const withSocket of [false, true]) {
      const copy = join(folder, `copy-${withSocket}`);
      await mkdir(copy);
      for (const name of await readdir(join(folder, "log"))) {
        // What some tools make of a socket: a file. Others leave it out.
        const isSocket = (await lstat(join(folder, "log", name))).isSocket();
        if (!isSocket) await cp(join(folder, "log", name), join(copy, name));
        else if (withSocket) await writeFile(join(copy, name), "");
      }
      expect(await readdir(copy)).not.toEqual([]);
      expect(await lockHolder(copy)).toBe("none");
    }
    expect((await log.append(key, [])).ordinal).toBe(0);
  });

  it("asks no socket that is not in the directory", async () => {
    const path = join(folder, "elsewhere");
    const server = createServer().listen(path);
    await once(server, "listening");
    await mkdir(join(folder, "log"));
    await writeFile(join(folder, "log", "lock-1"), "../elsewhere");
    expect(await lockHolder(join(folder, "log"))).toBe("none");
    server.close();
    await once(server, "close");
  });

  it("asks again when the directory goes from one to the next meanwhile", async () => {
    let running = true;
    const turns = (async () => {
      let lock = await lockDirectory(folder);
      while (running) {
        await lock.release();
        lock = await lockDirectory(folder);
      }
      return lock;
    })();
    const seen = new Set<string>();
    for (let n = 0; n < 200; n += 1) seen.add(await lockHolder(folder));
    running = false;
    const lock = await turns;
    expect(seen).not.toContain("unknown");
    expect(await lockHolder(folder)).toBe("alive");
    await lock.release();
  });

  it("works in a folder whose path is longer than a socket's may be", async () => {
    const deep = join(folder, "d".repeat(100), "e".repeat(100));
    await mkdir(deep, { recursive: true });
    const lock = await lockDirectory(deep);
    expect(await lockHolder(deep)).toBe("alive");
    await lock.release();
    expect(await lockHolder(deep)).toBe("none");
  });

  it.runIf(process.getuid?.() === 0)("says unknown where it may not ask, root may", async () => {
    await chmod(folder, 0o755);
    const target = join(folder, "log");
    await mkdir(target, { mode: 0o755 });
    const lock = await lockDirectory(target);
    for (const name of await readdir(target)) await chmod(join(target, name), 0o644);
    const program = await bundle(join(import.meta.dirname, "support", "holder-child.ts"), folder);
    const asked = (uid: number) =>
      execFileSync(process.execPath, [program, target], { uid, gid: uid, encoding: "utf8" });
    expect([asked(0), asked(65_534)]).toEqual(["alive", "unknown"]);
    await lock.release();
    expect(asked(65_534)).toBe("none");
  });
});
