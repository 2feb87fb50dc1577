import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { costEstimates } from "../../../src/view/commands/cost-estimates.ts";
import type { RunDetail, RunList } from "../../../src/view/format.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";

const SPANS = fileURLToPath(new URL("../sources/spans/ai-sdk-7.ndjson", import.meta.url));
const RUN = "00000000000000000000000000000001";
/** 538 input tokens, 512 from a cache, and 63 output tokens of gpt-4o-mini. */
const ESTIMATE = { cost_usd: "0.0001569", estimated_by: "prices of 2026-09-23" };

describe("--prices", () => {
  it("estimates the costs of calls and runs that have tokens and no cost", async () => {
    const { stdout } = await command(["view", SPANS, "--prices", "--json"]);
    const list: RunList = JSON.parse(stdout);
    const runs = list.runs.map(({ cost_usd, estimated_by }) => ({ cost_usd, estimated_by }));
    expect(runs).toEqual(expect.arrayContaining([ESTIMATE]));
    const one = await command(["view", SPANS, "--prices", "--json", "--run", RUN]);
    const { run, spans }: RunDetail = JSON.parse(one.stdout);
    expect(run).toMatchObject(ESTIMATE);
    const costs = spans.flatMap(({ attributes, estimated_by, kind }) =>
      kind === "model" ? [[typeof attributes["entelix.model.cost"], estimated_by]] : [],
    );
    expect(costs).toEqual(Array.from({ length: 3 }, () => ["string", ESTIMATE.estimated_by]));
  });

  it("does the same in a report without content", async () => {
    const args = ["report", SPANS, "--prices", "--run", RUN, "--out", "-"];
    const { code, stdout } = await command(args);
    expect(code).toBe(0);
    expect(stdout).toContain(JSON.stringify(ESTIMATE).slice(1, -1));
  });

  it("is needed: otherwise such costs are not known", async () => {
    const { stdout } = await command(["view", SPANS, "--json"]);
    expect(stdout).not.toContain("cost_usd");
  });
});

describe("--own-prices", () => {
  const OWN = { "gpt-4o-mini": { input: "1", output: "2", cacheRead: "0.5" } };

  async function costsBy(list: unknown, ...args: string[]): Promise<string> {
    using folder = new Folder();
    const file = folder.at("ours.json");
    writeFileSync(file, typeof list === "string" ? list : JSON.stringify(list));
    const options = ["--own-prices", file, ...args, "--json"];
    const { code, stderr, stdout } = await command(["view", SPANS, ...options]);
    if (code !== 0) return stderr.replace(file, "FILE");
    const { runs }: RunList = JSON.parse(stdout);
    const costs = runs.map(({ cost_usd, estimated_by }) => `${cost_usd} by ${estimated_by}`);
    return [...new Set(costs)].join("; ");
  }

  it("estimates by the user's own list, which replaces that of the package", async () => {
    // 538 input tokens, 512 more from a cache, and 63 output tokens.
    const by = "own prices of 2026-11-01";
    expect(await costsBy({ date: "2026-11-01", models: OWN })).toContain(`0.000920 by ${by}`);
    const other = { "own-llama": { input: "1" } };
    expect(await costsBy({ date: "2026-11-01", models: other })).toBe("undefined by undefined");
  });

  it("comes before the list of the package with --prices", async () => {
    const by = "own prices of 2026-11-01, and prices of 2026-09-23";
    const own = { date: "2026-11-01", models: OWN };
    expect(await costsBy(own, "--prices")).toContain(`0.000920 by ${by}`);
    const other = { date: "2026-11-01", models: {} };
    expect(await costsBy(other, "--prices")).toContain(`${ESTIMATE.cost_usd} by ${by}`);
  });

  it.each([
    ["no JSON", "{", /^entelix-otel: --own-prices: FILE: .*JSON/],
    ["no object", "[]", /FILE: date: expected the day of the prices, such as "2026-11-01"\n/],
    ["no day", { date: "today", models: OWN }, /FILE: date: expected the day/],
    ["no such day", { date: "2026-11-31", models: OWN }, /FILE: date: expected the day/],
    ["no models", { date: "2026-11-01" }, /FILE: models: expected an object, by names of models\n/],
    [
      "a number",
      { date: "2026-11-01", models: { m: { input: 1 } } },
      /FILE: models\["m"\]\.input: expected a decimal number from 0 as text, .*got number\n/,
    ],
    ["no prices", { date: "2026-11-01", models: { m: 1 } }, /models\["m"\]: expected an object/],
    [
      "an unknown price",
      { date: "2026-11-01", models: { m: { input: "1", ouput: "2" } } },
      /models\["m"\]\.ouput: expected one of input, output, cacheRead, cacheWrite\n/,
    ],
  ])("names what is wrong with the file: %s", async (_, list, said) => {
    const error = await costsBy(list);
    expect(error).toMatch(said);
    expect(error).toContain('\nExpected JSON such as {"date": "2026-11-01", "models": {');
  });

  it("names a file that is not there", async () => {
    const { code, stderr } = await command(["view", SPANS, "--own-prices", "missing.json"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("--own-prices: missing.json: ENOENT"),
    ]);
  });
});

it("the command says what to install if the list is not there", async () => {
  const error = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(costEstimates({ prices: true }, () => Promise.reject(error))).rejects.toMatchObject({
    message: "--prices: @pydantic/genai-prices is not installed",
    hint: "Run: npm install @pydantic/genai-prices",
  });
});
