import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewRun, ViewSpan } from "../../../src/view/format.ts";
import type { CostEstimates } from "../../../src/view/runs/estimates.ts";
import { runDetail } from "../../../src/view/runs/run-detail.ts";
import { RunStore, STANDING } from "../../../src/view/runs/run-store.ts";
import { withVocabulary } from "../../../src/view/sources/other-span.ts";
import { Folder } from "../../cli/support/folder.ts";
import { runs as cases } from "../../support/runs.ts";
import { runSpan, viewSpan } from "../support/view-span.ts";

/** A tenth of a cent for each call of the model m. */
const ESTIMATES: CostEstimates = {
  name: "prices of 2026-11-03",
  costOf: ({ model }) => (model === "m" ? "0.001" : undefined),
};
const ACME = { "entelix.tenant_id": "acme" };
const TIMES = { from: 0, to: 9 };

function model(id: string, run_id: string, attributes: ViewSpan["attributes"] = {}): ViewSpan {
  const all = { ...ACME, "gen_ai.request.model": "m", ...attributes };
  return viewSpan(id, run_id, TIMES, { kind: "model", run_id, attributes: all });
}

function run(id: string, attributes: ViewSpan["attributes"] = {}): ViewSpan {
  return runSpan(id, undefined, TIMES, { run_id: id, attributes: { ...ACME, ...attributes } });
}

const CHILD = { "entelix.parent_run_id": "a" };

/** The runs of these spans by ID, and the costs of the spans on the page of each. */
async function seen(spans: readonly ViewSpan[], again: readonly ViewSpan[] = []) {
  using folder = new Folder();
  const store = new RunStore(folder.path, { estimates: ESTIMATES });
  const source = store.addSource(STANDING.spans);
  for (const span of [...spans, ...again]) store.add(source, span);
  const found: Record<string, Pick<ViewRun, "cost_usd" | "estimated_by"> & { spans: unknown }> = {};
  for (const indexed of [...store.index.runs()]) {
    const { run: row, spans: shown } = await runDetail(store, indexed, { content: true });
    const costs = shown.filter(({ kind }) => kind === "model");
    found[row.run_id] = {
      ...(row.cost_usd === undefined ? {} : { cost_usd: row.cost_usd }),
      ...(row.estimated_by === undefined ? {} : { estimated_by: row.estimated_by }),
      spans: costs.map(({ attributes, estimated_by }) => [
        attributes["entelix.model.cost"],
        estimated_by,
      ]),
    };
  }
  store.close();
  return found;
}

const BY = { estimated_by: ESTIMATES.name };
const CALL = ["0.001", ESTIMATES.name];
const UNKNOWN = [undefined, undefined];

describe("costs that the senders do not say", () => {
  it("are estimated for calls, runs and the runs above, in any order of the spans", async () => {
    const spans = [
      run("a"),
      model("1", "a"),
      model("2", "a"),
      run("b", CHILD),
      model("3", "b"),
      model("4", "b", { "gen_ai.request.model": "other" }),
    ];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(spans, { minLength: 6 }), async (all) => {
        const { a, b } = await seen(all);
        expect([a?.cost_usd, a?.estimated_by]).toEqual(["0.003", ESTIMATES.name]);
        expect(b).toMatchObject({ cost_usd: "0.001", ...BY });
        expect(b?.spans).toEqual(expect.arrayContaining([CALL, UNKNOWN]));
      }),
      { numRuns: cases(20) },
    );
  });

  it("count once if the spans come twice", async () => {
    const spans = [model("1", "a"), run("a")];
    expect(await seen(spans, spans)).toEqual({ a: { cost_usd: "0.001", ...BY, spans: [CALL] } });
  });

  it("stay unknown for other models: no cost, and not 0", async () => {
    const other = model("1", "a", { "gen_ai.request.model": "other" });
    expect(await seen([run("a"), other])).toEqual({ a: { spans: [UNKNOWN] } });
  });

  it("are not estimated in a run whose sender says a cost", async () => {
    const known = run("a", { "entelix.run.cost": "0.5" });
    expect(await seen([known, model("1", "a")])).toEqual({
      a: { cost_usd: "0.5", spans: [UNKNOWN] },
    });
    const said = model("1", "a", { "entelix.model.cost": "0.2" });
    expect((await seen([run("a"), said])).a).toEqual({ spans: [["0.2", undefined]] });
  });

  it("are estimated for other instrumentation", async () => {
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "m",
      "gen_ai.usage.input_tokens": 3,
    };
    const { run_id: _, ...span } = viewSpan("1", undefined, TIMES, { kind: "other", attributes });
    expect(await seen([withVocabulary(span)])).toEqual({
      trace: { cost_usd: "0.001", ...BY, spans: [CALL] },
    });
  });
});
