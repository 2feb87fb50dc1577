import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { command } from "./support/any-process.ts";
import { command as builtCommand, MAIN } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { readSpans } from "./support/otlp-lines.ts";
import { completed, recording, started } from "./support/recorded.ts";

const INPUT = readFileSync(recording("success"), "utf8");

/** A folder with a recording `in`, and what else the test puts there. */
function folderWithInput(): Folder {
  const folder = new Folder();
  writeFileSync(folder.at("in"), INPUT);
  return folder;
}

/** Runs a line of shell in a folder; `$R` is the command. */
function shell(folder: Folder, script: string) {
  const { PATH = "" } = process.env;
  const { status, stderr, stdout } = spawnSync("bash", ["--norc", "-c", script], {
    cwd: folder.path,
    encoding: "utf8",
    env: { PATH, R: `${process.execPath} ${MAIN}` },
  });
  return { code: status, stderr, stdout };
}

/** Names of files that are not in their places. */
function drafts(folder: Folder): string[] {
  return readdirSync(folder.path).filter((name) => name.endsWith(".tmp"));
}

async function auditLog(folder: Folder): Promise<string> {
  await command(["replay", folder.at("in"), "--audit", folder.at("log"), "--no-spans"]);
  return folder.at("log", "segment-00000001.ndjson");
}

describe.concurrent("an output that is one of the files to read", () => {
  it.each([
    ["by its name", "in", ["in"]],
    ["by another path", "./../FOLDER/in", ["in"]],
    ["by a symbolic link", "soft", ["in"]],
    ["by a hard link", "hard", ["in"]],
    ["which is a hard link", "in", ["other", "hard"]],
    ["as redirected standard input", "in", ["-", "< in"]],
    ["as standard input that is read by a name", "hard", ["/dev/stdin", "< in"]],
    ["as one of many", "in", ["other", "in"]],
    ["as standard input itself", "/dev/stdin", ["-", "< in"]],
  ])("is refused, and stays as it is (%s)", async (_, name, inputs) => {
    using folder = folderWithInput();
    const output = name.replace("FOLDER", basename(folder.path));
    writeFileSync(folder.at("other"), INPUT);
    linkSync(folder.at("in"), folder.at("hard"));
    symlinkSync("in", folder.at("soft"));
    // Only a process has a standard input that is a file.
    const isRedirected = inputs.includes("< in");
    for (const args of [
      ["--out", output],
      ["--rejects", output],
      ["--rejects", output, "--no-spans", "--audit", "log"],
    ]) {
      const words = ["replay", ...args, ...inputs];
      const { code, stderr, stdout } = isRedirected
        ? shell(folder, `$R ${words.join(" ")}`)
        : await command(words, { cwd: folder.path });
      expect(stderr).toContain(`entelix-otel: ${args[0]}: `);
      expect(stderr).toContain(" is one of the files to read");
      expect([code, stdout]).toEqual([1, ""]);
      expect(readFileSync(folder.at("in"), "utf8")).toBe(INPUT);
    }
    expect(existsSync(folder.at("log"))).toBe(false);
    expect(drafts(folder)).toEqual([]);
  });

  it("is allowed to be a device, which has nothing to lose", async () => {
    const { code } = await command(["replay", "/dev/null", "--out", "/dev/null"]);
    expect(code).toBe(0);
  });
});

describe.concurrent("two outputs", () => {
  it.each([
    ["--out a --rejects ./a"],
    ["--out a --rejects a-link"],
    ["--out b --rejects b-hard"],
    ["--out folder/a --rejects folder-link/a"],
    ["--out a --audit a"],
    ["--rejects a --audit a/log"],
    ["--rejects folder/a --audit folder-link/a"],
  ])("are refused where they are one (%s)", async (options) => {
    using folder = folderWithInput();
    mkdirSync(folder.at("folder"));
    symlinkSync("folder", folder.at("folder-link"));
    symlinkSync("a", folder.at("a-link"));
    writeFileSync(folder.at("b"), "before");
    linkSync(folder.at("b"), folder.at("b-hard"));
    const before = readdirSync(folder.path);
    const args = ["replay", "in", ...options.split(" ")];
    const { code, stderr } = await command(args, { cwd: folder.path });
    expect(stderr).toMatch(/^entelix-otel: --(?:out|rejects) and --(?:rejects|audit): expected /);
    expect(code).toBe(1);
    expect(readdirSync(folder.path)).toEqual(before);
    expect(readFileSync(folder.at("b"), "utf8")).toBe("before");
  });

  it.each([
    ["$R replay in --out f > f", "is where standard output goes"],
    ["$R replay in --rejects f 2> f; cat f >&2", "is where standard error goes"],
  ])("are refused where one is what the shell has opened (%s)", (script, said) => {
    using folder = folderWithInput();
    const { stderr } = shell(folder, script);
    expect(stderr).toContain(said);
  });
});

