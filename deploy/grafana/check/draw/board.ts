import type { Dashboard, Panel } from "../dashboard.ts";
import { fillVariables } from "../fill-variables.ts";
import type { PanelData, TimeRange } from "../panel-data.ts";
import type { Choices } from "../query-text.ts";
import { drawChart } from "./chart.ts";
import { drawFigure, drawRanking } from "./figure.ts";
import { drawHeat } from "./heat.ts";
import { type Box, element, FAINT, GRID, GROUND, label, PANEL, rect } from "./svg.ts";
import { drawTable } from "./table.ts";

const COLUMN = 50;
const ROW = 30;
const GAP = 6;
const HEAD = 44;
export const WIDTH = 24 * COLUMN + GAP;

export interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** The data of a dashboard, drawn where its panels stand. Not Grafana's own picture: it shows numbers, not its looks. */
export function drawBoard(
  dashboard: Dashboard,
  data: ReadonlyMap<number, PanelData>,
  choices: Choices,
  range: TimeRange,
): Picture {
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
    return drawPanel(panel, title, answers, range, box);
  });
  const chosen = [...choices.keys()]
    .filter((name) => name !== "jaeger_url")
    .map((name) => `${name}: ${choiceName(choices, name)}`);
  const day = new Date(range.from * 1000).toISOString().slice(0, 10);
  const svg = element(
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
  return { svg, width: WIDTH, height };
}

function drawPanel(
  panel: Panel,
  title: string,
  data: PanelData | undefined,
  range: TimeRange,
  box: Box,
): string {
  const frame =
    rect(box, PANEL, { stroke: GRID, rx: 2 }) +
    label(title, box.x + 8, box.y + 17, { size: 12, "font-weight": 500, width: box.w - 16 });
  const inside = { x: box.x + 8, y: box.y + 26, w: box.w - 16, h: box.h - 32 };
  if (data === undefined) throw new RangeError(`${panel.title}: no data was fetched`);
  return frame + drawInside(panel, data, range, inside);
}

function drawInside(panel: Panel, data: PanelData, range: TimeRange, box: Box): string {
  switch (panel.type) {
    case "timeseries":
      return drawChart(panel, data, range, box);
    case "heatmap":
      return drawHeat(panel, data, range, box);
    case "stat":
      return drawFigure(panel, data, box);
    case "bargauge":
      return drawRanking(panel, data, box);
    case "table":
      return drawTable(panel, data, box);
    default:
      throw new RangeError(`${panel.title}: no drawing for a panel of type ${panel.type}`);
  }
}

function choiceName(choices: Choices, name: string): string | undefined {
  const choice = choices.get(name);
  if (choice === undefined) return undefined;
  if (choice.kind === "several") return choice.values.join(", ");
  return choice.kind === "all" ? "all" : choice.value;
}
