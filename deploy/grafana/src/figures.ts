import * as bargauge from "@grafana/grafana-foundation-sdk/bargauge";
import * as common from "@grafana/grafana-foundation-sdk/common";
import * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import { PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import * as stat from "@grafana/grafana-foundation-sdk/stat";
import * as table from "@grafana/grafana-foundation-sdk/table";
import { atTheEnd, describePanel, type PanelText, type Query, refId } from "./panel.ts";

/** Colours from a value on; the first is for everything below. */
export type Steps = readonly [first: string, ...(readonly [from: number, color: string])[]];

interface Figure extends PanelText {
  readonly expr: string;
  readonly steps: Steps;
  readonly decimals?: number;
}

/** One number. */
export function figure({ decimals = 0, expr, steps, ...text }: Figure): stat.PanelBuilder {
  return atTheEnd(describePanel(new stat.PanelBuilder(), text), [{ expr, legend: text.title }])
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(["lastNotNull"]).values(false))
    .colorMode(common.BigValueColorMode.Value)
    .graphMode(common.BigValueGraphMode.None)
    .textMode(common.BigValueTextMode.Value)
    .thresholds(thresholds(steps))
    .noValue("–")
    .decimals(decimals);
}

/** A bar for each of several things to compare. */
export function ranking({
  max,
  query,
  steps,
  ...text
}: PanelText & {
  readonly query: Query;
  readonly steps: Steps;
  /** Value of a full bar. */
  readonly max: number;
}): bargauge.PanelBuilder {
  return atTheEnd(describePanel(new bargauge.PanelBuilder(), text), [query])
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(["lastNotNull"]).values(false))
    .orientation(common.VizOrientation.Horizontal)
    .displayMode(common.BarGaugeDisplayMode.Basic)
    .min(0)
    .max(max)
    .thresholds(thresholds(steps));
}

export interface Column {
  readonly expr: string;
  readonly header: string;
  /** Default: the panel's unit. */
  readonly unit?: string;
}

/** Rows by labels, with a column for each query; the highest of the first query on top. */
export function rows({
  labels,
  values,
  ...text
}: PanelText & {
  /** The labels that make a row, with their headers. Each query has exactly these labels. */
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly [Column, ...Column[]];
}): table.PanelBuilder {
  const queries = values.map(({ expr, header }) => ({ expr, legend: header }));
  const names = values.map((_, at) => (values.length === 1 ? "Value" : `Value #${refId(at)}`));
  const headers = values.map(({ header }, at) => [names[at] ?? "", header]);
  const order = [...Object.keys(labels), ...names];
  const panel = atTheEnd(
    describePanel(new table.PanelBuilder(), text),
    queries,
    PromQueryFormat.Table,
  );
  if (values.length > 1) panel.withTransformation({ id: "merge", options: {} });
  panel.withTransformation({
    id: "organize",
    options: {
      excludeByName: { Time: true },
      indexByName: Object.fromEntries(order.map((name, at) => [name, at])),
      renameByName: { ...labels, ...Object.fromEntries(headers) },
    },
  });
  for (const { header, unit } of values) {
    if (unit !== undefined) panel.overrideByName(header, [{ id: "unit", value: unit }]);
  }
  const [first] = values;
  return panel.sortBy([
    new common.TableSortByFieldStateBuilder().displayName(first.header).desc(true),
  ]);
}

function thresholds([first, ...steps]: Steps): dashboard.ThresholdsConfigBuilder {
  return new dashboard.ThresholdsConfigBuilder()
    .mode(dashboard.ThresholdsMode.Absolute)
    .steps([{ value: null, color: first }, ...steps.map(([value, color]) => ({ value, color }))]);
}
