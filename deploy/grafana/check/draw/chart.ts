import type { Panel } from "../dashboard.ts";
import type { PanelData, TimeRange } from "../panel-data.ts";
import { drawAxes, type Plot, plotIn } from "./axes.ts";
import { drawLegend, type Named, namedSeries } from "./legend.ts";
import { type Box, element, rect } from "./svg.ts";

/** Lines, or bars on top of each other. */
export function drawChart(panel: Panel, data: PanelData, range: TimeRange, box: Box): string {
  const series = namedSeries(panel, data);
  const top = panel.max ?? highest(panel.stacked ? stackSums(series) : series.flatMap(values));
  const whole = panel.bars && panel.decimals === 0;
  const { height, svg: legend } = drawLegend(series, box);
  const plot = plotIn({ ...box, h: box.h - height }, range, top, panel.unit, whole);
  const marks = panel.bars ? drawBars(series, data.step, plot) : drawLines(series, data.step, plot);
  return drawAxes(plot, panel.unit) + marks + legend;
}

function drawBars(series: readonly Named[], step: number, plot: Plot): string {
  const reached = new Map<number, number>();
  return series
    .map(({ color, points }) =>
      points
        .map(([time, value]) => {
          const below = reached.get(time) ?? 0;
          if (!(value > 0)) return "";
          reached.set(time, below + value);
          const [left, right] = [plot.x(time - step), plot.x(time)];
          const [high, low] = [plot.y(below + value), plot.y(below)];
          const x = Math.max(left, plot.box.x);
          return rect({ x: x + 0.5, y: high, w: right - x - 1, h: low - high }, color);
        })
        .join(""),
    )
    .join("");
}

function drawLines(series: readonly Named[], step: number, plot: Plot): string {
  return series
    .map(({ color, points }) =>
      pieces(points, step)
        .map((piece) => {
          const [first] = piece;
          if (first !== undefined && piece.length === 1) {
            const [time, value] = first;
            return element("circle", { cx: plot.x(time), cy: plot.y(value), r: 1.8, fill: color });
          }
          const path = piece
            .map(([time, value]) => `${r(plot.x(time))},${r(plot.y(value))}`)
            .join(" ");
          return element("polyline", {
            points: path,
            fill: "none",
            stroke: color,
            "stroke-width": 1.4,
          });
        })
        .join(""),
    )
    .join("");
}

type Points = Named["points"];

/** Runs of points without a gap: a missing value is not bridged. */
function pieces(points: Points, step: number): Points[] {
  const found: (readonly [number, number])[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const point of points) {
    const [time, value] = point;
    if (!Number.isFinite(value)) continue;
    if (time - last > step * 1.5) found.push([]);
    found.at(-1)?.push(point);
    last = time;
  }
  return found;
}

function values({ points }: Named): number[] {
  return points.map(([, value]) => value);
}

function stackSums(series: readonly Named[]): number[] {
  const sums = new Map<number, number>();
  for (const { points } of series) {
    for (const [time, value] of points) sums.set(time, (sums.get(time) ?? 0) + value);
  }
  return [...sums.values()];
}

function highest(numbers: readonly number[]): number {
  return numbers.reduce((top, each) => (Number.isFinite(each) && each > top ? each : top), 0);
}

function r(value: number): number {
  return Math.round(value * 10) / 10;
}
