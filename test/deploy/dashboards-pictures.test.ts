import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDashboard } from "../../deploy/grafana/check/dashboard.ts";
import { drawBoard } from "../../deploy/grafana/check/draw/board.ts";
import {
  type ChartOption,
  heatmapOption,
  rankingOption,
  timeSeriesOption,
} from "../../deploy/grafana/check/draw/chart-option.ts";
import { valueText } from "../../deploy/grafana/check/draw/value-text.ts";
import type { PanelData } from "../../deploy/grafana/check/panel-data.ts";
import { panelProblems } from "../../deploy/grafana/check/panel-problems.ts";
import type { Choice } from "../../deploy/grafana/check/query-text.ts";
import { sampleWorkload } from "../../deploy/grafana/check/sample/workload.ts";

const ROOT = join(import.meta.dirname, "../..");
const overview = readDashboard(
  readFileSync(join(ROOT, "deploy/grafana/dashboards/entelix-overview.json"), "utf8"),
);
const RANGE = { from: 0, to: 3_600 };
const choices = new Map<string, Choice>([["tenant", { kind: "all", pattern: ".*" }]]);

/** One series in answer to every query of a panel. */
function answered(title: string, points: readonly (readonly [number, number])[]): PanelData {
  const panel = overview.panels.find((each) => each.title === title);
  if (panel === undefined) throw new Error(`no panel ${title}`);
  const labels = { job: "desk", entelix_failure_kind: "internal", gen_ai_agent_name: "a<b" };
  return {
    step: 300,
    answers: panel.targets.map((target) => ({ target, series: [{ labels, points }] })),
  };
}

describe("readDashboard", () => {
  it("reads what the checks need", () => {
    const panel = overview.panels.find(({ title }) => title === "Failed root runs by failure kind");
    expect(panel).toMatchObject({ type: "timeseries", bars: true, stacked: true, unit: "short" });
    expect(panel?.grid).toEqual({ x: 0, y: 6, w: 12, h: 8 });
    expect(panel?.colors.find(({ pattern }) => pattern.test("internal desk"))?.color).toBe(
      "dark-red",
    );
  });

  it.each([
    ['{"uid":1}', "dashboard.uid: expected text, got 1"],
    ['{"uid":"a","title":"b","templating":{"list":{}}}', "templating.list: expected a list"],
    ["[]", "dashboard.uid: expected text, got nothing"],
    ["null", "dashboard: expected an object, got null"],
  ])("says where %s is wrong", (text, message) => {
    expect(() => readDashboard(text)).toThrow(message);
  });
});

describe("panelProblems", () => {
  const title = "Failed root runs by failure kind";
  const panel = overview.panels.find((each) => each.title === title);
  if (panel === undefined) throw new Error("expected the panel");

  it("finds none where there are numbers with the labels that are shown", () => {
    expect(panelProblems(panel, answered(title, [[300, 0]]))).toEqual([]);
  });

  it("finds a query without a number", () => {
    expect(panelProblems(panel, answered(title, []))).toEqual([`${title} A: no data`]);
    expect(panelProblems(panel, answered(title, [[300, Number.NaN]]))).toEqual([
      `${title} A: no data`,
    ]);
  });

  it("finds a label that is shown and is not there", () => {
    const [answer] = answered(title, []).answers;
    if (answer === undefined) throw new Error("expected an answer");
    const series = [{ labels: { job: "desk" }, points: [[300, 1] as const] }];
    expect(panelProblems(panel, { step: 300, answers: [{ ...answer, series }] })).toEqual([
      `${title} A: no series has the label entelix_failure_kind`,
      `${title} A: no series has the label entelix_failure_kind`,
    ]);
  });
});

describe("drawBoard", () => {
  const data = new Map(
    overview.panels
      .filter(({ type }) => type !== "row")
      .map(({ id, title }) => [
        id,
        answered(title, [
          [300, 2],
          [600, 3],
        ]),
      ]),
  );

  /** Stands where a chart would. */
  const chart = (option: ChartOption, { w, h }: { w: number; h: number }) =>
    `<g id="${Object.keys(option).length}" data-size="${w}x${h}"/>`;

  it("gives every panel its position, title and data", () => {
    const svg = drawBoard(overview, data, choices, RANGE, chart);
    for (const { title } of overview.panels) expect(svg).toContain(title.slice(0, 20));
    expect(svg).toMatch(/^<svg [^>]*width="1206" height="1[4-9]\d\d"/);
    const charts = overview.panels.filter(({ type }) => /timeseries|heatmap|bargauge/.test(type));
    expect(svg.match(/data-size=/g)?.length).toBe(charts.length);
    expect(svg).toContain('<svg x="14" y="250" width="578" height="202"><g id=');
    expect(svg).toContain(">200.0%<");
  });

  it("writes names as text, whatever is in them", () => {
    const svg = drawBoard(overview, data, choices, RANGE, chart);
    expect(svg).toContain("internal");
    expect(svg).not.toContain("a<b");
  });

  it("refuses a panel whose data was not asked for", () => {
    expect(() => drawBoard(overview, new Map(), choices, RANGE, chart)).toThrow(
      "no data was fetched",
    );
  });
});

