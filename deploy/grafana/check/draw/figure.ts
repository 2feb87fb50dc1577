import type { Panel } from "../dashboard.ts";
import type { PanelData } from "../panel-data.ts";
import { seriesName } from "./legend.ts";
import { type Box, colorOf, GRID, INK, label, rect } from "./svg.ts";
import { valueText } from "./value-text.ts";

/** One large number, in the colour of its threshold. */
export function drawFigure(panel: Panel, { answers }: PanelData, box: Box): string {
  const value = answers[0]?.series[0]?.points[0]?.[1] ?? Number.NaN;
  return label(
    valueText(value, panel.unit, panel.decimals),
    box.x + box.w / 2,
    box.y + box.h / 2 + 10,
    {
      size: 30,
      fill: stepColor(panel, value),
      "font-weight": 500,
      "text-anchor": "middle",
    },
  );
}

/** A horizontal bar for each series, the longest on top. */
export function drawRanking(panel: Panel, { answers }: PanelData, box: Box): string {
  const bars = answers
    .flatMap(({ series, target }) =>
      series.map(({ labels, points }) => ({
        name: seriesName(target.legend, labels),
        value: points[0]?.[1] ?? Number.NaN,
      })),
    )
    .toSorted((a, b) => b.value - a.value);
  const height = Math.min(46, box.h / Math.max(1, bars.length));
  const room = box.w - 64;
  return bars
    .map(({ name, value }, at) => {
      const y = box.y + at * height;
      const bar = { x: box.x, y: y + 16, w: room, h: height - 24 };
      const color = stepColor(panel, value);
      return (
        label(name, box.x, y + 12, { size: 11, width: room }) +
        rect(bar, GRID) +
        rect({ ...bar, w: room * Math.min(1, value / (panel.max ?? 1)) }, color) +
        label(valueText(value, panel.unit), box.x + room + 8, y + height - 10, {
          size: 13,
          fill: color,
        })
      );
    })
    .join("");
}

function stepColor({ steps }: Panel, value: number): string {
  const reached = steps.filter(({ from }) => from === undefined || value >= from).at(-1);
  return reached === undefined ? INK : colorOf(reached.color);
}
