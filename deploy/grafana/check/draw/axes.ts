import type { TimeRange } from "../panel-data.ts";
import { type Box, element, FAINT, GRID, label } from "./svg.ts";
import { valueText } from "./value-text.ts";

/** Where times and values lie in a picture. */
export interface Plot {
  readonly box: Box;
  readonly range: TimeRange;
  /** Values of the horizontal lines. */
  readonly ticks: readonly number[];
  x(time: number): number;
  y(value: number): number;
}

const LEFT = 54;
const BOTTOM = 16;

/** The part of a box that is left beside the axes, from 0 to `top` or a rounder value above it; `whole` for counts. */
export function plotIn(outer: Box, range: TimeRange, top: number, unit = "", whole = false): Plot {
  const box = { x: outer.x + LEFT, y: outer.y + 4, w: outer.w - LEFT - 6, h: outer.h - BOTTOM - 6 };
  const least = (top > 0 ? top : 1) / 4;
  // Minutes are easier to read in halves than in tenths.
  const nice = unit === "s" && top >= 60 ? 30 * niceStep(least / 30) : niceStep(least);
  const step = whole ? Math.max(1, nice) : nice;
  const count = Math.max(1, Math.ceil((top > 0 ? top : 1) / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, at) => at * step);
  const high = count * step;
  return {
    box,
    range,
    ticks,
    x: (time) => box.x + ((time - range.from) / (range.to - range.from)) * box.w,
    y: (value) => box.y + box.h - (value / high) * box.h,
  };
}

export function drawAxes(plot: Plot, unit: string): string {
  const high = plot.ticks.at(-1);
  const lines = plot.ticks.map((value) => {
    const y = plot.y(value);
    return (
      element("line", { x1: plot.box.x, x2: plot.box.x + plot.box.w, y1: y, y2: y, stroke: GRID }) +
      label(valueText(value, unit, undefined, high), plot.box.x - 6, y + 4, {
        size: 10,
        fill: FAINT,
        "text-anchor": "end",
      })
    );
  });
  return lines.join("") + drawTimes(plot);
}

/** Clock times below a plot. */
export function drawTimes({ box, range, x }: Plot): string {
  const hours = 3600;
  const step = Math.max(1, Math.round((range.to - range.from) / hours / 6)) * hours;
  const times: number[] = [];
  for (let time = Math.ceil(range.from / step) * step; time <= range.to; time += step)
    times.push(time);
  return times
    .map((time) =>
      label(new Date(time * 1000).toISOString().slice(11, 16), x(time), box.y + box.h + 13, {
        size: 10,
        fill: FAINT,
        "text-anchor": "middle",
      }),
    )
    .join("");
}

/** 1, 2 or 5 times a power of ten, not below `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((each) => each * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}
