import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { command } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { recording } from "./support/recorded.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DEVICE = "expected a file, got a device";

/** A command that waits for ever is a failure, and no test that goes on. */
const bound = () => ({ signal: AbortSignal.timeout(60_000) });

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

  it("is refused by what makes the rules of objectives", () => {
    const { status, stderr } = spawnSync("npm", ["run", "--silent", "slo", "--", "/dev/zero"], {
      cwd: ROOT,
      encoding: "utf8",
      timeout: 60_000,
    });
    const said = `/dev/zero: expected a file that can be read: ${DEVICE}\n`;
    expect([status, stderr]).toEqual([1, said]);
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
    // Written to only once the command has said that it waits.
    const script = `"$0" "$@" 2> said & while ! grep -q waiting said 2> /dev/null; do sleep 0.05; done; cat ${recording("success")} > pipe; wait $!`;
    const { main, node } = programs();
    const named = args.map((arg) => (arg === "PIPE" ? pipe : arg));
    const found = spawnSync("sh", ["-c", script, node, main, ...named], {
      cwd: folder.path,
      encoding: "utf8",
      timeout: 60_000,
    });
    expect(readFileSync(folder.at("said"), "utf8")).toContain(
      `${pipe}: waiting, since nothing has been written to this pipe yet\n`,
    );
    expect(found.status).toBe(0);
    expect(found.stdout).toContain("react");
  });

  it("that a signal interrupts does not hold the command up", async () => {
    using folder = new Folder();
    const tokens = folder.at("tokens");
    execFileSync("mkfifo", [tokens]);
    const script = `"$0" "$@" 2> said & while ! grep -q waiting said 2> /dev/null; do sleep 0.05; done; kill -TERM $!; wait $!`;
    const { main, node } = programs();
    const args = [main, "serve", "--journal", "journal", "--tokens", tokens];
    const options = { cwd: folder.path, timeout: 60_000 };
    const { status } = spawnSync("sh", ["-c", script, node, ...args], options);
    expect(status).toBe(143);
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

function programs() {
  return { node: process.execPath, main: fileURLToPath(new URL("../../dist/cli/main.mjs", import.meta.url)) };
}
