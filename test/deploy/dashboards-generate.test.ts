import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readDashboard } from "../../deploy/grafana/check/dashboard.ts";
import { choose, fetchPanel } from "../../deploy/grafana/check/panel-data.ts";
import { Prometheus } from "../../deploy/grafana/check/prometheus.ts";
import { type Board, build } from "../../deploy/grafana/src/board.ts";
import { figure } from "../../deploy/grafana/src/figures.ts";
import { jaegerAddress } from "../../deploy/grafana/src/jaeger-address.ts";

const ROOT = join(import.meta.dirname, "../..");
const SHIPPED = join(ROOT, "deploy/grafana/dashboards");

describe("npm run dashboards", () => {
  let out: string;

  beforeEach(() => {
    out = mkdtempSync(join(tmpdir(), "entelix-otel-dashboards-"));
  });

  afterEach(() => {
    rmSync(out, { recursive: true, force: true });
  });

  const generate = (...args: readonly string[]) =>
    spawnSync(
      process.execPath,
      ["scripts/run-typescript.mjs", "deploy/grafana/src/generate.ts", "--out", out, ...args],
      { cwd: ROOT, encoding: "utf8" },
    );

  it("writes the shipped files, with another address of Jaeger where one is given", () => {
    const { status, stderr } = generate("--jaeger-url", "https://jaeger.test/ui");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(readdirSync(out)).toEqual(readdirSync(SHIPPED));
    for (const name of readdirSync(out)) {
      const text = readFileSync(join(out, name), "utf8");
      expect(text.replaceAll("https://jaeger.test/ui", "http://127.0.0.1:16686")).toBe(
        readFileSync(join(SHIPPED, name), "utf8"),
      );
      expect(text).toContain('"query": "https://jaeger.test/ui"');
    }
  });

  it("writes nothing for an address that is none", () => {
    const { status, stderr } = generate("--jaeger-url", "javascript:alert(1)");
    expect(status).toBe(1);
    expect(stderr).toContain("--jaeger-url: expected an http(s) address");
    expect(readdirSync(out)).toEqual([]);
  });
});

describe("jaegerAddress", () => {
  it.each(["http://127.0.0.1:16686", "https://jaeger.test", "https://host/a/jaeger"])(
    "takes %s",
    (address) => {
      expect(jaegerAddress(address)).toBe(address);
    },
  );

  it.each([
    "jaeger.test",
    "https://jaeger.test/",
    "https://jaeger.test/?a=b",
    "https://jaeger.test#a",
    "https://a b",
    "javascript:alert(1)",
  ])("refuses %s", (address) => {
    expect(() => jaegerAddress(address)).toThrow(TypeError);
  });
});

describe("build", () => {
  const panel = figure({ title: "A", description: "B", unit: "s", expr: "up", steps: ["text"] });
  const board = (widths: readonly number[]): Board => ({
    key: "health",
    title: "T",
    description: "D",
    variables: [],
    sections: [{ title: "S", lines: [{ height: 2, widths, panels: [panel, panel] }] }],
  });

  it("places panels from left to right below their row", () => {
    const { panels } = build(board([8, 16]), { jaegerUrl: "http://j" });
    expect(panels?.map(({ gridPos, id }) => [id, gridPos?.x, gridPos?.y, gridPos?.w])).toEqual([
      [1, 0, 0, 24],
      [2, 0, 1, 8],
      [3, 8, 1, 16],
    ]);
  });

  it.each([[[20, 8]], [[24]], [[24, 0]]])("refuses widths %j of two panels", (widths) => {
    expect(() => build(board(widths), { jaegerUrl: "http://j" })).toThrow(RangeError);
  });
});

