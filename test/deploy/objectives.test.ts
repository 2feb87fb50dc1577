import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countsOf } from "../../deploy/slo/src/counted.ts";
import { readObjectives } from "../../deploy/slo/src/read-objectives.ts";
import { rulesText } from "../../deploy/slo/src/rules.ts";
import { readPage } from "../docs/pages.ts";

const ROOT = join(import.meta.dirname, "../..");

const read = (...lines: readonly string[]) =>
  readObjectives(`objectives:\n  - ${lines.join("\n    ")}\n`, "objectives.yml");

const GENERATE = "deploy/slo/src/generate.ts";

/** Bundles the program once for many runs, as `npm run slo` does for each. */
async function withGenerate(use: (bundle: string) => void): Promise<void> {
  const module = new URL("../../scripts/bundle-typescript.mjs", import.meta.url).href;
  const loaded: Readonly<Record<string, unknown>> = await import(module);
  const { withBundle } = loaded;
  if (typeof withBundle !== "function") throw new TypeError("withBundle: expected a function");
  await withBundle(join(ROOT, GENERATE), use);
}

describe("npm run slo", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "entelix-otel-slo-"));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  const generate = (...args: readonly string[]) =>
    run("scripts/run-typescript.mjs", GENERATE, ...args);

  it("writes the rules that are shipped", () => {
    const out = join(folder, "slo.yml");
    expect(generate("--out", out)).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(out, "utf8")).toBe(readPage("deploy/prometheus/rules/slo.yml"));
  });

  it("says where the file is wrong, and leaves the rules alone", () => {
    const file = join(folder, "mine.yml");
    const out = join(folder, "slo.yml");
    writeFileSync(file, "objectives:\n  - name: mine\n    good: 120%\n");
    writeFileSync(out, "as it was");
    const { status, stderr } = generate(file, "--out", out);
    expect(status).toBe(1);
    expect(stderr).toBe(
      `${file}:3: objectives[0].good: expected a share such as "99.5%", over 0% and under 100%, found 120%\n`,
    );
    expect(readFileSync(out, "utf8")).toBe("as it was");
  });

  it("says in one line which file or argument it cannot use", async () => {
    const [none, out] = [join(folder, "none.yml"), join(folder, "no-folder", "slo.yml")];
    const refusals: readonly (readonly [readonly string[], string])[] = [
      [[none], `${none}: expected a file that can be read: ENOENT`],
      [[folder], `${folder}: expected a file that can be read: expected a file, got a directory`],
      [["--out", out], `--out: ${out}: expected a file that can be written: ENOENT`],
      [[none, folder], "Use: npm run slo -- [FILE] [--out FILE]: expected one FILE, found "],
      [["--ot", out], "Use: npm run slo -- [FILE] [--out FILE]: Unknown option '--ot'"],
    ];
    await withGenerate((bundle) => {
      for (const [args, message] of refusals) {
        const { status, stderr } = run(bundle, ...args);
        expect([status, stderr.slice(0, message.length)]).toEqual([1, message]);
        expect(stderr.trim()).not.toContain("\n");
      }
    });
  });
});

