import type * as cog from "@grafana/grafana-foundation-sdk/cog";
import type * as common from "@grafana/grafana-foundation-sdk/common";
import type * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import * as prometheus from "@grafana/grafana-foundation-sdk/prometheus";
import { PROMETHEUS } from "./names.ts";
import type { Colors } from "./palette.ts";

/** What every panel says of itself. */
export interface PanelText {
  readonly title: string;
  /** What is counted, from which events, and what to do when it looks wrong. */
  readonly description: string;
  /** Grafana's name of the unit: `s`, `short`, `percentunit`, … */
  readonly unit: string;
  /** Where a click leads. */
  readonly links?: readonly dashboard.DashboardLinkBuilder[];
}

export interface Query {
  readonly expr: string;
  /** A series' name, with labels as `{{label}}`. */
  readonly legend: string;
  /** Shows traces that stand for single values, as dots. Only span metrics have them. Default false. */
  readonly exemplars?: boolean;
}

/** What the builders of all kinds of panel have in common. */
interface AnyPanelBuilder<T> {
  title(title: string): T;
  description(description: string): T;
  unit(unit: string): T;
  datasource(datasource: common.DataSourceRef): T;
  dataLinks(links: cog.Builder<dashboard.DashboardLink>[]): T;
  withTarget(target: cog.Builder<cog.Dataquery>): T;
  overrideByRegexp(regexp: string, properties: dashboard.DynamicConfigValue[]): T;
}

/** Writes text, unit, data source and links onto a panel. */
export function describePanel<T extends AnyPanelBuilder<T>>(
  panel: T,
  { description, links = [], title, unit }: PanelText,
): T {
  return panel
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(PROMETHEUS)
    .dataLinks([...links]);
}

/** One query over the time range for each of `queries`. */
export function overTime<T extends AnyPanelBuilder<T>>(
  panel: T,
  queries: readonly Query[],
  format: prometheus.PromQueryFormat = prometheus.PromQueryFormat.TimeSeries,
): T {
  return queries.reduce(
    (each, query, at) => each.withTarget(target(query, at).range().format(format)),
    panel,
  );
}

/** One query at the end of the time range for each of `queries`. */
export function atTheEnd<T extends AnyPanelBuilder<T>>(
  panel: T,
  queries: readonly Query[],
  format: prometheus.PromQueryFormat = prometheus.PromQueryFormat.TimeSeries,
): T {
  return queries.reduce(
    (each, query, at) => each.withTarget(target(query, at).instant().format(format)),
    panel,
  );
}

/** A colour for each series whose name begins with one of the values. */
export function paint<T extends AnyPanelBuilder<T>>(panel: T, colors: Colors): T {
  return Object.entries(colors).reduce(
    (each, [value, fixedColor]) =>
      each.overrideByRegexp(`/^${value}( |$)/`, [
        { id: "color", value: { mode: "fixed", fixedColor } },
      ]),
    panel,
  );
}

/** A, B, C, …: how Grafana calls the queries of a panel. */
export function refId(at: number): string {
  return String.fromCharCode("A".charCodeAt(0) + at);
}

function target(
  { exemplars = false, expr, legend }: Query,
  at: number,
): prometheus.DataqueryBuilder {
  return new prometheus.DataqueryBuilder()
    .refId(refId(at))
    .datasource(PROMETHEUS)
    .editorMode(prometheus.QueryEditorMode.Code)
    .expr(expr)
    .exemplar(exemplars)
    .legendFormat(legend);
}
