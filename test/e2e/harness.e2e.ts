import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namedPorts } from "./support/free-ports.ts";
import { fetchText } from "./support/http.ts";
import { type ServerOptions, ServerProcess } from "./support/server-process.ts";

const KEEPER = fileURLToPath(new URL("support/keeper.mjs", import.meta.url));

/** A server in one line: and one that says goodbye. */
const program = (port: number) => `
  process.on("SIGTERM", () => { console.log("goodbye"); process.exit(); });
  require("node:http").createServer((_, r) => r.end("hello")).listen(${port}, "127.0.0.1");
`;

describe("a server's process", () => {
  let folder: string;
  let port: number;

  const server = (more: Partial<ServerOptions> = {}) =>
    new ServerProcess({
      name: "greeter",
      program: process.execPath,
      args: ["--eval", program(port)],
      cwd: folder,
      log: join(folder, "greeter.log"),
      ready: () => fetchText(`http://127.0.0.1:${port}/`),
      ...more,
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-harness-"));
    port = (await namedPorts(["greeter"]))("greeter");
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("is ready once started, gone once stopped, and starts again on the same port", async () => {
    const greeter = server();
    for (const times of [1, 2]) {
      await greeter.start();
      expect(await fetchText(`http://127.0.0.1:${port}/`)).toBe("hello");
      const { pid = 0 } = greeter;
      await greeter.stop();
      expect(() => process.kill(pid, 0)).toThrow("ESRCH");
      expect(greeter.pid).toBeUndefined();
      expect(await readFile(greeter.options.log, "utf8")).toBe("goodbye\n".repeat(times));
    }
  });

  it("that was killed is gone, without a goodbye", async () => {
    const log = join(folder, "killed.log");
    const greeter = server({ log });
    await greeter.start();
    await greeter.kill();
    expect(greeter.pid).toBeUndefined();
    expect(await readFile(log, "utf8")).toBe("");
  });

  it("that ends instead of starting is told with its log", async () => {
    const args = ["--eval", 'console.error("no such flag"); process.exit(3)'];
    const broken = server({ args, log: join(folder, "broken.log") });
    await expect(broken.start()).rejects.toThrow(/greeter ended with status 3[\s\S]*no such flag/);
  });

  it("whose program is missing is told by its name", async () => {
    const missing = server({ program: join(folder, "nothing"), log: join(folder, "missing.log") });
    await expect(missing.start()).rejects.toThrow(/greeter .*ENOENT/);
  });
});

describe("the keeper", () => {
  const sleeper = () => spawn(process.execPath, ["--eval", "setTimeout(() => {}, 60_000)"]);

  it("ends and removes what is left when its input ends, and nothing else", async () => {
    const [left, ended, stranger] = [sleeper(), sleeper(), sleeper()];
    const folders = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), "entelix-kept-"))));
    const [forgotten = "", removed = ""] = folders;
    const keeper = spawn(process.execPath, [KEEPER], { stdio: ["pipe", "inherit", "inherit"] });
    // Both are waited for from here on: on a busy machine either may be told of first.
    const [over, kept] = [once(left, "exit"), once(keeper, "exit")];
    keeper.stdin.end(`+process ${left.pid}
+process ${ended.pid}
+folder ${forgotten}
+folder ${removed}
-process ${ended.pid}
-folder ${removed}
`);
    expect(await over).toEqual([null, "SIGKILL"]);
    await kept;
    expect(folders.map(existsSync)).toEqual([false, true]);
    await rm(removed, { recursive: true });
    for (const other of [ended, stranger]) {
      expect([other.exitCode, other.signalCode]).toEqual([null, null]);
      other.kill();
      await once(other, "exit");
    }
  });
});
