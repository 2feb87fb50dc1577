import type { Panel } from "../dashboard.ts";
import type { PanelData, TimeRange } from "../panel-data.ts";
import { drawTimes, plotIn } from "./axes.ts";
import { type Box, FAINT, label, rect } from "./svg.ts";
import { valueText } from "./value-text.ts";

/** Buckets from the lowest to the highest, darker where fewer observations fell into them. */
export function drawHeat(panel: Panel, data: PanelData, range: TimeRange, box: Box): string {
  const buckets = data.answers
    .flatMap(({ series }) => series)
    .map(({ labels, points }) => ({ le: Number(labels.le?.replace("Inf", "Infinity")), points }))
    .toSorted((a, b) => a.le - b.le);
  const cells = buckets.flatMap(({ points }, at) => {
    const below = new Map(buckets[at - 1]?.points ?? []);
    return points.map(([time, value]) => ({ at, time, count: value - (below.get(time) ?? 0) }));
  });
  const most = cells.reduce((top, { count }) => Math.max(top, count), 0);
  const used = cells.filter(({ count }) => count > 0).map(({ at }) => at);
  const [low, high] = [Math.min(...used, buckets.length - 1), Math.max(...used, 0)];
  const plot = plotIn(box, range, 1);
  const height = plot.box.h / Math.max(1, high - low + 1);
  const marks = cells
    .filter(({ count }) => count > 0)
    .map(({ at, count, time }) => {
      const x = Math.max(plot.x(time - data.step), plot.box.x);
      const y = plot.box.y + (high - at) * height;
      const w = plot.x(time) - x - 0.5;
      const strength = 0.25 + 0.75 * (count / most);
      return rect({ x, y, w, h: height - 1 }, "#5794f2", { "fill-opacity": strength.toFixed(2) });
    });
  const names = buckets.slice(low, high + 1).map(({ le }, at) => {
    const text = Number.isFinite(le) ? valueText(le, panel.unit) : "+Inf";
    const y = plot.box.y + (high - low - at) * height + Math.min(height / 2 + 4, 10);
    return label(text, plot.box.x - 6, y, { size: 9, fill: FAINT, "text-anchor": "end" });
  });
  return marks.join("") + names.join("") + drawTimes(plot);
}
