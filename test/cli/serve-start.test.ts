import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { command } from "./support/any-process.ts";
import { MAIN } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { completed, line, started } from "./support/recorded.ts";

const FULL_DISK = pathToFileURL(
  fileURLToPath(new URL("./fixtures/full-disk.mjs", import.meta.url)),
).href;

function serveArgs(folder: Folder): string[] {
  const { journal, audit } = { journal: folder.at("journal"), audit: folder.at("audit") };
  return ["serve", "--journal", journal, "--audit", audit, "--listen", "127.0.0.1:0"];
}

/** Starts the service, sends lines to it once it listens, then ends it by a signal. */
async function serveAndEnd(
  folder: Folder,
  signal: NodeJS.Signals,
  lines: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  let sent: Promise<Response> | undefined;
  const ended = await command(serveArgs(folder), {
    env,
    onStdout: (text, kill) => {
      const url = /Listening on (\S+)/.exec(text)?.[1];
      if (url === undefined || sent !== undefined) return;
      sent = fetch(`${url}/v1/events`, {
        method: "POST",
        headers: { "Content-Type": "application/x-ndjson" },
        body: lines.join("\n"),
      });
      sent.then(
        () => kill(signal),
        () => kill("SIGKILL"),
      );
    },
  });
  return { ...ended, answer: await sent?.then((answer) => answer.json()) };
}

/** Names in both folders, without their numbers. */
function names(folder: Folder): string[] {
  return [folder.at("journal"), folder.at("audit")].flatMap((path) =>
    readdirSync(path)
      .map((name) => name.replace(/[0-9a-f]{12}$/, "*").replace(/^lock-\d+$/, "lock-*"))
      .sort(),
  );
}

const LOCK = ["lock-*", "lock-reserve"];
const JOURNAL = ["checkpoint", "checkpoint.tmp", "lines-0000000000000000.v1.log", ...LOCK];
const AUDIT = [...LOCK, "segment-00000001.ndjson"];

describe.concurrent("serve on a disk that is full", () => {
  it("starts after a crash, as often as it crashes, and leaves nothing more each time", async () => {
    using folder = new Folder();
    const first = await serveAndEnd(folder, "SIGKILL", [started({ event_id: "e1" })]);
    expect(first.answer).toMatchObject({ accepted: 1 });
    const env = { NODE_OPTIONS: `--import=${FULL_DISK}`, ROOM: "0" };
    for (let crash = 0; crash < 3; crash += 1) {
      const { answer, stderr } = await serveAndEnd(folder, "SIGKILL", [line({})], env);
      expect(stderr).not.toContain("entelix-otel:");
      expect(answer).toMatchObject({ lines: 1 });
      expect(names(folder)).toEqual([...JOURNAL, "sock-*"].concat([...AUDIT, "sock-*"]));
    }
    const last = await serveAndEnd(folder, "SIGTERM", [completed({ event_id: "e2" })]);
    expect(last.code).toBe(0);
    expect(last.stdout).toContain("(1 line in the journal, 1 still needed)");
    expect(names(folder)).toEqual([...JOURNAL, ...AUDIT]);
  });

  it("says what to do where there is no room to start at all", async () => {
    using folder = new Folder();
    const env = { NODE_OPTIONS: `--import=${FULL_DISK}`, ROOM: "0" };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { code, stderr } = await command(serveArgs(folder), { env });
      expect(stderr).toContain(
        `--audit: ENOSPC: no space left on device, write\nFree disk space for ${folder.at("audit")}, then start again`,
      );
      expect(code).toBe(1);
      expect(readdirSync(folder.at("audit")).length).toBeLessThanOrEqual(2);
    }
  });
});

describe.concurrent("serve where no file can be read", () => {
  it.each([
    ["journal", "lock-5", "expected the lock of a log, which is a socket; found a named pipe"],
    ["audit", "lock-5", "expected the lock of a log, which is a socket; found a named pipe"],
    ["journal", "checkpoint", "expected a file, got a named pipe"],
    ["journal", "lines-0000000000000000.v1.log", "expected a file, got a named pipe"],
    ["audit", "segment-00000001.ndjson", "expected a file, got a named pipe"],
  ])("does not wait for a named pipe: %s/%s", async (place, name, said) => {
    using folder = new Folder();
    mkdirSync(folder.at(place));
    execFileSync("mkfifo", [folder.at(place, name)]);
    const { code, stderr } = await command(serveArgs(folder));
    expect(stderr).toContain(`${folder.at(place, name)}: ${said}`);
    expect(code).toBe(1);
  });

  it.each(["checkpoint.tmp", "lock-reserve"])("goes on without %s", async (name) => {
    using folder = new Folder();
    mkdirSync(folder.at("journal"));
    execFileSync("mkfifo", [folder.at("journal", name)]);
    const { code } = await serveAndEnd(folder, "SIGTERM", [started()]);
    expect(code).toBe(0);
  });
});

describe.concurrent("the first signal", () => {
  it.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])(
    "ends serve while it waits for what does not answer: %s",
    async (signal) => {
      using folder = new Folder();
      const silent = createServer().listen(0, "127.0.0.1");
      await once(silent, "listening");
      const address = silent.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const child = spawn(
        process.execPath,
        [
          MAIN,
          "serve",
          "--journal",
          folder.at("journal"),
          "--audit",
          `postgres://u@127.0.0.1:${port}/d`,
        ],
        { stdio: "ignore" },
      );
      const [socket] = await once(silent, "connection");
      child.kill(signal);
      expect(await once(child, "close")).toEqual([null, signal]);
      socket.destroy();
      silent.close();
    },
  );

  it("ends serve though its tokens are a named pipe by now, that nobody writes to", async () => {
    using folder = new Folder();
    const tokens = folder.at("tokens");
    const entry = { tenant: "acme", sha256: "0".repeat(64) };
    writeFileSync(tokens, JSON.stringify({ tokens: [entry] }));
    const args = ["serve", "--journal", folder.at("journal"), "--listen", "127.0.0.1:0"];
    let asked = false;
    const { code, stdout } = await command([...args, "--tokens", tokens], {
      onStdout: (text, kill) => {
        if (asked || !text.includes("Listening on")) return;
        asked = true;
        rmSync(tokens);
        execFileSync("mkfifo", [tokens]);
        kill("SIGHUP");
        // It reads the pipe by then, or is ended as usual.
        setTimeout(() => kill("SIGTERM"), 1_000);
      },
    });
    expect(stdout).toContain("Listening on");
    expect(code).toBe(0);
    expect(readFileSync(folder.at("journal", "checkpoint"), "utf8")).toContain('"end":0');
  });
});
