import * as common from "@grafana/grafana-foundation-sdk/common";
import * as heatmap from "@grafana/grafana-foundation-sdk/heatmap";
import { PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import * as timeseries from "@grafana/grafana-foundation-sdk/timeseries";
import type { Colors } from "./palette.ts";
import { describePanel, overTime, type PanelText, paint, type Query } from "./panel.ts";

interface Chart extends PanelText {
  readonly queries: readonly Query[];
  readonly colors?: Colors;
}

/** Counts, in bars that are stacked and each as wide as the window they count. */
export function bars(chart: Chart): timeseries.PanelBuilder {
  return (
    chartPanel(chart)
      .drawStyle(common.GraphDrawStyle.Bars)
      .fillOpacity(80)
      .lineWidth(0)
      // A window's count stands at its end, so the bar lies before it.
      .barAlignment(common.BarAlignment.Before)
      .stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal).group("A"))
      .decimals(0)
  );
}

/** Levels, rates, ratios and quantiles. A point without a neighbour still shows. */
export function lines(chart: Chart): timeseries.PanelBuilder {
  return chartPanel(chart)
    .drawStyle(common.GraphDrawStyle.Line)
    .lineWidth(1)
    .fillOpacity(8)
    .showPoints(common.VisibilityMode.Auto)
    .spanNulls(false);
}

/** How many observations of a histogram fell into each bucket, over time. `expr` keeps `le`. */
export function heat(
  chart: PanelText & { readonly expr: string; readonly axis: string },
): heatmap.PanelBuilder {
  const query = { expr: chart.expr, legend: "{{le}}" };
  return overTime(
    describePanel(new heatmap.PanelBuilder(), chart),
    [query],
    PromQueryFormat.Heatmap,
  )
    .interval("$interval")
    .calculate(false)
    .rowsFrame(new heatmap.RowsHeatmapOptionsBuilder().layout(common.HeatmapCellLayout.Auto))
    .yAxis(new heatmap.YAxisConfigBuilder().unit(chart.unit).axisLabel(chart.axis))
    .color(
      new heatmap.HeatmapColorOptionsBuilder()
        .mode(heatmap.HeatmapColorMode.Scheme)
        .scheme("Blues")
        .steps(32),
    )
    .filterValues(new heatmap.FilterValueRangeBuilder().le(1e-9))
    .cellGap(1);
}

function chartPanel(chart: Chart): timeseries.PanelBuilder {
  const panel = overTime(describePanel(new timeseries.PanelBuilder(), chart), chart.queries)
    .interval("$interval")
    .min(0)
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(common.LegendDisplayMode.List)
        .placement(common.LegendPlacement.Bottom),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder()
        .mode(common.TooltipDisplayMode.Multi)
        .sort(common.SortOrder.Descending),
    );
  return paint(panel, chart.colors ?? {});
}