describe.concurrent("an output in the folder of a log", () => {
  it.each([
    "log/segment-00000001.ndjson",
    "log/segment-00000002.ndjson",
    "log/segment-00000001.index",
    "log/lock-1",
    "log/lock-2",
    "log/lock-reserve",
    "log/archive/anything",
    "log/torn/anything",
    "link",
    "folder-link/segment-00000001.ndjson",
  ])("is refused where it is the log's: %s", async (name) => {
    using folder = folderWithInput();
    const segment = await auditLog(folder);
    const before = readFileSync(segment, "utf8");
    mkdirSync(folder.at("log", "archive"));
    mkdirSync(folder.at("log", "torn"));
    symlinkSync(segment, folder.at("link"));
    symlinkSync("log", folder.at("folder-link"));
    const names = readdirSync(folder.at("log"));
    for (const option of ["--out", "--rejects"]) {
      const { code, stderr } = await command(["replay", "in", option, name], { cwd: folder.path });
      expect(stderr).toMatch(
        /^entelix-otel: --\w+: \S+ is a file of an audit log, in \S+\/log\nUse a file in another directory\.\n$/,
      );
      expect(code).toBe(1);
    }
    expect(readFileSync(segment, "utf8")).toBe(before);
    expect(readdirSync(folder.at("log"))).toEqual(names);
  });

  it.each(["lines-0000000000000000.v1.log", "lines-0000000000000009.v1.log", "checkpoint"])(
    "is refused where it is a journal's: %s",
    async (name) => {
      using folder = folderWithInput();
      writeFileSync(folder.at("lines-0000000000000000.v1.log"), "lines");
      const { code, stderr } = await command(["replay", "in", "--out", name], { cwd: folder.path });
      expect(stderr).toContain(`--out: ${name} is a file of a journal, in `);
      expect(code).toBe(1);
      expect(readFileSync(folder.at("lines-0000000000000000.v1.log"), "utf8")).toBe("lines");
    },
  );

  it("is refused where the log is made by the same command", async () => {
    using folder = folderWithInput();
    mkdirSync(folder.at("log"));
    const args = ["replay", "in", "--audit", "log", "--out", "log/segment-00000001.ndjson"];
    const { code, stderr } = await command(args, { cwd: folder.path });
    expect([code, stderr.includes("is a file of an audit log")]).toEqual([1, true]);
  });

  it("is taken where it is nobody's: called like a log's file in another folder, or beside the log's", async () => {
    using folder = folderWithInput();
    await auditLog(folder);
    for (const name of ["lock-1", "checkpoint", "segment-00000001.ndjson", "log/spans.ndjson"]) {
      const { code } = await command(["replay", "in", "--out", name], { cwd: folder.path });
      expect([name, code, readSpans(folder.at(name)).length]).toEqual([name, 0, 4]);
    }
  });
});

describe.concurrent("--audit with a log that is read", () => {
  it.each([
    ["its file", "log/segment-00000001.ndjson"],
    ["a hard link to it", "hard"],
    ["a symbolic link to it", "soft"],
    ["standard input", "- < hard"],
    ["one that is archived", "log/archive/segment-00000000.ndjson"],
  ])("is refused: %s", async (_, input) => {
    using folder = folderWithInput();
    const segment = await auditLog(folder);
    mkdirSync(folder.at("log", "archive"));
    copyFileSync(segment, folder.at("log", "archive", "segment-00000000.ndjson"));
    linkSync(segment, folder.at("hard"));
    symlinkSync(segment, folder.at("soft"));
    const before = readFileSync(segment, "utf8");
    const { code, stderr } = input.includes("<")
      ? shell(folder, `$R replay --audit log ${input}`)
      : await command(["replay", "--audit", "log", input], { cwd: folder.path });
    expect(stderr).toContain("--audit: expected a log that is not an input, got ");
    expect(code).toBe(1);
    expect(readFileSync(segment, "utf8")).toBe(before);
  });

  it("takes another log, and a recording that lies beside the log's files", async () => {
    using folder = folderWithInput();
    const segment = await auditLog(folder);
    copyFileSync(folder.at("in"), folder.at("log", "in.ndjson"));
    for (const [input, audit] of [
      [segment, "other"],
      [folder.at("log", "in.ndjson"), "log"],
    ] as const) {
      const { code } = await command(["replay", input, "--no-spans", "--audit", folder.at(audit)]);
      expect(code).toBe(0);
    }
  });
});

