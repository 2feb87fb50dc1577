import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT, readPage } from "../docs/pages.ts";

const page = readPage("docs/benchmarks.md");

/** Names of the tables that the programs write, as they stand in their code. */
function written(): readonly string[] {
  const programs = readdirSync(join(ROOT, "bench"))
    .filter((name) => name.endsWith(".mjs") && name !== "page.mjs")
    .map((name) => readPage(`bench/${name}`));
  return programs.flatMap((text) =>
    [...text.matchAll(/\bshow\("([\w-]+)"|\byield \["([\w-]+)"|^ {2}(\w+): \{\n {4}of: /gm)].map(
      ([, shown, yielded, table]) => shown ?? yielded ?? table ?? "",
    ),
  );
}

describe("the figures of docs/benchmarks.md", () => {
  const parts = [...page.matchAll(/^<!-- figures: ([\w-]+) -->\n(.*?)^<!-- \/figures -->$/gms)].map(
    ([, name = "", text = ""]) => ({ name, text }),
  );

  it("are the tables that the benchmarks write, and no others", () => {
    const names = parts.map(({ name }) => name);
    expect(names.toSorted()).toEqual([...written()].toSorted());
    expect(names.length).toBeGreaterThan(10);
    const tables = page.split("\n").filter((line) => /^\|[-|]+\|$/.test(line));
    const measured = parts.filter(({ text }) => text !== "Not measured yet.\n");
    expect(tables).toHaveLength(measured.length);
  });

  it.each(parts)("have the commit that they are of: $name", ({ text }) => {
    const table = /^\|.*\|\n\|[-|]+\|\n(?:\|.*\|\n)+\nCommit `[0-9a-f]{12}`, Node \d+\.[^\n]*\.\n$/;
    expect(text === "Not measured yet.\n" || table.test(text)).toBe(true);
  });
});

describe("bench/age.mjs", () => {
  const folder = mkdtempSync(join(tmpdir(), "entelix-otel-age-"));
  const origin = join(folder, "origin");
  /** From the oldest. */
  let commits: readonly string[] = [];
  beforeAll(() => {
    mkdirSync(origin);
    git(origin, ["init", "--quiet", "--initial-branch=main"]);
    const one = (n: number) =>
      `commit refs/heads/main\ncommitter a <a@example.com> ${1_000 + n} +0000\ndata 1\nx\n`;
    const all = Array.from({ length: 121 }, (_, n) => one(n)).join("");
    git(origin, ["fast-import", "--quiet"], all);
    commits = git(origin, ["rev-list", "--reverse", "main"]).trim().split("\n");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Says what the program says in a clone whose page has figures of these commits. */
  function ageIn(clone: string, of: readonly string[], more = "") {
    cpSync(join(ROOT, "bench/age.mjs"), join(clone, "bench/age.mjs"));
    mkdirSync(join(clone, "docs"), { recursive: true });
    const lines = of.map((commit) => `Commit \`${commit.slice(0, 12)}\`, Node 20.20.2, 2 cores.`);
    writeFileSync(join(clone, "docs/benchmarks.md"), `${lines.join("\n\n")}\n${more}`);
    const program = join(clone, "bench/age.mjs");
    const { status, stdout } = spawnSync(process.execPath, [program], { encoding: "utf8" });
    return { status, stdout: stdout.trim().split("\n") };
  }

  const behind = (count: number) => commits[commits.length - 1 - count] ?? "";

  it.each([
    [0, 0, "ok"],
    [20, 0, "ok"],
    [21, 0, "warning"],
    [99, 0, "warning"],
    [100, 1, "failed"],
  ])("%i commits behind: exit %i, %s", (count, status, state) => {
    const said = ageIn(origin, [behind(count)]);
    expect(said.status).toBe(status);
    expect(said.stdout).toHaveLength(1);
    expect(said.stdout[0]).toMatch(new RegExp(`^${state}: .* ${count} commits behind`));
  });

  it("judges the commit of each table", () => {
    const said = ageIn(origin, [behind(3), behind(110), behind(3)]);
    expect(said.status).toBe(1);
    expect(said.stdout.map((line) => line.split(":")[0])).toEqual(["ok", "failed"]);
  });

  it("warns in a shallow clone that does not have the commit", () => {
    const clone = join(folder, "shallow");
    git(folder, ["clone", "--quiet", "--depth=10", `file://${origin}`, clone]);
    const said = ageIn(clone, [behind(110)]);
    expect(said.status).toBe(0);
    expect(said.stdout).toEqual([
      expect.stringMatching(
        /^warning: .* not in the history of this clone \(shallow, or rewritten\): their age is unknown$/,
      ),
    ]);
    expect(ageIn(clone, [behind(4)]).stdout[0]).toMatch(/^ok: .* 4 commits behind$/);
  });

  it("warns of tables without figures", () => {
    const said = ageIn(origin, [behind(3)], "Not measured yet.\n");
    expect(said.status).toBe(0);
    expect(said.stdout[1]).toBe("warning: docs/benchmarks.md has tables without figures: 1");
  });
});

/** Without the settings of the machine. */
function git(cwd: string, args: readonly string[], input = ""): string {
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", HOME: cwd };
  return execFileSync("git", args, { cwd, env, input, encoding: "utf8" });
}
