import { spawn } from "node:child_process";
import { link, open, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { NdjsonSessionLog } from "../../../src/entries/audit.ts";
import { entry } from "../../audit/support/entries.ts";
import { MAIN } from "../../cli/support/command.ts";
import { keep } from "../../e2e/support/keeper.ts";
import { wholeRuns } from "../../e2e/support/serve-runs.ts";
import type { Family } from "../family.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import type { Trial } from "../trial.ts";

/** Names of one input, and how it is given: an output by one of the names must not destroy it. */
interface Alias {
  readonly name: string;
  /** @returns what stands for the output, and for the input where that is not its own name. */
  make(
    input: string,
    folder: string,
  ): Promise<{ readonly output: string; readonly source?: string }>;
}

const ALIASES: readonly Alias[] = [
  { name: "the same path", make: async (input) => ({ output: input }) },
  {
    name: "a path with dots",
    make: async (input, folder) => ({
      output: `${folder}/../${basename(folder)}/./events.ndjson`,
      source: input,
    }),
  },
  {
    name: "a symbolic link",
    make: async (input, folder) => {
      await symlink(input, join(folder, "link"));
      return { output: join(folder, "link") };
    },
  },
  {
    name: "a symbolic link as the input",
    make: async (input, folder) => {
      await symlink(input, join(folder, "link"));
      return { output: input, source: join(folder, "link") };
    },
  },
  {
    name: "a hard link",
    make: async (input, folder) => {
      await link(input, join(folder, "hard"));
      return { output: join(folder, "hard") };
    },
  },
  {
    name: "a hard link of a symbolic link's file",
    make: async (input, folder) => {
      await symlink(input, join(folder, "link"));
      await link(input, join(folder, "hard"));
      return { output: join(folder, "hard"), source: join(folder, "link") };
    },
  },
  { name: "redirected standard input", make: async (input) => ({ output: input, source: "-" }) },
  {
    name: "a hard link of redirected standard input",
    make: async (input, folder) => {
      await link(input, join(folder, "hard"));
      return { output: join(folder, "hard"), source: "-" };
    },
  },
  { name: "/dev/stdin", make: async () => ({ output: "/dev/stdin", source: "-" }) },
  {
    name: "/dev/stdin as the input",
    make: async (input) => ({ output: input, source: "/dev/stdin" }),
  },
];

/** The files that a replay reads are never what it writes over. */
export const outputs: Family = {
  name: "outputs",
  about: "replay --out and --rejects by another name of their input: refused, the input untouched",
  async run(trials, size) {
    const options = { width: 3 };
    for (const option of ["--out", "--rejects"]) {
      await trials.each(
        `${option}: an input by another name`,
        ALIASES.length,
        (trial, index) => aliased(trial, option, ALIASES[index]),
        options,
      );
      await trials.each(
        `${option}: a segment of the audit log`,
        size.of(6, 3),
        (trial, index) => segment(trial, option, index),
        options,
      );
    }
    await trials.one("--out and --rejects: one file", oneFile);
    await trials.one("another file", another);
  },
};

async function aliased(trial: Trial, option: string, alias: Alias | undefined): Promise<void> {
  if (alias === undefined) return;
  const folder = await trial.folder();
  const { input, text } = await recorded(trial);
  const { output, source = input } = await alias.make(input, folder);
  const ran = await replayFrom(trial, input, [source, option, output]);
  untouched(trial, alias.name, await readFile(input, "utf8"), text);
  refused(trial, alias.name, ran, option);
}

/** The log that is written, and a log that is read as an input. */
async function segment(trial: Trial, option: string, index: number): Promise<void> {
  const folder = await trial.folder();
  const audit = join(folder, "audit");
  const log = await NdjsonSessionLog.open(audit);
  await log.append({ tenant_id: "acme", thread_id: "t1" }, [entry("a row")]);
  await log.close();
  const path = join(audit, "segment-00000001.ndjson");
  const text = await readFile(path, "utf8");
  const output = index % 3 === 1 ? join(folder, "hard") : path;
  if (index % 3 === 1) await link(path, output);
  const { input } = await recorded(trial);
  const isRead = index % 3 === 2;
  const args = isRead ? [path, option, output] : [input, "--audit", audit, option, output];
  const ran = await replayFrom(trial, input, args);
  const what = isRead ? "read as an input" : "of the log that is written";
  const left = await readFile(path, "utf8");
  // The log may have gone on behind what it had.
  untouched(trial, what, isRead ? left : left.slice(0, text.length), text);
  // Another name of the written segment is replaced, and the segment stays.
  if (index % 3 === 1) trial.equal("another name of the segment: exit code", ran.code, 2);
  else refused(trial, what, ran, option);
}

/** One of two outputs would be in the middle of the other. */
async function oneFile(trial: Trial): Promise<void> {
  const { input, text } = await recorded(trial);
  const output = join(await trial.folder(), "both");
  const ran = await replayFrom(trial, input, [input, "--out", output, "--rejects", output]);
  untouched(trial, "two outputs in one file", await readFile(input, "utf8"), text);
  refused(trial, "two outputs in one file", ran, "--rejects");
}

/** A file that is no input is written, and one that was there is replaced. */
async function another(trial: Trial): Promise<void> {
  const { input, text } = await recorded(trial);
  const output = join(await trial.folder(), "spans.ndjson");
  await writeFile(output, "what was there before");
  const { code, stderr } = await replayFrom(trial, input, ["-", "--out", output]);
  trial.equal("exit code", code, 2);
  trial.says("the bad line", stderr, /^stdin:25: json: /);
  untouched(trial, "another file", await readFile(input, "utf8"), text);
  const spans = (await readFile(output, "utf8")).split("\n").filter((line) => line !== "");
  trial.equal(
    "every line a request",
    spans.every((line) => line.startsWith('{"resourceSpans"')),
    true,
  );
  trial.equal("spans there", (await stat(output)).size > 0, true);
  trial.accept();
}

async function recorded(trial: Trial): Promise<{ readonly input: string; readonly text: string }> {
  const input = join(await trial.folder(), "events.ndjson");
  const lines = wholeRuns(3, "acme", 0, () => seededUuid(trial.random)).flat();
  const text = [...lines, "{no event}"].map((line) => `${line}\n`).join("");
  await writeFile(input, text);
  return { input, text };
}

interface Ran {
  readonly code: number | null;
  readonly stderr: string;
}

/** Runs `replay` with the input as its standard input, opened to read and write as a shell's `<>` does. */
async function replayFrom(trial: Trial, input: string, args: readonly string[]): Promise<Ran> {
  await using file = await open(input, "r+");
  const child = spawn(process.execPath, [MAIN, "replay", ...args], {
    stdio: [file.fd, "ignore", "pipe"],
  });
  keep(child);
  trial.atEnd(() => child.kill("SIGKILL"));
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, stderr };
}

function untouched(trial: Trial, what: string, found: string, expected: string): void {
  if (found === expected) return;
  const harm = found.length < expected.length ? "lost" : "altered";
  trial.harm(harm, `${what}: ${expected.length} characters as before`, `${found.length}: ${found}`);
}

function refused(trial: Trial, what: string, { code, stderr }: Ran, option: string): void {
  trial.refuse();
  trial.equal(`${what}: exit code`, code, 1);
  trial.says(`${what}: the option`, stderr, new RegExp(option));
}
