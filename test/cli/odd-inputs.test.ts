import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { command, MAIN } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { recording } from "./support/recorded.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DEVICE = "expected a file, got a device";

/** A command that waits for ever is a failure, and no test that goes on. */
const bound = () => ({ signal: AbortSignal.timeout(60_000) });

const PROGRAM = [process.execPath, MAIN];

/** The command of the background has said that it waits for a pipe. */
const WAITING = "while ! grep -q waiting said 2> /dev/null; do sleep 0.05; done";

/** Runs a script, with these arguments, in a folder. */
function shell(script: string, args: readonly string[], cwd: string) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd, timeout: 60_000 };
    execFile("sh", ["-c", script, "sh", ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

describe.concurrent("an input that never ends", () => {
  it.each([
    [["replay", "/dev/zero"], `/dev/zero: ${DEVICE}`],
    [["view", "/dev/zero", "--json"], `/dev/zero: ${DEVICE}`],
    [["report", "/dev/zero", "--out", "-"], `/dev/zero: ${DEVICE}`],
    [["audit", "verify", ".", "--against", "/dev/zero"], `--against: ${DEVICE}`],
    [["serve", "--journal", "journal", "--tokens", "/dev/zero"], `--tokens: /dev/zero: ${DEVICE}`],
    [["runs", "--token-file", "/dev/zero"], `--token-file: /dev/zero: ${DEVICE}`],
  ])("is refused: %s", async (args, said) => {
    using folder = new Folder();
    const { code, stderr } = await command(args, { cwd: folder.path, ...bound() });
    expect([code, stderr]).toEqual([1, `entelix-otel: ${said}\n`]);
  });

  it("is refused by what makes the rules of objectives", async () => {
    const { code, stderr } = await shell("npm run --silent slo -- /dev/zero", [], ROOT);
    const said = `/dev/zero: expected a file that can be read: ${DEVICE}\n`;
    expect([code, stderr]).toEqual([1, said]);
  });

  it("is left out by doctor", async () => {
    using folder = new Folder();
    const modules = folder.at("node_modules", "@opentelemetry", "api");
    mkdirSync(modules, { recursive: true });
    execFileSync("mkfifo", [`${modules}/package.json`]);
    const { signal } = await command(["doctor"], { cwd: folder.path, ...bound() });
    expect(signal).toBeNull();
  });
});

describe.concurrent("a named pipe", () => {
  it.each([
    ["replay", ["replay", "PIPE", "--out", "-"]],
    ["view", ["view", "PIPE", "--json"]],
  ])("is waited for, which is said, and read: %s", async (_, args) => {
    using folder = new Folder();
    const pipe = folder.at("pipe");
    execFileSync("mkfifo", [pipe]);
    const named = args.map((arg) => (arg === "PIPE" ? pipe : arg));
    const { code, stdout } = await shell(
      `"$@" 2> said & ${WAITING}; cat ${recording("success")} > pipe; wait $!`,
      [...PROGRAM, ...named],
      folder.path,
    );
    expect(readFileSync(folder.at("said"), "utf8")).toContain(
      `${pipe}: waiting, since nothing has been written to this pipe yet\n`,
    );
    expect(code).toBe(0);
    expect(stdout).toContain("react");
  });

  it("that a signal interrupts does not hold the command up", async () => {
    using folder = new Folder();
    const tokens = folder.at("tokens");
    execFileSync("mkfifo", [tokens]);
    const args = [...PROGRAM, "serve", "--journal", "journal", "--tokens", tokens];
    const script = `"$@" 2> said & ${WAITING}; kill -TERM $!; wait $!`;
    const { code } = await shell(script, args, folder.path);
    expect(code).toBe(143);
  });
});

it("report does not look at what is no file in a folder that it reads", async () => {
  using folder = new Folder();
  const runs = folder.at("runs");
  mkdirSync(runs);
  writeFileSync(`${runs}/a.ndjson`, readFileSync(recording("tool_error")));
  symlinkSync("/dev/zero", `${runs}/b.json`);
  symlinkSync("nowhere", `${runs}/c.txt`);
  execFileSync("mkfifo", [`${runs}/d.ndjson`]);
  const out = folder.at("report.html");
  const { code, stderr } = await command(["report", runs, "--out", out], bound());
  expect(code).toBe(2);
  expect(stderr).toBe(`${runs}: ${runs}/b.json: ${DEVICE} (1 more)\n`);
});
