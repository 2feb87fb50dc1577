import type { Panel } from "../dashboard.ts";
import type { PanelData } from "../panel-data.ts";
import type { Series } from "../prometheus.ts";
import { type Box, colorOf, label, paletteColor, rect, textWidth } from "./svg.ts";

/** A series as a chart shows it. */
export interface Named {
  readonly name: string;
  readonly color: string;
  readonly points: Series["points"];
}

/** The series of all queries of a panel, named by their legends. */
export function namedSeries(panel: Panel, { answers }: PanelData): Named[] {
  return answers
    .flatMap(({ series, target }) =>
      series.map(({ labels, points }) => ({ name: seriesName(target.legend, labels), points })),
    )
    .map(({ name, points }, at) => {
      const own = panel.colors.find(({ pattern }) => pattern.test(name));
      return { name, points, color: own === undefined ? paletteColor(at) : colorOf(own.color) };
    });
}

export function seriesName(legend: string, labels: Series["labels"]): string {
  return legend.replace(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? "").trim();
}

const SIZE = 10;
const LINE = 14;

/** The names of the series at the bottom of a box, in as many lines as they need, three at most. */
export function drawLegend(series: readonly Named[], box: Box): { svg: string; height: number } {
  let x = box.x;
  let line = 0;
  const placed = series.map(({ color, name }) => {
    const width = Math.min(textWidth(name, SIZE) + 22, box.w);
    if (x > box.x && x + width > box.x + box.w) {
      x = box.x;
      line++;
    }
    const at = { color, name, x, line, width };
    x += width;
    return at;
  });
  const lines = Math.min(line + 1, MOST_LINES);
  const height = lines * LINE + 2;
  const top = box.y + box.h - height + 2;
  const svg = placed
    .filter((each) => each.line < MOST_LINES)
    .map((each) => {
      const y = top + each.line * LINE;
      return (
        rect({ x: each.x, y: y + 4, w: 10, h: 4 }, each.color) +
        label(each.name, each.x + 14, y + 9, { size: SIZE, width: each.width - 14 })
      );
    })
    .join("");
  return { svg, height };
}

const MOST_LINES = 3;
