import { existsSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lockDirectory } from "../../../src/audit/storage/directory-lock.ts";
import { temporaryFolder } from "../support/entries.ts";

/** A disk that has a name for a new socket only once the reserve is gone. */
const disk = vi.hoisted(() => ({ isFull: false, hasNone: false }));

vi.mock("node:net", async (original) => {
  const net = await original<typeof import("node:net")>();
  return {
    ...net,
    createServer: (listener: () => void) => {
      const server = net.createServer(listener);
      const listen = server.listen.bind(server);
      return Object.assign(server, {
        listen: (options: { path: string }, done: () => void) => {
          const hasReserve = existsSync(join(dirname(options.path), "lock-reserve"));
          if (!disk.isFull || !(disk.hasNone || hasReserve)) return listen(options, done);
          const full = Object.assign(new Error("listen ENOSPC"), { code: "ENOSPC" });
          process.nextTick(() => server.emit("error", full));
          return server;
        },
      });
    },
  };
});

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  disk.isFull = false;
  disk.hasNone = false;
});
afterEach(() => rm(folder, { recursive: true }));

it("gets the reserve's place once the owner before is dead, and removes what is nobody's", async () => {
  await (await lockDirectory(folder)).release();
  await writeFile(join(folder, "lock-reserve"), "room");
  await writeFile(join(folder, "sock-bbbbbbbbbbbb.tmp"), "");
  disk.isFull = true;
  const lock = await lockDirectory(folder);
  expect((await readdir(folder)).map((name) => name.replace(/[0-9a-f]{12}/, "*"))).toEqual([
    "lock-2",
    "sock-*",
  ]);
  await lock.release();
});

it("leaves the reserve of an owner who lives", async () => {
  const lock = await lockDirectory(folder);
  await writeFile(join(folder, "lock-reserve"), "room");
  disk.isFull = true;
  await expect(lockDirectory(folder)).rejects.toMatchObject({ code: "ELOCKED" });
  expect(existsSync(join(folder, "lock-reserve"))).toBe(true);
  await lock.release();
});

it("says that the disk is full where there is no room even so, and leaves nothing there", async () => {
  disk.isFull = true;
  disk.hasNone = true;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(lockDirectory(folder)).rejects.toMatchObject({
      code: "ENOSPC",
      message: `${folder}: can't be locked: listen ENOSPC`,
    });
  }
  expect(await readdir(folder)).toEqual([]);
});

it("is won by one of two who start at once", async () => {
  await (await lockDirectory(folder)).release();
  await writeFile(join(folder, "lock-reserve"), "room");
  disk.isFull = true;
  const tries = await Promise.allSettled([lockDirectory(folder), lockDirectory(folder)]);
  expect(tries.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  for (const each of tries) {
    if (each.status === "rejected") expect(each.reason.code).toBe("ELOCKED");
    else await each.value.release();
  }
});
