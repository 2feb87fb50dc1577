// Draws the data of every dashboard into docs/images: npm run dashboards:pictures [-- --out FOLDER]
// [--prometheus URL --hours 6]. Without --prometheus it makes the same sample data each time, and needs prometheus and
// promtool; the pictures are taken by chromium.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Dashboard, readDashboard } from "./dashboard.ts";
import { drawBoard, type Picture } from "./draw/board.ts";
import { indexedPng } from "./draw/indexed-png.ts";
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
]);

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "docs/images" },
    prometheus: { type: "string" },
    hours: { type: "string", default: "6" },
  },
});

async function draw(
  prometheus: Prometheus,
  dashboard: Dashboard,
  wanted: ReadonlyMap<string, string>,
  range: TimeRange,
): Promise<Picture> {
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
  return drawBoard(dashboard, data, choices, range);
}

function photograph({ height, svg, width }: Picture, png: string, folder: string): void {
  const page = join(folder, "page.html");
  const photo = join(folder, "photo.png");
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><body style="margin:0">${svg}`);
  const { error, status, stderr } = spawnSync(
    "chromium",
    [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--hide-scrollbars",
      "--force-device-scale-factor=1",
      `--user-data-dir=${join(folder, "profile")}`,
      `--window-size=${width},${height}`,
      `--screenshot=${photo}`,
      page,
    ],
    { encoding: "utf8" },
  );
  if (error !== undefined || status !== 0) throw new Error(`chromium: ${error?.message ?? stderr}`);
  writeFileSync(png, indexedPng(readFileSync(photo)));
}

async function drawAll(
  url: string,
  wanted: ReadonlyMap<string, string>,
  range: TimeRange,
  folder: string,
): Promise<void> {
  mkdirSync(values.out, { recursive: true });
  for (const name of readdirSync(FOLDER).filter((each) => each.endsWith(".json"))) {
    const dashboard = readDashboard(readFileSync(join(FOLDER, name), "utf8"));
    const picture = await draw(new Prometheus(url), dashboard, wanted, range);
    photograph(picture, join(values.out, `${dashboard.uid}.png`), folder);
  }
}

const folder = mkdtempSync(join(tmpdir(), "entelix-otel-pictures-"));
try {
  if (values.prometheus === undefined) {
    const prometheus = await backfilledPrometheus(sampleWorkload(SAMPLED), folder);
    try {
      await drawAll(prometheus.url, WANTED, SAMPLED, folder);
    } finally {
      await prometheus.stop();
    }
  } else {
    const to = Math.floor(Date.now() / 1000);
    const range = { from: to - Number(values.hours) * 3600, to };
    await drawAll(values.prometheus, new Map(), range, folder);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
