import type { Panel } from "../dashboard.ts";
import type { PanelData } from "../panel-data.ts";
import type { Series } from "../prometheus.ts";
import { colorOf, INK, paletteColor } from "./colors.ts";

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

/** The first value of each series, the highest first. */
export function rankedSeries({ answers }: PanelData): { name: string; value: number }[] {
  return answers
    .flatMap(({ series, target }) =>
      series.map(({ labels, points }) => ({
        name: seriesName(target.legend, labels),
        value: points[0]?.[1] ?? Number.NaN,
      })),
    )
    .toSorted((a, b) => b.value - a.value);
}

/** The colour of the threshold that a value has reached. */
export function stepColor({ steps }: Panel, value: number): string {
  const reached = steps.filter(({ from }) => from === undefined || value >= from).at(-1);
  return reached === undefined ? INK : colorOf(reached.color);
}

function seriesName(legend: string, labels: Series["labels"]): string {
  return legend.replace(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? "").trim();
}
