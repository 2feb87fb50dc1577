import type { Dashboard, Panel } from "../dashboard.ts";
import { fillVariables } from "../fill-variables.ts";
import type { PanelData, TimeRange } from "../panel-data.ts";
import type { Choices } from "../query-text.ts";
import {
  type ChartOption,
  heatmapOption,
  rankingOption,
  timeSeriesOption,
} from "./chart-option.ts";
import { FAINT, GRID, GROUND, PANEL } from "./colors.ts";
import { stepColor } from "./series.ts";
import { type Box, element, label, rect } from "./svg.ts";
import { drawTable } from "./table.ts";
import { valueText } from "./value-text.ts";

const COLUMN = 50;
const ROW = 30;
const GAP = 6;
const HEAD = 44;
export const WIDTH = 24 * COLUMN + GAP;

/** Draws a chart as an SVG element. */
export type DrawChart = (option: ChartOption, size: { w: number; h: number }) => string;

/** The data of a dashboard as SVG, each panel at its position. The picture shows Grafana's numbers, not its looks. */
export function drawBoard(
  dashboard: Dashboard,
  data: ReadonlyMap<number, PanelData>,
  choices: Choices,
  range: TimeRange,
  draw: DrawChart,
): string {
  const rows = Math.max(...dashboard.panels.map(({ grid }) => grid.y + grid.h));
  const height = HEAD + rows * ROW + GAP;
  const panels = dashboard.panels.map((panel) => {
    const { h, w, x, y } = panel.grid;
    const box = {
      x: GAP + x * COLUMN,
      y: HEAD + y * ROW,
      w: w * COLUMN - GAP,
      h: h * ROW - GAP,
    };
    const title = fillVariables(panel.title, (name) => choiceName(choices, name));
    if (panel.type === "row") return label(`▾ ${title}`, box.x + 4, box.y + 17, { size: 13 });
    const answers = data.get(panel.id);
    return drawPanel(panel, title, answers, range, box, draw);
  });
  const chosen = [...choices.keys()]
    .filter((name) => name !== "jaeger_url")
    .map((name) => `${name}: ${choiceName(choices, name)}`);
  const day = new Date(range.from * 1000).toISOString().slice(0, 10);
  return element(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width: WIDTH, height, "font-family": "sans-serif" },
    rect({ x: 0, y: 0, w: WIDTH, h: height }, GROUND) +
      label(dashboard.title, GAP + 4, 28, { size: 18, "font-weight": 500 }) +
      label(`${chosen.join(" · ")} · ${day} UTC`, WIDTH - GAP, 28, {
        size: 12,
        fill: FAINT,
        "text-anchor": "end",
      }) +
      panels.join(""),
  );
}

function drawPanel(
  panel: Panel,
  title: string,
  data: PanelData | undefined,
  range: TimeRange,
  box: Box,
  draw: DrawChart,
): string {
  const frame =
    rect(box, PANEL, { stroke: GRID, rx: 2 }) +
    label(title, box.x + 8, box.y + 17, { size: 12, "font-weight": 500, width: box.w - 16 });
  const inside = { x: box.x + 8, y: box.y + 26, w: box.w - 16, h: box.h - 32 };
  if (data === undefined) throw new RangeError(`${panel.title}: no data was fetched`);
  return frame + drawInside(panel, data, range, inside, draw);
}

function drawInside(
  panel: Panel,
  data: PanelData,
  range: TimeRange,
  box: Box,
  draw: DrawChart,
): string {
  // An SVG inside another one stands where its x and y say.
  const chart = (option: ChartOption) =>
    element("svg", { x: box.x, y: box.y, width: box.w, height: box.h }, draw(option, box));
  switch (panel.type) {
    case "timeseries":
      return chart(timeSeriesOption(panel, data, range, box.w));
    case "heatmap":
      return chart(heatmapOption(panel, data, range));
    case "bargauge":
      return chart(rankingOption(panel, data));
    case "stat":
      return drawFigure(panel, data, box);
    case "table":
      return drawTable(panel, data, box);
    default:
      throw new RangeError(`${panel.title}: no drawing for a panel of type ${panel.type}`);
  }
}

/** One large number, in the colour of its threshold. */
function drawFigure(panel: Panel, { answers }: PanelData, box: Box): string {
  const value = answers[0]?.series[0]?.points[0]?.[1] ?? Number.NaN;
  const text = valueText(value, panel.unit, panel.decimals);
  return label(text, box.x + box.w / 2, box.y + box.h / 2 + 10, {
    size: 30,
    fill: stepColor(panel, value),
    "font-weight": 500,
    "text-anchor": "middle",
  });
}

function choiceName(choices: Choices, name: string): string | undefined {
  const choice = choices.get(name);
  if (choice === undefined) return undefined;
  if (choice.kind === "several") return choice.values.join(", ");
  return choice.kind === "all" ? "all" : choice.value;
}