describe("chart options", () => {
  const title = "Failed root runs by failure kind";
  const panel = overview.panels.find((each) => each.title === title);
  if (panel === undefined) throw new Error("expected the panel");

  it("stack bars by time slot, in the colour of the failure kind", () => {
    const data = answered(title, [
      [300, 2],
      [900, 3],
    ]);
    const option = timeSeriesOption(panel, data, { from: 0, to: 900 }, 500);
    expect(option).toMatchObject({
      xAxis: { type: "category", data: [0, 300, 600, 900] },
      yAxis: { min: 0, minInterval: 1 },
      legend: { data: panel.targets.map(() => "internal desk") },
    });
    expect(option.series).toEqual(
      panel.targets.map(() => ({
        type: "bar",
        name: "internal desk",
        stack: "all",
        barWidth: "88%",
        itemStyle: { color: "#c4162a" },
        data: [null, 2, null, 3],
      })),
    );
  });

  it("leave a gap in a line where values are missing", () => {
    const data = answered(title, [
      [300, 1],
      [600, Number.NaN],
      [900, 2],
      [1_800, 3],
    ]);
    const option = timeSeriesOption({ ...panel, bars: false }, data, RANGE, 500);
    const [line] = Array.isArray(option.series) ? option.series : [];
    expect(line).toMatchObject({
      type: "line",
      data: [
        [300_000, 1],
        [600_000, null],
        [900_000, 2],
        [1_200_000, null],
        [1_800_000, 3],
      ],
    });
  });

  it("name as many series below a chart as fit into three lines", () => {
    const [answer] = answered(title, []).answers;
    if (answer === undefined) throw new Error("expected an answer");
    const series = Array.from({ length: 20 }, (_, at) => ({
      labels: { job: `service-${at}`, entelix_failure_kind: "internal" },
      points: [[300, 1] as const],
    }));
    const data = { step: 300, answers: [{ ...answer, series }] };
    const option = timeSeriesOption(panel, data, RANGE, 300);
    expect(option.legend).toMatchObject({
      data: [0, 1, 2, 3, 4, 5].map((at) => `internal service-${at}`),
    });
    expect(option.grid).toMatchObject({ bottom: 24 + 45 });
  });

  it("count what lies between two buckets", () => {
    const bucket = (le: string, count: number) => ({
      labels: { le },
      points: [[300, count] as const],
    });
    const [answer] = answered(title, []).answers;
    if (answer === undefined) throw new Error("expected an answer");
    const series = [bucket("+Inf", 9), bucket("1", 2), bucket("5", 9)];
    const option = heatmapOption(
      { ...panel, unit: "s" },
      { step: 300, answers: [{ ...answer, series }] },
      { from: 0, to: 300 },
    );
    expect(option).toMatchObject({
      yAxis: { data: ["1 s", "5 s"] },
      visualMap: { max: 7 },
      series: [
        {
          data: [
            [1, 0, 2],
            [1, 1, 7],
          ],
        },
      ],
    });
  });

  it("rank series, the highest on top, in the colour of their threshold", () => {
    const name = "Failure ratio by agent";
    const found = overview.panels.find((each) => each.title === name);
    const [answer] = answered(name, []).answers;
    if (found === undefined || answer === undefined) throw new Error("expected the panel");
    const series = [0.02, 0.5].map((value) => ({
      labels: { gen_ai_agent_name: `agent ${value}` },
      points: [[300, value] as const],
    }));
    const option = rankingOption(found, { step: 300, answers: [{ ...answer, series }] });
    expect(option.yAxis).toMatchObject({ data: ["agent 0.02", "agent 0.5"] });
    expect(option).toMatchObject({
      series: [
        {
          data: [
            { value: 0.02, label: { formatter: "agent 0.02  2%" } },
            { value: 0.5, itemStyle: { color: "#f2495c" }, label: { formatter: "agent 0.5  50%" } },
          ],
        },
      ],
    });
  });
});

describe("valueText", () => {
  it.each([
    [0.0683, "percentunit", undefined, "6.8%"],
    [0.4, "s", undefined, "400 ms"],
    [47.81, "s", 1, "47.8 s"],
    [90, "s", undefined, "1.5 min"],
    [5_400_000, "short", 1, "5.4 Mil"],
    [12, "short", undefined, "12"],
    [0.041, "currencyUSD", 4, "$0.0410"],
    [84_000_000, "bytes", undefined, "80 MiB"],
    [Number.NaN, "short", undefined, "–"],
  ])("writes %d %s with %s decimals as %s", (value, unit, decimals, expected) => {
    expect(valueText(value, unit, decimals)).toBe(expected);
  });
});

describe("the sample", () => {
  it("is the same each time, and has failures, pauses and a process that is replaced", () => {
    const time = { from: 1_000_000, to: 1_000_000 + 2 * 3_600 };
    const [one, two] = [sampleWorkload(time), sampleWorkload(time)].map((each) => [...each.text()]);
    expect(one).toEqual(two);
    expect(one?.at(-1)).toBe("# EOF\n");
    const text = one?.join("") ?? "";
    expect(text).toMatch(/entelix_runs_total\{[^}]*instance="support-desk-2"[^}]*"interrupted"/);
    expect(text).toMatch(/entelix_failure_kind="model_dispatch"[^}]*\} [1-9]/);
  }, 120_000);
});

describe("the pictures in docs", () => {
  it("are one for each dashboard, with the titles of its panels", () => {
    const folder = join(ROOT, "docs/images");
    const boards = readdirSync(join(ROOT, "deploy/grafana/dashboards"));
    const pictures = readdirSync(folder).filter((name) => name.endsWith(".svg"));
    expect(pictures).toEqual(boards.map((name) => name.replace(".json", ".svg")));
    for (const name of boards) {
      const { panels } = readDashboard(
        readFileSync(join(ROOT, "deploy/grafana/dashboards", name), "utf8"),
      );
      const svg = readFileSync(join(folder, name.replace(".json", ".svg")), "utf8");
      for (const { title } of panels.filter((each) => !each.title.includes("$"))) {
        expect(svg, name).toContain(title.slice(0, 20));
      }
    }
  });
});