describe.concurrent("a file that is written", () => {
  it("keeps its mode, and its links as they are", async () => {
    using folder = folderWithInput();
    writeFileSync(folder.at("file"), "before");
    chmodSync(folder.at("file"), 0o640);
    symlinkSync("file", folder.at("link"));
    symlinkSync("new", folder.at("link-to-nothing"));
    for (const name of ["link", "link-to-nothing"]) {
      const { code } = await command(["replay", "in", "--out", name], { cwd: folder.path });
      expect([code, lstatSync(folder.at(name)).isSymbolicLink()]).toEqual([0, true]);
    }
    expect(statSync(folder.at("file")).mode & 0o777).toBe(0o640);
    expect(readSpans(folder.at("file")).length).toBe(4);
    expect(readSpans(folder.at("new")).length).toBe(4);
    expect(drafts(folder)).toEqual([]);
  });

  it("is there though lines were rejected: exit code 2", async () => {
    using folder = folderWithInput();
    const input = `${started()}\nbad\n${completed()}\n`;
    const args = ["replay", "-", "--out", folder.at("out"), "--rejects", folder.at("rejects")];
    const { code } = await command(args, { stdin: input });
    expect(code).toBe(2);
    expect(readSpans(folder.at("out")).length).toBe(1);
    expect(readFileSync(folder.at("rejects"), "utf8")).toBe("bad\n");
  });

  it.each<NodeJS.Signals>(["SIGINT", "SIGTERM"])(
    "stays as it was where the command is ended by %s",
    async (signal) => {
      using folder = folderWithInput();
      writeFileSync(folder.at("out"), "before");
      const child = spawn(
        process.execPath,
        [MAIN, "replay", "-", "--out", "out", "--rejects", "new"],
        {
          cwd: folder.path,
          stdio: ["pipe", "ignore", "ignore"],
        },
      );
      child.stdin.write(INPUT);
      await waitFor(() => expect(drafts(folder)).toHaveLength(2));
      child.kill(signal);
      expect((await once(child, "close"))[1]).toBe(signal);
      expect(readdirSync(folder.path)).toEqual(["in", "out"]);
      expect(readFileSync(folder.at("out"), "utf8")).toBe("before");
    },
  );

  it("stays as it was where the disk has no room for the new one", () => {
    using folder = folderWithInput();
    writeFileSync(folder.at("out"), "before");
    // A file may have 1 KiB at most: more than the rejects take, less than the spans. Node leaves the signal alone.
    const { code, stderr } = shell(
      folder,
      "trap '' XFSZ; ulimit -f 1; $R replay in --out out --rejects rejects",
    );
    expect(stderr).toContain("entelix-otel: --out: EFBIG: file too large, write\n");
    expect(code).toBe(1);
    expect(readFileSync(folder.at("out"), "utf8")).toBe("before");
    expect(drafts(folder)).toEqual([]);
  });

  it("stays as it was where something else fails before the input is read", async () => {
    using folder = folderWithInput();
    writeFileSync(folder.at("out"), "before");
    writeFileSync(folder.at("audit"), "no folder");
    const args = ["replay", "in", "--out", "out", "--rejects", "rejects", "--audit", "audit"];
    // A process removes its drafts when it ends.
    const { code } = await builtCommand(args, { cwd: folder.path });
    expect([code, readdirSync(folder.path)]).toEqual([1, ["audit", "in", "out"]]);
    expect(readFileSync(folder.at("out"), "utf8")).toBe("before");
  });

  it.each([
    ["", "FILE after it"],
    ["none/", "expected a file, got none/"],
    ["folder", "EISDIR"],
    ["no/such/file", "ENOENT: no such file or directory, open 'no/such/file'"],
  ])("is refused where it is none: %j", async (name, said) => {
    using folder = folderWithInput();
    mkdirSync(folder.at("folder"));
    const args = ["replay", "in", "--out", name];
    const { code, stderr } = await command(args, { cwd: folder.path });
    expect([code, stderr.includes(said)]).toEqual([1, true]);
    expect(readdirSync(folder.path)).toEqual(["folder", "in"]);
  });
});

describe.concurrent("what is no file", () => {
  it("is written to as it is", () => {
    using folder = folderWithInput();
    execFileSync("mkfifo", [folder.at("pipe")]);
    const script = `
      cat pipe > from-pipe & $R replay in --out pipe > /dev/null; wait
      $R replay in --out /dev/null > /dev/null
      $R replay in --out >(cat > from-process) > /dev/null
      echo first > descriptor; $R replay in --out /dev/fd/3 3>> descriptor > /dev/null
      $R replay in --out /dev/stdout > from-stdout 2> summary
      until [ -s from-process ]; do sleep 0.1; done`;
    const { code, stderr } = shell(folder, script);
    expect([code, stderr]).toEqual([0, ""]);
    expect(lstatSync(folder.at("pipe")).isFIFO()).toBe(true);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
    const expected = readSpans(folder.at("from-pipe"));
    expect(expected.length).toBe(4);
    for (const name of ["from-process", "from-stdout"]) {
      expect([name, readSpans(folder.at(name))]).toEqual([name, expected]);
    }
    const [first, spans] = readFileSync(folder.at("descriptor"), "utf8").split("\n");
    expect([first, spans]).toEqual(["first", readFileSync(folder.at("from-pipe"), "utf8").trim()]);
    expect(readFileSync(folder.at("summary"), "utf8")).toContain("8 events, 1 run, 4 spans");
    expect(readdirSync(folder.path)).not.toContain(basename("/dev/null"));
  });
});
