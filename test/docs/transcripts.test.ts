import { execFileSync } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/commands.ts";
import { codeBlocks, PAGES, ROOT, readPage } from "./pages.ts";

interface Transcript {
  readonly command: string;
  readonly output: string;
}

const transcripts: readonly Transcript[] = codeBlocks(readPage("docs/recordings.md")).flatMap(
  ({ text }) =>
    text
      .split(/^\$ entelix-otel /m)
      .slice(1)
      .map((part) => {
        const [command = "", ...output] = part.split("\n");
        return { command, output: output.join("\n") };
      }),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-test-"));
  await symlink(join(ROOT, "recordings"), join(folder, "recordings"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the built command in a folder of its own. */
function run(command: string): string {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("OTEL_"));
  const env = { ...Object.fromEntries(inherited), NO_COLOR: "1" };
  const args = [join(ROOT, "dist/cli/main.mjs"), ...command.split(" ")];
  return execFileSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });
}

describe("the transcripts of docs/recordings.md", () => {
  it("are there", () => {
    expect(transcripts.map(({ command }) => command.split(" ")[0])).toEqual(["replay", "audit"]);
  });

  // One after the other: the log that is verified is the one that was replayed.
  it.each(transcripts)("$command", ({ command, output }) => {
    expect(run(command)).toBe(output);
  });
});

describe("commands and options in the pages", () => {
  it("are there", async () => {
    const loaded = COMMANDS.map(
      async ({ load, name }) => [name, Object.keys((await load()).options)] as const,
    );
    const options = new Map(await Promise.all(loaded));
    const unknown = PAGES.flatMap((page) =>
      [...readPage(page).matchAll(/entelix-otel ((?:audit )?[a-z]+)((?: (?!`)[^\n`]*)?)/g)].flatMap(
        ([, command = "", rest = ""]) => {
          const known = options.get(command);
          if (known === undefined) return [`${page}: ${command}`];
          const used = [...rest.matchAll(/--([a-z-]+)/g)].map(([, option = ""]) => option);
          return used
            .filter((option) => option !== "help" && !known.includes(option))
            .map((option) => `${page}: ${command} --${option}`);
        },
      ),
    );
    expect(unknown).toEqual([]);
  });
});
