import { createHash, randomBytes } from "node:crypto";
import {
  access,
  chmod,
  constants,
  link,
  lstat,
  open,
  readdir,
  realpath,
  rename,
  unlink,
} from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { asError, codeOf, hasCode, isDiskFull, kindOf } from "../../events/door.ts";
import type { DirectoryLock, LockHolder } from "./file-layer.ts";
import { reservePath } from "./locked-directory.ts";

/*
 * Liveness is asked of the kernel: the owner listens on a unix socket in the directory, and whoever
 * dies, however, stops listening at once. A process id would name another process in another
 * container, and may be given to a new one.
 *
 * `link` decides who owns the directory, since only one of many can win it: `lock-<generation>` is a
 * second name of its owner's socket, and the creator of the highest generation is the owner. It listens
 * before it links, so a generation is never seen dead while its owner lives. The highest generation is
 * never deleted, also not on release: a contender that looked earlier and acts late then finds it there,
 * where an empty place would let two of them win. A released one is an empty file.
 *
 * No byte is written, so that a full disk keeps nobody out. Where it has no room for the socket itself,
 * the reserve of the directory is given up for it.
 */

const GENERATION = /^lock-(\d{1,15})$/;
const SOCKET = /^sock-[0-9a-f]{12}$/;
/** What a crash has left at a release, or a contender of an earlier version on a full disk. */
const DRAFT = /^(?:sock-[0-9a-f]{12}|lock-\d{1,15})\.tmp$/;

/** Bytes of the longest name below: `lock-` and 15 digits. */
const LONGEST_NAME = 20;

/** Bytes of a socket's path: `sun_path` without its closing zero byte. */
const MAX_SOCKET_PATH = process.platform === "linux" ? 107 : 103;

/**
 * Takes the one writer's place in a directory, and holds it until released or until this process
 * ends. It does not keep the process alive.
 *
 * It works between processes and containers of one kernel. It does not work over a network file
 * system: a socket of another machine looks dead.
 *
 * @throws Error with the code `ELOCKED` when a living process, this one included, holds it.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  if (process.platform === "win32") return lockByPipe(directory);
  const { close, path } = await socketFolder(directory);
  try {
    return await contend(directory, path, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Looks whether a living process holds the directory. It reads and connects to the owner's socket, which takes no notice:
 * it may be done at any time, by any user who may read the directory and connect.
 */
export async function lockHolder(directory: string): Promise<LockHolder> {
  try {
    if (process.platform === "win32") return await ask(await pipeOf(directory));
    const { close, path } = await socketFolder(directory);
    try {
      return await holderIn(directory, path);
    } finally {
      await close();
    }
  } catch (error) {
    return hasCode(error, "ENOENT") ? "none" : "unknown";
  }
}

async function holderIn(directory: string, sockets: string): Promise<LockHolder> {
  let generation = highestGeneration(await readdir(directory));
  for (;;) {
    const owner = generation === 0 ? undefined : await ownerOf(directory, `lock-${generation}`);
    const holder = owner === undefined ? "none" : await ask(join(sockets, owner));
    if (holder !== "none") return holder;
    const now = highestGeneration(await readdir(directory));
    if (now === generation) return "none";
    // Another took the place of the one who was asked.
    generation = now;
  }
}

