// Draws the data of every dashboard into docs/images: npm run dashboards:pictures [-- --out FOLDER] [--prometheus URL
// --hours 6]. Without --prometheus it makes the same sample data each time, with the Prometheus of the end-to-end
// tests. ECharts draws; it is installed once, beside them.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type Dashboard, readDashboard } from "./dashboard.ts";
import { type DrawChart, drawBoard } from "./draw/board.ts";
import type { ChartOption } from "./draw/chart-option.ts";
import { textWidth } from "./draw/svg.ts";
import { installed } from "./installed.ts";
import { choose, fetchPanel, type PanelData, type TimeRange } from "./panel-data.ts";
import { panelProblems } from "./panel-problems.ts";
import { Prometheus } from "./prometheus.ts";
import { backfilledPrometheus } from "./sample/backfilled-prometheus.ts";
import { sampleWorkload } from "./sample/workload.ts";

const FOLDER = "deploy/grafana/dashboards";
const SAMPLED = {
  from: Date.UTC(2026, 0, 14, 6) / 1000,
  to: Date.UTC(2026, 0, 14, 12) / 1000,
};
/** The agent and the tool whose trouble is in the sample. */
const WANTED = new Map([
  ["agent", "triage"],
  ["tool", "crm_lookup"],
  ["objective", "good-runs"],
]);

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "docs/images" },
    prometheus: { type: "string" },
    hours: { type: "string", default: "6" },
  },
});

/** What is used of ECharts: it draws SVG without a page. */
interface ECharts {
  setPlatformAPI(api: { measureText(text: string, font?: string): { width: number } }): void;
  init(
    dom: null,
    theme: null,
    how: { renderer: "svg"; ssr: true; width: number; height: number },
  ): { setOption(option: ChartOption): void; renderToSVGString(): string; dispose(): void };
}

/** What ECharts writes for pages that react to a pointer: two thirds of a picture. */
const FOR_POINTERS =
  /<style >.*?<\/style>\n?| (?:ecmeta_\w+|class|cursor|pointer-events)="[^"]*"/gs;

async function loadCharts(): Promise<DrawChart> {
  const echarts: ECharts = await import(pathToFileURL(installed("echarts")).href);
  // Node has no canvas to measure text with.
  echarts.setPlatformAPI({
    measureText: (text, font = "") => ({ width: textWidth(text, Number.parseInt(font, 10) || 12) }),
  });
  return (option, { h, w }) => {
    const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width: w, height: h });
    chart.setOption(option);
    const svg = chart.renderToSVGString();
    chart.dispose();
    return svg.replace(FOR_POINTERS, "");
  };
}

async function draw(
  prometheus: Prometheus,
  dashboard: Dashboard,
  wanted: ReadonlyMap<string, string>,
  range: TimeRange,
  drawChart: DrawChart,
): Promise<string> {
  const choices = await choose(prometheus, dashboard, wanted, range);
  const data = new Map<number, PanelData>();
  for (const panel of dashboard.panels) {
    const found = await fetchPanel(prometheus, panel, choices, range);
    data.set(panel.id, found);
    for (const problem of panelProblems(panel, found)) {
      console.error(`${dashboard.title}: ${problem}`);
      process.exitCode = 1;
    }
  }
  return drawBoard(dashboard, data, choices, range, drawChart);
}

async function drawAll(
  url: string,
  wanted: ReadonlyMap<string, string>,
  range: TimeRange,
): Promise<void> {
  const drawChart = await loadCharts();
  mkdirSync(values.out, { recursive: true });
  for (const name of readdirSync(FOLDER).filter((each) => each.endsWith(".json"))) {
    const dashboard = readDashboard(readFileSync(join(FOLDER, name), "utf8"));
    const svg = await draw(new Prometheus(url), dashboard, wanted, range, drawChart);
    writeFileSync(join(values.out, `${dashboard.uid}.svg`), `${svg}\n`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "entelix-otel-pictures-"));
try {
  if (values.prometheus === undefined) {
    const prometheus = await backfilledPrometheus(sampleWorkload(SAMPLED), folder);
    try {
      await drawAll(prometheus.url, WANTED, SAMPLED);
    } finally {
      await prometheus.stop();
    }
  } else {
    const to = Math.floor(Date.now() / 1000);
    const range = { from: to - Number(values.hours) * 3600, to };
    await drawAll(values.prometheus, new Map(), range);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