describe("the provisioning", () => {
  const read = (path: string): unknown => parse(readFileSync(join(ROOT, path), "utf8"));

  it("looks for dashboards where the compose file puts them", () => {
    expect(read("deploy/grafana/provisioning/dashboards/entelix.yml")).toMatchObject({
      providers: [
        { type: "file", allowUiUpdates: false, options: { path: "/etc/grafana/dashboards" } },
      ],
    });
    expect(readFileSync(join(ROOT, "docker-compose.yml"), "utf8")).toContain(
      "./deploy/grafana/dashboards:/etc/grafana/dashboards:ro",
    );
  });

  it("has the data sources that the dashboards name", () => {
    expect(read("deploy/grafana/provisioning/datasources/entelix.yaml")).toMatchObject({
      datasources: expect.arrayContaining([
        expect.objectContaining({ uid: "prometheus", type: "prometheus" }),
      ]),
    });
  });
});

describe("asking a Prometheus", () => {
  const agent = readDashboard(readFileSync(join(SHIPPED, "entelix-agent.json"), "utf8"));
  const asked: URL[] = [];
  let answer: unknown;
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? "", "http://prometheus.test"));
    response.end(JSON.stringify(answer));
  });
  let prometheus: Prometheus;

  beforeEach(async () => {
    asked.length = 0;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("expected a port");
    prometheus = new Prometheus(`http://127.0.0.1:${address.port}/`);
  });

  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  it("chooses all services, and the first agent of them", async () => {
    answer = { status: "success", data: ["analyst", "triage"] };
    const choices = await choose(prometheus, agent, new Map([["interval", "1m"]]), {
      from: 0,
      to: 60,
    });
    expect(Object.fromEntries(choices)).toEqual({
      service: { kind: "all", pattern: ".*" },
      tenant: { kind: "all", pattern: ".*" },
      agent: { kind: "one", value: "analyst" },
      interval: { kind: "one", value: "1m" },
      jaeger_url: { kind: "one", value: "http://127.0.0.1:16686" },
    });
    expect(asked.map(({ pathname }) => pathname)).toEqual([
      "/api/v1/label/gen_ai_agent_name/values",
    ]);
    expect(asked[0]?.searchParams.get("match[]")).toBe('entelix_runs_total{job=~".*"}');
  });

  it("says which variable has no value", async () => {
    answer = { status: "success", data: [] };
    await expect(choose(prometheus, agent, new Map(), { from: 0, to: 60 })).rejects.toThrow(
      '$agent: entelix_runs_total{job=~".*"} has no gen_ai_agent_name',
    );
  });

  it("asks charts over whole steps, not more points than there is room for", async () => {
    answer = { status: "success", data: { resultType: "matrix", result: [] } };
    const panel = agent.panels.find(({ title }) => title === "Root runs by outcome");
    if (panel === undefined) throw new Error("expected the panel");
    const choices = await choose(prometheus, agent, new Map([["agent", 'a"b']]), {
      from: 0,
      to: 1,
    });
    const short = await fetchPanel(prometheus, panel, choices, { from: 1_000, to: 4_600 });
    const long = await fetchPanel(prometheus, panel, choices, { from: 0, to: 7 * 86_400 });
    expect([short.step, long.step]).toEqual([300, 1_200]);
    const [query] = asked.map(({ searchParams }) => Object.fromEntries(searchParams));
    expect(query).toMatchObject({ start: "900", end: "4500", step: "300" });
    expect(query?.query).toContain('gen_ai_agent_name="a\\"b", entelix_root="true"}[5m]');
  });

  it("reads numbers, NaN and infinities, and tells what Prometheus says of a bad query", async () => {
    const metric = { job: "desk" };
    const value = (text: string) => ({ metric, value: [5, text] });
    const result = ["1.5", "NaN", "+Inf", "-Inf"].map(value);
    answer = { status: "success", data: { resultType: "vector", result } };
    const found = await prometheus.instant("up", 5);
    expect(found.map(({ points }) => points)).toEqual([
      [[5, 1.5]],
      [[5, Number.NaN]],
      [[5, Number.POSITIVE_INFINITY]],
      [[5, Number.NEGATIVE_INFINITY]],
    ]);
    answer = { status: "error", error: "parse error" };
    await expect(prometheus.instant("up{", 5)).rejects.toThrow("Prometheus: parse error");
  });
});
