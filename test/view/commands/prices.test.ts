import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { costEstimates } from "../../../src/view/commands/cost-estimates.ts";
import type { RunDetail, RunList } from "../../../src/view/format.ts";
import { command } from "../../cli/support/any-process.ts";

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

it("the command says what to install if the list is not there", async () => {
  const error = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(costEstimates(true, () => Promise.reject(error))).rejects.toMatchObject({
    message: "--prices: @pydantic/genai-prices is not installed",
    hint: "Run: npm install @pydantic/genai-prices",
  });
});
