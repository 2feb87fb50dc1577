import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grown } from "../../deploy/grafana/src/queries.ts";

const execute = promisify(execFile);
const INSTALL = join(import.meta.dirname, "../../scripts/servers/install.mjs");

/** How the dashboards count, asked from Prometheus' own test program: a sample each 15 s, from second 0. */
describe("what a counter grew by in a minute", () => {
  let folder: string;
  let promtool: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-counts-"));
    const { stdout } = await execute(process.execPath, [INSTALL, "promtool"]);
    promtool = stdout.trim().split(" ").slice(2).join(" ");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each<[string, string, string, number]>([
    ["is what came on top", "5 5 5 5 5 7 7 8 8", "2m", 3],
    ["is 0 where nothing came", "5x20", "2m", 0],
    ["is all that a series is born with", "_ _ _ _ _ 3 3 3 3", "2m", 3],
    ["is what came since a restart between two windows", "100x4 0 1 1 1 1", "2m5s", 1],
    ["is all since a restart behind a gap", "100x3 _ _ 2 2 2 2", "2m5s", 2],
    ["is no less than 0 behind a restart that counts nothing", "100x4 0 0 0 0 0", "2m5s", 0],
  ])("%s", async (name, values, at, expected) => {
    const file = join(folder, `${name.replaceAll(" ", "-")}.json`);
    const asked = {
      eval_time: at,
      expr: `sum (${grown('x_total{job="a"}', "1m")})`,
      exp_samples: [{ labels: "{}", value: expected }],
    };
    const series = { series: 'x_total{job="a"}', values };
    const test = { interval: "15s", input_series: [series], promql_expr_test: [asked] };
    await writeFile(file, JSON.stringify({ evaluation_interval: "15s", tests: [test] }));
    const said = await execute(promtool, ["test", "rules", file]).then(
      () => "as expected",
      ({ stderr, stdout }: { stderr: string; stdout: string }) => stdout + stderr,
    );
    expect(said).toBe("as expected");
  });
});
