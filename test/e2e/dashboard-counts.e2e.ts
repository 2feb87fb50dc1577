import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDashboard } from "../../deploy/grafana/check/dashboard.ts";
import { grown } from "../../deploy/grafana/src/queries.ts";

const execute = promisify(execFile);
const INSTALL = join(import.meta.dirname, "../../scripts/servers/install.mjs");
const MODELS = join(import.meta.dirname, "../../deploy/grafana/dashboards/entelix-models.json");

let folder: string;
let promtool: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-counts-"));
  const { stdout } = await execute(process.execPath, [INSTALL, "promtool"]);
  promtool = stdout.trim().split(" ").slice(2).join(" ");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Series {
  readonly series: string;
  readonly values: string;
}

/** What promtool says of the one value that a query gives: a sample each 15 s, from second 0. */
async function asked(
  name: string,
  input_series: readonly Series[],
  query: { readonly expr: string; readonly eval_time: string },
  value: number,
): Promise<string> {
  const file = join(folder, `${name.replaceAll(" ", "-")}.json`);
  const wanted = { ...query, exp_samples: [{ labels: "{}", value }] };
  const test = { interval: "15s", input_series, promql_expr_test: [wanted] };
  await writeFile(file, JSON.stringify({ evaluation_interval: "15s", tests: [test] }));
  return execute(promtool, ["test", "rules", file]).then(
    () => "as expected",
    ({ stderr, stdout }: { stderr: string; stdout: string }) => stdout + stderr,
  );
}

/** How the dashboards count, asked from Prometheus' own test program. */
describe("what a counter grew by in a minute", () => {
  it.each<[string, string, string, number]>([
    ["is what came on top", "5 5 5 5 5 7 7 8 8", "2m", 3],
    ["is 0 where nothing came", "5x20", "2m", 0],
    ["is all that a series is born with", "_ _ _ _ _ 3 3 3 3", "2m", 3],
    ["is what came since a restart between two windows", "100x4 0 1 1 1 1", "2m5s", 1],
    ["is all since a restart behind a gap", "100x3 _ _ 2 2 2 2", "2m5s", 2],
    ["is no less than 0 behind a restart that counts nothing", "100x4 0 0 0 0 0", "2m5s", 0],
  ])("%s", async (name, values, at, expected) => {
    const expr = `sum (${grown('x_total{job="a"}', "1m")})`;
    const input = [{ series: 'x_total{job="a"}', values }];
    expect(await asked(name, input, { expr, eval_time: at }, expected)).toBe("as expected");
  });
});

describe("processes with present, earlier and both names of the conventions", () => {
  const CHAT = { gen_ai_operation_name: "chat", gen_ai_request_model: "small-1" };
  const WHOLE = { ...CHAT, gen_ai_response_model: "small-1-2026", server_address: "api" };
  const EMBEDDINGS = { ...CHAT, gen_ai_operation_name: "embeddings" };
  const of = (
    instance: string,
    metric: string,
    labels: Readonly<Record<string, string>>,
    count: number,
  ): Series => {
    const all = Object.entries({ job: "agent", instance, ...labels });
    const matchers = all.map(([name, value]) => `${name}="${value}"`).join(",");
    return { series: `${metric}{${matchers}}`, values: `_ ${count}x10` };
  };
  const NOW = "gen_ai_client_inference_duration_seconds_count";
  const BEFORE = "gen_ai_client_operation_duration_seconds_count";
  const INPUT_NOW = "gen_ai_client_inference_usage_input_tokens_total";
  const INPUT_BEFORE = "gen_ai_client_token_usage_sum";
  const input = { gen_ai_token_type: "input" };
  const SERIES: readonly Series[] = [
    of("earlier", BEFORE, CHAT, 3),
    of("earlier", BEFORE, { ...CHAT, error_type: "model_dispatch" }, 1),
    of("earlier", INPUT_BEFORE, { ...CHAT, ...input }, 300),
    of("present", NOW, WHOLE, 40),
    of("present", NOW, { ...WHOLE, error_type: "model_dispatch" }, 10),
    of("present", BEFORE, EMBEDDINGS, 600),
    of("present", INPUT_NOW, WHOLE, 4_000),
    of("both", NOW, WHOLE, 5_000),
    of("both", BEFORE, WHOLE, 5_000),
    of("both", BEFORE, EMBEDDINGS, 70_000),
    of("both", INPUT_NOW, WHOLE, 50_000),
    of("both", INPUT_BEFORE, { ...WHOLE, ...input }, 50_000),
  ];
  const { panels } = readDashboard(readFileSync(MODELS, "utf8"));

  it.each([
    ["Model calls", 75_654],
    ["Calls failed", 11],
    ["Input tokens", 54_300],
  ])("are counted once on the panel %s", async (title, expected) => {
    const expr = panels.find((panel) => panel.title === title)?.targets[0]?.expr ?? "";
    const filled = expr
      .replaceAll("$__range", "2m")
      .replaceAll("$service", ".*")
      .replaceAll("$model", ".*");
    const said = await asked(title, SERIES, { expr: filled, eval_time: "2m" }, expected);
    expect(said).toBe("as expected");
  });
});