describe("an objective", () => {
  it("has defaults", () => {
    expect(read("name: mine", "good: 99.9%")).toEqual([
      {
        name: "mine",
        service: "*",
        agent: undefined,
        tenant: undefined,
        budget: 0.001,
        bad: {
          kinds: ["tool_error_terminal", "deadline_exceeded", "model_dispatch", "internal"],
          origins: ["model", "tool", "run"],
        },
        minimumRuns: 10,
      },
    ]);
  });

  it("may name a service, kinds, origins and a minimum", () => {
    const [mine] = read(
      "name: mine",
      'service: "shop/desk"',
      'agent: "a\\"b"',
      'tenant: "*"',
      "good: 95%",
      "kinds: [model_dispatch]",
      "origins: [model, run]",
      "minimum_runs: 3",
    );
    expect(mine).toMatchObject({ budget: 0.05, minimumRuns: 3 });
    const { bad, runs } = mine === undefined ? { bad: "", runs: "" } : countsOf(mine);
    expect(bad).toContain(
      "sum by (job, gen_ai_agent_name, entelix_tenant_id, entelix_failure_kind",
    );
    const given = 'entelix_root="true", job="shop/desk", gen_ai_agent_name="a\\"b"}';
    expect(bad).toContain(
      `{entelix_run_outcome="failed", entelix_failure_kind=~"model_dispatch", entelix_failure_origin=~"model|run", ${given}[1m]`,
    );
    expect(runs).toContain(
      `{entelix_run_outcome=~"complete|refused|failed", entelix_failure_kind=~"|model_dispatch", entelix_failure_origin=~"|model|run", ${given}[1m]`,
    );
  });

  it.each([
    ["60s", "60"],
    ["5m", "300"],
    ["1h", "3600"],
    ["0.5s", "0\\\\.5"],
  ])("within %s asks for the bucket up to it", (within, le) => {
    const [mine] = read("name: mine", "good: 95%", `within: ${within}`);
    const bad = mine === undefined ? "" : countsOf(mine).bad;
    expect(bad).toContain(`entelix_runs_working_time_seconds_bucket{le=~"${le}(\\\\.0)?"}[1m]`);
  });

  it.each<[string, readonly string[], string]>([
    ["no name", ["good: 99%"], "2: objectives[0].name: expected 1 to 40 of a-z, 0-9 and -"],
    ["a share without %", ["name: a", "good: 0.99"], "3: objectives[0].good: expected a share"],
    ["a share of 100%", ["name: a", "good: 100%"], "3: objectives[0].good: expected a share"],
    [
      "a field that there is not",
      ["name: a", "god: 9%"],
      "3: objectives[0].god: expected one of name",
    ],
    [
      "cancelled runs",
      ["name: a", "good: 9%", "kinds: [internal, cancelled]"],
      "4: objectives[0].kinds: expected some of tool_error_terminal, usage_limit_exceeded, deadline_exceeded, model_dispatch, internal, unclassified, found cancelled",
    ],
    [
      "an empty list",
      ["name: a", "good: 9%", "origins: []"],
      "4: objectives[0].origins: expected a list",
    ],
    [
      "a time that is not measured",
      ["name: a", "good: 9%", "within: 45s"],
      "4: objectives[0].within: expected one of 0.5s, 1s, 2s, 5s, 10s, 20s, 30s, 60s",
    ],
    [
      "kinds beside a time",
      ["name: a", "good: 9%", "within: 60s", "kinds: [internal]"],
      "5: objectives[0].kinds: expected none beside `within`",
    ],
    [
      "a minimum of 0",
      ["name: a", "good: 9%", "minimum_runs: 0"],
      "4: objectives[0].minimum_runs: expected a whole",
    ],
    [
      "an empty agent",
      ["name: a", "good: 9%", 'agent: ""'],
      '4: objectives[0].agent: expected a name or "*"',
    ],
    [
      "a field that comes twice",
      ["name: a", "good: 9%", "good: 8%"],
      "4: objectives[0].good: expected it once",
    ],
    [
      "no share",
      ["name: a"],
      '2: objectives[0].good: expected a share such as "99.5%", over 0% and under 100%, found nothing',
    ],
    ["text that is no YAML", ["name: [a"], "objectives.yml:"],
  ])("with %s is refused, with line and field", (_, lines, message) => {
    expect(() => read(...lines)).toThrow(message);
  });

  it("has a name of its own", () => {
    const twice = "objectives:\n  - {name: a, good: 9%}\n  - good: 8%\n    name: a\n";
    expect(() => readObjectives(twice, "f.yml")).toThrow(
      "f.yml:4: objectives[1].name: expected a name of its own, found a",
    );
  });

  it.each(["", "objectives: 3", "- a"])("is in a list, which %j has not", (text) => {
    expect(() => readObjectives(text, "f.yml")).toThrow(/^f\.yml:1: /);
  });
});

describe("the rules of an objective", () => {
  it("hold its budget, and the same alerts whatever the objectives are", () => {
    const text = rulesText(read("name: mine", "good: 99.95%", "minimum_runs: 20"));
    expect(text).toContain("expr: vector(0.0005)\n        labels:\n          objective: mine\n");
    expect(text).toContain("expr: vector(20)\n");
    const from = "      - record: entelix:objective_runs:increase5m";
    const shipped = readPage("deploy/prometheus/rules/slo.yml");
    expect(text.slice(text.indexOf(from))).toBe(shipped.slice(shipped.indexOf(from)));
  });
});