/** A directory by a name that is short enough for the path of a socket in it. */
async function socketFolder(
  directory: string,
): Promise<{ readonly path: string; readonly close: () => Promise<void> }> {
  const tooLong = Buffer.byteLength(directory) + 1 + LONGEST_NAME - MAX_SOCKET_PATH;
  if (tooLong <= 0) return { path: directory, close: async () => {} };
  if (process.platform !== "linux") {
    const most = Buffer.byteLength(directory) - tooLong;
    throw new Error(
      `${directory}: expected a path of at most ${most} bytes, for the lock's socket`,
    );
  }
  // The same folder by a short name, for as long as it is held open.
  const handle = await open(directory, "r");
  return { path: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
}

function socketName(): string {
  return `sock-${randomBytes(6).toString("hex")}`;
}

async function contend(
  directory: string,
  sockets: string,
  onRelease: () => Promise<void>,
): Promise<DirectoryLock> {
  for (let full = false; ; ) {
    try {
      const won = await attempt(directory, sockets);
      if (won === undefined) continue;
      return held(won.server, async () => {
        await leaveFile(won.path);
        await onRelease();
      });
    } catch (error) {
      if (full || !isDiskFull(error)) throw error;
      full = true;
      // Only what is nobody's: the reserve of one who lives is for its own next start.
      await refuseLiving(directory, sockets, highestGeneration(await readdir(directory)));
      await tidy(directory, sockets, 0, "");
      await unlink(reservePath(directory)).catch(() => {});
    }
  }
}

/** @returns `undefined` when somebody was faster: the picture has changed, and is to be looked at again. */
async function attempt(
  directory: string,
  sockets: string,
): Promise<{ readonly server: Server; readonly path: string } | undefined> {
  const socket = socketName();
  const server = await listen(join(sockets, socket)).catch(async (thrown: unknown) => {
    throw await cantLock(directory, thrown);
  });
  try {
    const won = await takeNextGeneration(directory, sockets, socket);
    if (won !== undefined) {
      const name = `lock-${won}`;
      if (!(await isAlive(join(sockets, name)))) {
        throw new Error(`${join(directory, name)}: expected a file system with links to sockets`);
      }
      await tidy(directory, sockets, won, socket);
      return { server, path: join(directory, name) };
    }
  } catch (error) {
    await close(server);
    throw error;
  }
  await close(server);
  return undefined;
}

/**
 * Puts an empty file in the place of a released lock, without a moment in which the name is free: many
 * tools that copy folders fail at a socket.
 */
async function leaveFile(path: string): Promise<void> {
  const draft = `${path}.tmp`;
  try {
    await (await open(draft, "w", 0o600)).close();
    await rename(draft, path);
  } catch {
    // Where there is no room for it the socket stays, and is as good: nobody listens on it.
    await unlink(draft).catch(() => {});
  }
}

/** The generation that was won, or `undefined` when the picture changed meanwhile. */
async function takeNextGeneration(
  directory: string,
  sockets: string,
  socket: string,
): Promise<number | undefined> {
  const highest = highestGeneration(await readdir(directory));
  await refuseLiving(directory, sockets, highest);
  const mine = highest + 1;
  const path = join(directory, `lock-${mine}`);
  if (!GENERATION.test(`lock-${mine}`)) {
    throw new Error(
      `${path}: expected at most 15 digits: remove lock-${highest}, which is no lock`,
    );
  }
  try {
    await chmod(join(directory, socket), 0o600);
    await link(join(directory, socket), path);
  } catch (error) {
    // ENOENT: somebody who tidied up took our socket for a dead one's, in the moment before it listened.
    if (hasCode(error, "EEXIST", "ENOENT")) return undefined;
    throw error;
  }
  // One that looked long ago may have linked a generation that was already passed and deleted.
  return highestGeneration(await readdir(directory)) === mine ? mine : undefined;
}

/** @throws Error with the code `ELOCKED` when the owner of the generation lives. */
async function refuseLiving(directory: string, sockets: string, generation: number): Promise<void> {
  if (generation === 0) return;
  const owner = await ownerOf(directory, `lock-${generation}`);
  if (owner !== undefined && (await isAlive(join(sockets, owner)))) throw locked(directory);
}

function highestGeneration(names: readonly string[]): number {
  let highest = 0;
  for (const name of names) {
    const match = GENERATION.exec(name);
    if (match !== null) highest = Math.max(highest, Number(match[1]));
  }
  return highest;
}

/**
 * The name of the socket that a generation's owner listens on.
 *
 * @throws Error where the name is neither a socket's nor a file's: such a thing could be waited for, or
 *   lead to another folder.
 */
async function ownerOf(directory: string, name: string): Promise<string | undefined> {
  const path = join(directory, name);
  try {
    const found = await lstat(path);
    if (found.isSocket()) return name;
    if (found.isFile()) return found.size === 0 ? undefined : await socketNamedIn(path);
    throw new Error(
      `${path}: expected the lock of a log, which is a socket; found ${kindOf(found)}. Remove it if no process has the log open.`,
    );
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Locks were files with the name of a socket in them once: such an owner may still live. */
async function socketNamedIn(path: string): Promise<string | undefined> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    const name = buffer.toString("latin1", 0, bytesRead);
    return SOCKET.test(name) ? name : undefined;
  } finally {
    await handle.close();
  }
}

/** Removes what dead contenders left: never the highest generation, never a listening socket. */
async function tidy(
  directory: string,
  sockets: string,
  generation: number,
  socket: string,
): Promise<void> {
  for (const name of await readdir(directory)) {
    const match = GENERATION.exec(name);
    const isLeft =
      match !== null
        ? Number(match[1]) < generation
        : DRAFT.test(name) ||
          (SOCKET.test(name) && name !== socket && !(await isAlive(join(sockets, name))));
    // What can't be removed, somebody's folder of such a name say, is in nobody's way.
    if (isLeft) await unlink(join(directory, name)).catch(() => {});
  }
}

/** Whether somebody listens there. Only a clear no counts as no. */
async function isAlive(path: string): Promise<boolean> {
  return (await ask(path)) !== "none";
}

/** Who listens there. One whose backlog is full is alive. */
function ask(path: string): Promise<LockHolder> {
  return new Promise((resolve) => {
    const client = connect({ path });
    client.once("connect", () => {
      client.destroy();
      resolve("alive");
    });
    client.once("error", (error) => {
      if (hasCode(error, "EAGAIN")) resolve("alive");
      // It listened and went away before it took the call: now the answer is clear.
      else if (hasCode(error, "ECONNRESET")) resolve(ask(path));
      else resolve(hasCode(error, "ECONNREFUSED", "ENOENT") ? "none" : "unknown");
    });
  });
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((client) => client.destroy());
    server.unref();
    server.once("error", reject);
    server.listen({ path }, () => {
      server.removeListener("error", reject);
      // Being asked whether one lives must never end the process.
      server.on("error", () => {});
      resolve(server);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function held(server: Server, onRelease: () => Promise<void>): DirectoryLock {
  let released: Promise<void> | undefined;
  return {
    release() {
      released ??= close(server).then(onRelease);
      return released;
    },
  };
}

/**
 * Why the lock's socket can't be made: that says something of the directory, and nothing of an address that a
 * service listens on. A directory that is not there has the socket refused as one without permission.
 */
async function cantLock(directory: string, thrown: unknown): Promise<Error> {
  try {
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    return asError(error);
  }
  const { message } = asError(thrown);
  const error = new Error(`${directory}: can't be locked: ${message}`, { cause: thrown });
  return isDiskFull(thrown) ? Object.assign(error, { code: codeOf(thrown) }) : error;
}

function locked(directory: string): Error {
  const error = new Error(`${directory}: another process, or another log here, has it open`);
  return Object.assign(error, { code: "ELOCKED" });
}

/** Windows has no socket files; a named pipe is gone with its owner and takes one listener only. */
async function lockByPipe(directory: string): Promise<DirectoryLock> {
  const pipe = await pipeOf(directory);
  try {
    return held(await listen(pipe), async () => {});
  } catch (thrown) {
    const error = asError(thrown);
    throw codeOf(error) === "EADDRINUSE" ? locked(directory) : error;
  }
}

async function pipeOf(directory: string): Promise<string> {
  const name = createHash("sha256")
    .update((await realpath(directory)).toLowerCase())
    .digest("hex");
  return `\\\\.\\pipe\\entelix-otel-${name}`;
}
