import type { Panel } from "../dashboard.ts";
import type { PanelData } from "../panel-data.ts";
import { FAINT, GRID, INK } from "./colors.ts";
import { type Box, element, label } from "./svg.ts";
import { valueText } from "./value-text.ts";

const ROW = 22;

/** Rows with equal labels are one row, as the panel's transformations have it. */
export function drawTable(panel: Panel, data: PanelData, box: Box): string {
  const columns = [...panel.columns];
  const rows = mergedRows(panel, data);
  const [sortName] = columns.find(([, header]) => header === panel.sortBy) ?? [];
  const number = (row: ReadonlyMap<string, string | number>, name: string): number => {
    const value = row.get(name);
    return typeof value === "number" ? value : Number.NEGATIVE_INFINITY;
  };
  if (sortName !== undefined) rows.sort((a, b) => number(b, sortName) - number(a, sortName));
  const texts = rows.map((row) =>
    columns.map(([name, header]) => {
      const value = row.get(name);
      const unit = panel.columnUnits.get(header) ?? panel.unit;
      return typeof value === "number" ? valueText(value, unit) : (value ?? "");
    }),
  );
  const lefts = leftEdges([columns.map(([, header]) => header), ...texts], box);
  const cell = (text: string, at: number, y: number, fill: string): string =>
    label(text, lefts[at] ?? box.x, y, {
      size: 11,
      fill,
      width: (lefts[at + 1] ?? box.x) - (lefts[at] ?? box.x) - 6,
    });
  const heads = columns.map(([, header], at) => cell(header, at, box.y + 12, "#6e9fff"));
  const room = Math.floor((box.h - ROW) / ROW);
  const lines = texts.slice(0, room).map((row, line) => {
    const y = box.y + ROW * (line + 1);
    const rule = element("line", {
      x1: box.x,
      x2: box.x + box.w,
      y1: y - 2,
      y2: y - 2,
      stroke: GRID,
    });
    return rule + row.map((text, at) => cell(text, at, y + 14, INK)).join("");
  });
  const more = rows.length - room;
  const rest =
    more > 0
      ? label(`and ${more} more`, box.x + box.w, box.y + box.h, {
          size: 10,
          fill: FAINT,
          "text-anchor": "end",
        })
      : "";
  return heads.join("") + lines.join("") + rest;
}

/** Columns as wide as their longest text wants, and the right edge of the last. */
function leftEdges(rows: readonly (readonly string[])[], box: Box): number[] {
  const longest = (rows[0] ?? []).map((_, at) =>
    rows.reduce((most, row) => Math.max(most, (row[at] ?? "").length + 1), 0),
  );
  const all = longest.reduce((sum, each) => sum + each, 0);
  let x = box.x;
  return [x, ...longest.map((each) => (x += (box.w * each) / all))];
}

function mergedRows(panel: Panel, { answers }: PanelData): Map<string, string | number>[] {
  const rows = new Map<string, Map<string, string | number>>();
  for (const { series, target } of answers) {
    const name = answers.length === 1 ? "Value" : `Value #${target.refId}`;
    if (!panel.columns.has(name)) throw new RangeError(`${panel.title}: no column ${name}`);
    for (const { labels, points } of series) {
      const key = JSON.stringify(Object.entries(labels).toSorted());
      const row = rows.get(key) ?? new Map(Object.entries(labels));
      rows.set(key, row.set(name, points[0]?.[1] ?? Number.NaN));
    }
  }
  return [...rows.values()];
}
