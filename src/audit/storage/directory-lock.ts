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
 * The lock asks the kernel whether the owner lives: the owner listens on a unix socket in the directory, and stops
 * listening when its process ends in any way. A process ID would not do. It can name another process in another
 * container, and is reused.
 *
 * `link` decides who owns the directory, because only one process can create a name: `lock-<generation>` is a second
 * name of its owner's socket, and the creator of the highest generation is the owner. It listens before it links, so a
 * generation never looks dead while its owner lives. The highest generation is never deleted, not even at release.
 * Otherwise a contender that read the directory earlier could create it again, and there would be two owners. A
 * released generation is an empty file.
 *
 * The lock writes no byte, so it works on a full disk. If there is no room for the socket itself, the reserve of the
 * directory is freed for it.
 */

const GENERATION = /^lock-(\d{1,15})$/;
const SOCKET = /^sock-[0-9a-f]{12}$/;
/** Left by a crash during a release, or by a contender of an earlier version on a full disk. */
const DRAFT = /^(?:sock-[0-9a-f]{12}|lock-\d{1,15})\.tmp$/;

/** Bytes of the longest name below: `lock-` and 15 digits. */
const LONGEST_NAME = 20;

/** Longest path of a socket in bytes: `sun_path` without its zero byte. */
const MAX_SOCKET_PATH = process.platform === "linux" ? 107 : 103;

/**
 * Locks a directory for one writer, until it is released or this process ends. It does not keep the process alive.
 *
 * It works between processes and containers on one kernel. It does not work over a network file system, where a
 * socket of another machine looks dead.
 *
 * @throws Error with the code `ELOCKED` if a living process, which may be this one, holds the lock.
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
 * Returns the holder of the directory's lock. It reads the directory and connects to the owner's socket, which
 * ignores it. It needs no other permission, and works at any time.
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
    // Another process locked the directory meanwhile.
    generation = now;
  }
}

/** The directory under a name that is short enough for the path of a socket in it. */
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
  // The same directory under a short name, valid while it is open.
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
      // Only without a living owner: the reserve of a living one is for its own next start.
      await refuseLiving(directory, sockets, highestGeneration(await readdir(directory)));
      await tidy(directory, sockets, 0, "");
      await unlink(reservePath(directory)).catch(() => {});
    }
  }
}

/** @returns `undefined` if another process was faster. Then the directory must be read again. */
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
 * Replaces the socket of a released lock by an empty file, in one step. Many tools that copy directories fail at a
 * socket.
 */
async function leaveFile(path: string): Promise<void> {
  const draft = `${path}.tmp`;
  try {
    await (await open(draft, "w", 0o600)).close();
    await rename(draft, path);
  } catch {
    // Without room for the file, the socket stays. No process listens on it, so it means the same.
    await unlink(draft).catch(() => {});
  }
}

/** The generation that was won. `undefined` if the directory changed meanwhile. */
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
    // ENOENT: a process that tidied up removed our socket, in the moment before it listened.
    if (hasCode(error, "EEXIST", "ENOENT")) return undefined;
    throw error;
  }
  // A contender that read the directory long ago may have linked a generation that had already been deleted.
  return highestGeneration(await readdir(directory)) === mine ? mine : undefined;
}

/** @throws Error with the code `ELOCKED` if the generation's owner lives. */
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
 * The name of the socket on which a generation's owner listens.
 *
 * @throws Error if the name is neither a socket's nor a file's. Opening it could block, or lead to another directory.
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

/** Locks of earlier versions are files with the name of a socket in them. Their owner may still live. */
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

/** Removes files of dead contenders, but never the highest generation and never a listening socket. */
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
    // A file that cannot be removed, such as a directory with this name, does no harm.
    if (isLeft) await unlink(join(directory, name)).catch(() => {});
  }
}

/** Whether a process listens on the socket. An unclear answer counts as yes. */
async function isAlive(path: string): Promise<boolean> {
  return (await ask(path)) !== "none";
}

/** The state of the listener. One with a full backlog is alive. */
function ask(path: string): Promise<LockHolder> {
  return new Promise((resolve) => {
    const client = connect({ path });
    client.once("connect", () => {
      client.destroy();
      resolve("alive");
    });
    client.once("error", (error) => {
      if (hasCode(error, "EAGAIN")) resolve("alive");
      // It closed before it accepted the connection. Asking again gives a clear answer.
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
      // An error of a connection must not end the process.
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
 * Explains why the lock's socket cannot be made. The system's error would look like one about a network address. For
 * a missing directory it would even be one about permission.
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

/** Windows has no socket files. Its named pipe ends with its owner and takes only one listener. */
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
