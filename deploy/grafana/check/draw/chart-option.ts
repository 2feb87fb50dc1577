import type { Panel } from "../dashboard.ts";
import type { PanelData, TimeRange } from "../panel-data.ts";
import { colorOf, FAINT, GRID, INK } from "./colors.ts";
import { type Named, namedSeries, rankedSeries, stepColor } from "./series.ts";
import { textWidth } from "./svg.ts";
import { valueText } from "./value-text.ts";

/** What ECharts draws: its `EChartsOption`, as far as the panels need it. */
export type ChartOption = Readonly<Record<string, unknown>>;

const AXIS = { axisTick: { show: false }, axisLine: { show: false } };
const TEXT = { color: FAINT, fontSize: 10 };

const BASE: ChartOption = { animation: false, useUTC: true };

/** Lines, or bars on top of each other. */
export function timeSeriesOption(
  panel: Panel,
  data: PanelData,
  range: TimeRange,
  width: number,
): ChartOption {
  const series = namedSeries(panel, data);
  const { lines, names } = legendLines(series, width);
  return {
    ...BASE,
    grid: { left: 54, right: 8, top: 8, bottom: 24 + lines * 15 },
    legend: {
      left: 0,
      bottom: 0,
      padding: 0,
      icon: "rect",
      itemWidth: 10,
      itemHeight: 4,
      itemGap: 6,
      textStyle: { color: INK, fontSize: 10 },
      data: names,
    },
    xAxis: panel.bars ? timeSlots(slotsOf(range, data.step)) : timeAxis(range),
    yAxis: {
      type: "value",
      min: 0,
      ...(panel.max === undefined ? {} : { max: panel.max }),
      ...(panel.bars && panel.decimals === 0 ? { minInterval: 1 } : {}),
      splitNumber: 4,
      splitLine: { lineStyle: { color: GRID } },
      axisLabel: { ...TEXT, formatter: (value: number) => valueText(value, panel.unit) },
    },
    series: series.map((each) =>
      panel.bars ? bars(each, slotsOf(range, data.step)) : line(each, data.step),
    ),
  };
}

/** The names that fit into three lines below a chart. */
function legendLines(
  series: readonly Named[],
  width: number,
): { lines: number; names: readonly string[] } {
  let lines = series.length === 0 ? 0 : 1;
  let x = 0;
  const names: string[] = [];
  for (const { name } of series) {
    const room = textWidth(name, 10) + 22;
    if (x > 0 && x + room > width) {
      if (lines === 3) break;
      lines++;
      x = 0;
    }
    names.push(name);
    x += room;
  }
  return { lines, names };
}

/** Buckets from the lowest to the highest, lighter where more observations fell into them. */
export function heatmapOption(panel: Panel, data: PanelData, range: TimeRange): ChartOption {
  const buckets = data.answers
    .flatMap(({ series }) => series)
    .map(({ labels, points }) => ({ le: Number(labels.le?.replace("Inf", "Infinity")), points }))
    .toSorted((a, b) => a.le - b.le);
  const cells = buckets.flatMap(({ points }, at) => {
    const below = new Map(buckets[at - 1]?.points ?? []);
    return points
      .map(([time, value]) => [time, at, value - (below.get(time) ?? 0)] as const)
      .filter(([, , count]) => count > 0);
  });
  const used = cells.map(([, at]) => at);
  const [low, high] = [Math.min(...used, buckets.length - 1), Math.max(...used, 0)];
  const slots = slotsOf(range, data.step);
  const shown = buckets.slice(low, high + 1);
  return {
    ...BASE,
    grid: { left: 54, right: 8, top: 8, bottom: 22 },
    xAxis: timeSlots(slots),
    yAxis: {
      ...AXIS,
      type: "category",
      data: shown.map(({ le }) => (Number.isFinite(le) ? valueText(le, panel.unit) : "+Inf")),
      axisLabel: TEXT,
    },
    visualMap: {
      show: false,
      min: 0,
      max: Math.max(...cells.map(([, , count]) => count), 1),
      inRange: { color: ["#1f2c47", colorOf("blue")] },
    },
    series: [
      {
        type: "heatmap",
        data: cells.map(([time, at, n]) => [slots.indexOf(time), at - low, n]),
      },
    ],
  };
}

/** A horizontal bar for each series, the longest on top. */
export function rankingOption(panel: Panel, data: PanelData): ChartOption {
  const ranked = rankedSeries(data).toReversed();
  return {
    ...BASE,
    grid: { left: 8, right: 8, top: 8, height: Math.max(1, ranked.length) * 40 },
    xAxis: { type: "value", show: false, min: 0, max: panel.max ?? 1 },
    yAxis: { type: "category", show: false, data: ranked.map(({ name }) => name) },
    series: [
      {
        type: "bar",
        barWidth: 14,
        showBackground: true,
        backgroundStyle: { color: GRID },
        data: ranked.map(({ name, value }) => ({
          name,
          value,
          itemStyle: { color: stepColor(panel, value) },
          label: {
            show: true,
            position: "insideLeft",
            offset: [0, -16],
            color: INK,
            fontSize: 11,
            formatter: `${name}  ${valueText(value, panel.unit)}`,
          },
        })),
      },
    ],
  };
}

function timeAxis({ from, to }: TimeRange): ChartOption {
  return {
    ...AXIS,
    type: "time",
    min: from * 1000,
    max: to * 1000,
    splitNumber: 6,
    axisLabel: { ...TEXT, hideOverlap: true, formatter: clock },
  };
}

/** An axis with a slot for each time: bars are stacked by slot. */
function timeSlots(times: readonly number[]): ChartOption {
  return {
    ...AXIS,
    type: "category",
    data: times,
    axisLabel: {
      ...TEXT,
      interval: (_: number, time: string) => Number(time) % 3600 === 0,
      formatter: (time: string) => clock(Number(time) * 1000),
    },
  };
}

/** Ends of the steps in a time range. */
function slotsOf({ from, to }: TimeRange, step: number): number[] {
  const first = Math.floor(from / step) * step;
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, at) => first + at * step);
}

function bars({ color, name, points }: Named, slots: readonly number[]): ChartOption {
  const values = new Map(points);
  return {
    type: "bar",
    name,
    stack: "all",
    barWidth: "88%",
    itemStyle: { color },
    data: slots.map((time) => values.get(time) || null),
  };
}

function line({ color, name, points }: Named, step: number): ChartOption {
  return {
    type: "line",
    name,
    showSymbol: points.length === 1,
    lineStyle: { color, width: 1.4 },
    itemStyle: { color },
    data: withGaps(points, step),
  };
}

/** A missing value is not bridged: `null` stands in the gap. */
function withGaps(points: Named["points"], step: number): [number, number | null][] {
  const found: [number, number | null][] = [];
  let last: number | undefined;
  for (const [time, value] of points) {
    if (!Number.isFinite(value)) continue;
    if (last !== undefined && time - last > step * 1.5) found.push([(last + step) * 1000, null]);
    found.push([time * 1000, value]);
    last = time;
  }
  return found;
}

function clock(time: number): string {
  return new Date(time).toISOString().slice(11, 16);
}
