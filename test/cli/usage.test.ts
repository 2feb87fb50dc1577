import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { run } from "../../src/cli/run.ts";
import { readText } from "../support/golden.ts";
import { command } from "./support/any-process.ts";
import { MAIN } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { memoryIo } from "./support/memory-io.ts";
import { recording } from "./support/recorded.ts";

const COMMANDS = [
  "demo",
  "replay",
  "serve",
  "token",
  "consume",
  "where",
  "audit verify",
  "audit show",
  "audit erase",
  "doctor",
];

describe("the command line", () => {
  it("lists every command, on stdout when asked and on stderr when nothing was", async () => {
    const [asked, nothing] = await Promise.all([command(["--help"]), command([])]);
    expect([asked.code, nothing.code]).toEqual([0, 1]);
    expect(nothing.stderr).toBe(asked.stdout);
    expect(nothing.stdout).toBe("");
    for (const name of COMMANDS) expect(asked.stdout).toContain(`\n  ${name} `);
  });

  it.each(COMMANDS)("%s --help shows its usage, and --version the version", async (name) => {
    const words = name.split(" ");
    const [help, long, version] = await Promise.all([
      command([...words, "--help"]),
      command(["help", ...words]),
      command([...words, "--version"]),
    ]);
    expect(help.code).toBe(0);
    expect(help.stdout.startsWith(`Usage: entelix-otel ${name}`)).toBe(true);
    expect(long.stdout).toBe(help.stdout);
    const manifest: { version: string } = JSON.parse(readText("../package.json"));
    expect([version.code, version.stdout]).toEqual([0, `${manifest.version}\n`]);
  });

  it("says in the help of a service what it needs, where spans' settings come from, and how it ends", async () => {
    const [serve, consume] = (
      await Promise.all(["serve", "consume"].map((name) => command([name, "--help"])))
    ).map(({ stdout }) => stdout.replace(/\n +/g, " ").replaceAll("\n", " "));
    expect(serve).toMatch(/--journal DIR [^-]* Required\. /);
    for (const option of ["brokers HOST:PORT,…", "topic TOPIC", "dead-letter TOPIC"]) {
      expect(consume).toMatch(new RegExp(`--${option} [^-]* Required\\. `));
    }
    for (const help of [serve, consume]) {
      expect(help).toContain("come from the OTEL_EXPORTER_OTLP_* variables.");
      expect(help).toContain("Exit code: 0 stopped by a signal, 1");
      expect(help).toMatch(/--audit DIR\|URL /);
    }
  });

  it("loads the code of the command that is named, and of no other", async () => {
    const code = { operands: "", least: 0, most: 0, options: {}, notes: [], run: async () => 3 };
    const listed = ["audit show", "audit verify", "where"].map((name) => ({
      name,
      summary: `Does ${name}.`,
      load: vi.fn(async () => code),
    }));
    const loaded = async (...args: string[]) => {
      for (const { load } of listed) load.mockClear();
      const exitCode = await run(args, memoryIo().io, listed);
      return [exitCode, listed.filter(({ load }) => load.mock.calls.length > 0).map((l) => l.name)];
    };
    for (const args of [["--help"], ["help"], ["--version"], ["audit", "--help"]]) {
      expect(await loaded(...args)).toEqual([0, []]);
    }
    expect(await loaded()).toEqual([1, []]);
    expect(await loaded("wheer")).toEqual([1, []]);
    expect(await loaded("where")).toEqual([3, ["where"]]);
    expect(await loaded("audit", "verify", "--help")).toEqual([0, ["audit verify"]]);
  });

  it("shows the help of a group of commands", async () => {
    const { code, stdout } = await command(["audit", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("audit verify");
    expect(stdout).not.toContain("replay");
    expect(await command(["help", "audit"])).toMatchObject({ code, stdout, stderr: "" });
  });

  it.each([
    [["replya", "x"], "unknown command replya. Did you mean replay?"],
    [["nonsense"], "unknown command nonsense"],
    [["audit", "vrify"], "expected audit verify or audit show or audit erase, got audit vrify"],
    [["--jsno"], "expected a command before --jsno"],
    [["replay"], "expected FILE… after replay"],
    [["replay", "x", "--otu", "y"], "unknown option --otu. Did you mean --out?"],
    [["replay", "x", "-q"], "unknown option -q"],
    [["replay", "x", "--out", "--json"], "--out: expected FILE after it"],
    [["replay", "x", "--rejects"], "--rejects: expected FILE after it"],
    [["replay", "x", "--endpoint="], "--endpoint: expected URL after it"],
    [["consume", "--dead-letter="], "--dead-letter: expected TOPIC after it"],
    [["replay", "x", "--out", "a", "--out", "b"], "--out: expected only one, got two that differ"],
    [["replay", "x", "--json=yes"], '--json: expected no value, got "yes"'],
    [["where", "a", "b"], "expected one RUN_ID after where, got 2"],
    [["demo", "x"], "expected nothing after demo, got 1"],
    [["where", "--__proto__", "x"], "unknown option --__proto__"],
    [["replay", "x", "\x1b[31m", "--\x1b[2J"], "unknown option --\\x1b[2J"],
  ])("%j is refused with exit code 1 and a hint", async (args, message) => {
    const { code, stderr, stdout } = await command(args);
    const [first = "", hint = ""] = stderr.split("\n");
    expect(first).toBe(`entelix-otel: ${message}`);
    expect(hint).toMatch(/^Run: entelix-otel .*--help$/);
    expect([code, stdout]).toEqual([1, ""]);
  });

  // `--audit=$DIR` with a variable that is not set made a log among the user's own files.
  it.each(["replay", "demo"])(
    "%s --audit= is refused, and makes no log in the working directory",
    async (name) => {
      using folder = new Folder();
      const files = name === "demo" ? [] : [recording("success")];
      const { code, stderr } = await command([name, ...files, "--audit="], { cwd: folder.path });
      expect([code, stderr]).toEqual([
        1,
        `entelix-otel: --audit: expected DIR after it\nRun: entelix-otel ${name} --help\n`,
      ]);
      expect(readdirSync(folder.path)).toEqual([]);
    },
  );

  it.each([
    ["replay", [recording("success"), "--audit", "-"], "--audit: expected a directory, got -"],
    ["replay", [recording("success"), "--audit", "-"], "--audit: expected a directory, got -"],
    ["demo", ["--audit", "-"], "--audit: expected a directory, got -"],
    [
      "serve",
      ["--journal", "journal", "--audit", "-"],
      "--audit: expected a directory or postgres://…, got -",
    ],
    ["serve", ["--journal", "-"], "--journal: expected a directory, got -"],
    ["serve", ["--journal", "file://x/y"], "--journal: expected a directory, got a URL (file://…)"],
  ])("%s %j is refused, and makes no folder", async (name, args, said) => {
    using folder = new Folder();
    const { code, stderr } = await command([name, ...args], { cwd: folder.path });
    expect([code, stderr.split("\n")[0]]).toEqual([1, `entelix-otel: ${said}`]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.each([
    [["replay", recording("success"), "--audit"], "--audit:"],
    [["serve", "--listen", "127.0.0.1:0", "--journal"], "--journal FILE:"],
  ])("%j is refused where a file is named", async (args, said) => {
    using folder = new Folder();
    const file = folder.at("file");
    writeFileSync(file, "");
    const { code, stderr } = await command([...args, file]);
    expect([code, stderr.replaceAll(file, "FILE")]).toEqual([
      1,
      `entelix-otel: ${said} FILE: expected a directory, got a file\n`,
    ]);
  });

  it.skipIf(!existsSync("/dev/full"))(
    "fails where its standard output can't be written",
    async () => {
      const printed = spawnSync(
        "sh",
        ["-c", '"$0" "$1" --help >/dev/full', process.execPath, MAIN],
        {
          encoding: "utf8",
        },
      );
      expect([printed.status, printed.stderr]).toEqual([
        1,
        "entelix-otel: standard output: ENOSPC: no space left on device, write\n",
      ]);
    },
  );
});
