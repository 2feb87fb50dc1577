import type * as cog from "@grafana/grafana-foundation-sdk/cog";
import * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import { DASHBOARD, TAG } from "./names.ts";
import { jaegerUrlVariable } from "./variables.ts";

/** The grid's width; a panel's width is counted in its columns. */
const GRID_WIDTH = 24;

/** Panels side by side, of one height. */
export interface Line {
  readonly height: number;
  /** Columns of each panel, together at most 24. Default: all the same. */
  readonly widths?: readonly number[];
  readonly panels: readonly cog.Builder<dashboard.Panel>[];
}

export interface Section {
  readonly title: string;
  readonly lines: readonly Line[];
}

export interface Board {
  readonly key: keyof typeof DASHBOARD;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly cog.Builder<dashboard.VariableModel>[];
  readonly sections: readonly Section[];
}

/** What a user of the dashboards may set when they are generated. */
export interface BoardOptions {
  /** Address of Jaeger's UI, as the people who look at the dashboards reach it, without a slash at the end. */
  readonly jaegerUrl: string;
}

/**
 * The dashboard as Grafana takes it: panels placed from top to bottom and numbered in that order, so that the same
 * source always gives the same JSON.
 *
 * @throws RangeError where the panels of a line are wider than the grid, or have no width each
 */
export function build(board: Board, { jaegerUrl }: BoardOptions): dashboard.Dashboard {
  const builder = new dashboard.DashboardBuilder(board.title)
    .uid(DASHBOARD[board.key])
    .description(board.description)
    .tags([TAG])
    .timezone("browser")
    .time({ from: "now-6h", to: "now" })
    .refresh("30s")
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .variables([...board.variables, jaegerUrlVariable(jaegerUrl)])
    .link(
      new dashboard.DashboardLinkBuilder("Entelix")
        .type(dashboard.DashboardLinkType.Dashboards)
        .tags([TAG])
        .icon("external link")
        .tooltip("The other dashboards of the bridge, for the same time, service and tenant")
        .includeVars(true)
        .keepTime(true),
    );
  let id = 0;
  let y = 0;
  for (const { lines, title } of board.sections) {
    builder.withRow(
      new dashboard.RowBuilder(title).id(++id).gridPos({ x: 0, y, w: GRID_WIDTH, h: 1 }),
    );
    y += 1;
    for (const line of lines) {
      for (const { panel, w, x } of across(line)) {
        const placed = { ...panel.build(), id: ++id, gridPos: { x, y, w, h: line.height } };
        builder.withPanel({ build: () => placed });
      }
      y += line.height;
    }
  }
  return builder.build();
}

function across({ panels, widths }: Line) {
  const even = Math.floor(GRID_WIDTH / panels.length);
  let x = 0;
  const placed = panels.map((panel, at) => {
    const w = widths === undefined ? even : (widths[at] ?? 0);
    const place = { panel, x, w };
    x += w;
    return place;
  });
  if (x > GRID_WIDTH || placed.some(({ w }) => w < 1)) {
    throw new RangeError(
      `widths: expected one for each of the ${panels.length} panels of a line, together at most ${GRID_WIDTH}`,
    );
  }
  return placed;
}
