import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, readDashboard } from "../../deploy/grafana/check/dashboard.ts";
import { linkAddress } from "../../deploy/grafana/check/link-address.ts";
import {
  choose,
  fetchPanel,
  type PanelData,
  type TimeRange,
} from "../../deploy/grafana/check/panel-data.ts";
import { panelProblems } from "../../deploy/grafana/check/panel-problems.ts";
import { Prometheus } from "../../deploy/grafana/check/prometheus.ts";
import { promqlSelectors } from "../../deploy/grafana/check/promql-names.ts";
import { type Choices, queryText } from "../../deploy/grafana/check/query-text.ts";
import { addMilliseconds, formatRfc3339, fromMilliseconds } from "../../src/events/door.ts";
import { ALERTS, RECORDS } from "../deploy/alert-files.ts";
import { queryNames } from "../deploy/alert-names.ts";
import { SERVICE_METRICS } from "../service/support/service-metrics.ts";
import { freshRun, happening } from "./support/events.ts";
import { FreshIds } from "./support/fresh-ids.ts";
import { text } from "./support/json-shape.ts";
import { Player } from "./support/player.ts";
import { type Recording, renamed, shiftedTo, shippedRecordings } from "./support/recording.ts";
import { Stack, shipped } from "./support/stack.ts";
import { untilHolds } from "./support/until.ts";

const SERVICE = "demo-agent";

/** Root and nested runs, failures and usage are recorded of this agent; this tool ended one of its runs. */
const WANTED = new Map([
  ["agent", "react"],
  ["tool", "bigquery"],
  ["objective", "good-runs"],
  ["interval", "1s"],
]);

/** Born with their first case, which this workload does not have. The queries answer 0 until then. */
const NOT_YET = ["otelcol_exporter_enqueue_failed_spans", "otelcol_exporter_send_failed_spans"];

/** Names that a process sends only with `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup`. The queries read either name. */
const EARLIER = [
  "gen_ai_client_operation_duration_seconds_bucket",
  "gen_ai_client_operation_duration_seconds_count",
  "gen_ai_client_token_usage_sum",
];

/** The same of the alert rules: no series is no loss, no overflow. */
const NOT_YET_IN_RULES: readonly string[] = [
  "(entelix|gen_ai)_.*: otel_metric_overflow",
  // It needs a day before.
  "entelix:spending:daily_usd1h",
  "entelix_(runs|tool_terminal_failures)_total: otel_metric_overflow",
  "entelix_spans_calls_total: otel_metric_overflow",
  "otelcol_exporter_enqueue_failed_metric_points(_total)?",
  "otelcol_exporter_enqueue_failed_spans(_total)?",
  "otelcol_exporter_send_failed_metric_points(_total)?",
  "otelcol_exporter_send_failed_spans(_total)?",
];

/** Records made of the services' metrics. */
const OF_SERVICES: ReadonlySet<string> = new Set(
  RECORDS.filter(({ expr }) =>
    queryNames(expr).selectors.every(({ metric }) => SERVICE_METRICS.has(metric)),
  ).map(({ record }) => record),
);

const FOLDER = shipped("deploy/grafana/dashboards");
const dashboards = readdirSync(FOLDER).map((name) =>
  readDashboard(readFileSync(join(FOLDER, name), "utf8")),
);

function dashboard(uid: string): Dashboard {
  const found = dashboards.find((each) => each.uid === uid);
  if (found === undefined) throw new Error(`${uid}: no such dashboard`);
  return found;
}

interface Answered {
  readonly choices: Choices;
  readonly range: TimeRange;
  /** By the panels' titles. */
  readonly panels: ReadonlyMap<string, PanelData>;
}

/** Asks all queries of a dashboard; fails where one has no data. */
async function answer(prometheus: Prometheus, from: number, board: Dashboard): Promise<Answered> {
  const range = { from, to: Math.floor(Date.now() / 1000) };
  const choices = await choose(prometheus, board, WANTED, range);
  const panels = new Map<string, PanelData>();
  const problems: string[] = [];
  for (const panel of board.panels) {
    const data = await fetchPanel(prometheus, panel, choices, range);
    panels.set(panel.title, data);
    problems.push(...panelProblems(panel, data));
  }
  expect(problems).toEqual([]);
  return { choices, range, panels };
}

describe("the dashboards, after the recordings of the demo were sent live", () => {
  const from = Math.floor(Date.now() / 1000) - 60;
  let stack: Stack;
  let prometheus: Prometheus;
  let player: Player;

  beforeAll(async () => {
    stack = await Stack.start({
      servers: ["jaeger", "collector", "prometheus"],
      jaegerStorage: "memory",
      collectorEnv: { TRACE_SAMPLER: "tail_sampling", ROOT_WAIT: "1s", KEEP_PERCENT: "100" },
    });
    prometheus = new Prometheus(stack.url("prometheus"));
    // It first scrapes some seconds after its start; a trace that stands for a value is shown for one flush only.
    await untilHolds("the first scrape", async () => {
      expect(await stack.prometheus.value("sum(up)")).toBe(2);
    });
    const recorded = shippedRecordings().map((one) =>
      one.name === "success" ? withFurtherCalls(one) : one,
    );
    const { rename } = new FreshIds(recorded);
    player = new Player({
      setup: "setupTelemetry",
      options: { serviceName: SERVICE, endpoint: stack.endpoint },
      env: {
        OTEL_METRIC_EXPORT_INTERVAL: "250",
        OTEL_RESOURCE_ATTRIBUTES: "service.version=1.4.0",
      },
    });
    // What open runs wait for is known of those that are open at an export.
    player.tell([happening(freshRun("acme").started("react"))]);
    await player.flush();
    const begin = Date.now();
    await player.play(
      recorded.map((one, at) =>
        shiftedTo(fromMilliseconds(begin + 200 + at * 100), renamed(rename, one)),
      ),
    );
    await player.flush();
  });

  afterAll(async () => {
    await player?.end();
    await stack?.stop();
  });

  it.each(dashboards.map(({ uid }) => [uid]))(
    "%s: every query has data, with the labels that are shown",
    async (uid) => {
      await untilHolds(uid, async () => {
        await answer(prometheus, from, dashboard(uid));
      });
    },
  );

  it("show exactly the numbers that were sent", async () => {
    const overview = dashboard("entelix-overview");
    await untilHolds("the numbers of the overview", async () => {
      const { panels } = await answer(prometheus, from, overview);
      const numbers = (title: string) =>
        panels
          .get(title)
          ?.answers.flatMap(({ series }) => series.map(({ points }) => points[0]?.[1]));
      expect(numbers("Failed root runs")).toEqual([3]);
      expect(numbers("Root runs ended")).toEqual([10]);
      expect(numbers("Failure ratio")).toEqual([0.3]);
      expect(numbers("Root runs paused")).toEqual([1]);
      const kinds = panels
        .get("Failure kinds by tenant")
        ?.answers.flatMap(({ series }) =>
          series.map(({ labels, points }) => ({ ...labels, runs: points[0]?.[1] })),
        );
      const failed = (tenant: string, kind: string) => ({
        job: SERVICE,
        entelix_tenant_id: tenant,
        entelix_failure_kind: kind,
        runs: 1,
      });
      expect(kinds?.toSorted((a, b) => order(a) - order(b))).toEqual([
        failed("acme", "cancelled"),
        failed("acme", "tool_error_terminal"),
        failed("globex", "model_dispatch"),
      ]);
    });
  });

  it("show exactly the model calls that were sent", async () => {
    await untilHolds("the numbers of the model calls", async () => {
      const { panels } = await answer(prometheus, from, dashboard("entelix-models"));
      const shown = (title: string) =>
        panels
          .get(title)
          ?.answers.flatMap(({ series }) =>
            series.map(({ labels, points }) => ({ ...labels, value: points.at(-1)?.[1] })),
          );
      expect(shown("Model calls")).toEqual([{ value: 4 }]);
      expect(shown("Calls failed")).toEqual([{ value: 1 }]);
      expect(shown("Failure ratio")).toEqual([{ value: 0.25 }]);
      expect(shown("Input tokens")).toEqual([{ value: 90 }]);
      expect(shown("Output tokens")).toEqual([{ value: 21 }]);
      const failed = { error_type: "model_dispatch", gen_ai_provider_name: "openai" };
      expect(shown("Failed calls by model and error")).toEqual([
        { job: SERVICE, ...failed, gen_ai_request_model: "small-1", value: 1 },
      ]);
      const ratios = shown("Failure ratio by model")?.map((one) => JSON.stringify(one));
      expect(ratios?.toSorted()).toEqual([
        '{"gen_ai_request_model":"large-2","value":0}',
        '{"gen_ai_request_model":"small-1","value":0.5}',
      ]);
    });
  });

  it("lead from a model's error to exactly its trace in Jaeger", async () => {
    const models = dashboard("entelix-models");
    const title = "Failed calls by model and error";
    const [link] = models.panels.find((panel) => panel.title === title)?.links ?? [];
    if (link === undefined) throw new Error("expected a link");
    await untilHolds("the link of the failed call", async () => {
      const { choices, panels, range } = await answer(prometheus, from, models);
      const [row] = panels.get(title)?.answers.flatMap(({ series }) => series) ?? [];
      const address = linkAddress(link.url, {
        labels: row?.labels ?? {},
        value: 1,
        choices,
        ...range,
      });
      const { searchParams } = new URL(address);
      const tags: unknown = JSON.parse(searchParams.get("tags") ?? "{}");
      const texts = Object.entries(Object(tags)).map(([name, value]) => [name, String(value)]);
      const service = searchParams.get("service") ?? "";
      const found = await stack.jaeger.search({ service, tags: Object.fromEntries(texts) });
      expect(found).toHaveLength(1);
    });
  });

  it("have bars that add up to those numbers", async () => {
    const overview = dashboard("entelix-overview");
    await untilHolds("the bars of the overview", async () => {
      const { panels } = await answer(prometheus, from, overview);
      const sums = [
        "Failed root runs by failure kind",
        "Failed root runs by failure kind, from spans",
      ]
        .map((title) => panels.get(title)?.answers.flatMap(({ series }) => series) ?? [])
        .map((series) =>
          series.flatMap(({ points }) => points).reduce((sum, [, value]) => sum + value, 0),
        );
      expect(sums).toEqual([3, 3]);
    });
  });

  it("lead from each failure kind to exactly its traces in Jaeger", async () => {
    const overview = dashboard("entelix-overview");
    const panel = overview.panels.find(({ title }) => title === "Failure kinds by tenant");
    const [link] = panel?.links ?? [];
    if (link === undefined) throw new Error("expected a link");
    await untilHolds("the links of the failure kinds", async () => {
      const { choices, panels, range } = await answer(prometheus, from, overview);
      const rows = panels.get("Failure kinds by tenant")?.answers.flatMap(({ series }) => series);
      const found = await Promise.all(
        (rows ?? []).map(async ({ labels }) => {
          const address = linkAddress(link.url, { labels, value: 1, choices, ...range });
          const { searchParams } = new URL(address);
          const tags: unknown = JSON.parse(searchParams.get("tags") ?? "{}");
          const texts = Object.entries(Object(tags)).map(([name, value]) => [name, String(value)]);
          return stack.jaeger.search({
            service: searchParams.get("service") ?? "",
            tags: Object.fromEntries(texts),
          });
        }),
      );
      expect(found.map((traces) => traces.length)).toEqual([1, 1, 1]);
      expect(new Set(found.flat()).size).toBe(3);
    });
  });

  it("have traces that stand for the durations of run spans", async () => {
    const { targets = [] } =
      dashboard("entelix-overview").panels.find(({ title }) => title.includes("sample traces")) ??
      {};
    const [target] = targets;
    if (target === undefined) throw new Error("expected the panel with sample traces");
    await untilHolds("sample traces", async () => {
      const { choices, range } = await answer(prometheus, from, dashboard("entelix-overview"));
      const query = queryText(target.expr, choices, { ...range, step: 1 });
      const traces = await prometheus.exemplarTraces(query, range.from, range.to);
      expect(traces.length).toBeGreaterThan(0);
      const spans = await Promise.all(traces.slice(0, 3).map((id) => stack.jaeger.trace(id)));
      expect(spans.filter((each) => each.length === 0)).toEqual([]);
    });
  });

  it("name no metric and no label that the running Prometheus does not have", async () => {
    const named = dashboards
      .flatMap(({ panels }) => panels)
      .flatMap(({ targets }) => targets.flatMap(({ expr }) => promqlSelectors(expr)))
      .filter(({ labels }) => !labels.includes("otel_metric_overflow"));
    await untilHolds("names", async () => {
      const absent = new Set<string>();
      for (const { groups, isPattern, labels, metric } of named) {
        const series = await stack.prometheus.series(`{__name__=~"${metric}"}`);
        const wanted = [...labels, ...(groups[0] ?? [])];
        const missing = wanted.filter((label) => !series.some((each) => each[label] !== undefined));
        const name = isPattern ? metric.replace(/\([^)]*\)\?$/, "") : metric;
        if (series.length === 0) absent.add(name);
        else for (const label of missing) absent.add(`${name}: ${label}`);
      }
      // One selector stands for two of these.
      absent.delete("otelcol_exporter_(send|enqueue)_failed_spans");
      expect([...absent].toSorted()).toEqual([...EARLIER, ...NOT_YET]);
    });
  });

  it("find what the alert rules name there too", async () => {
    const selectors = [...ALERTS, ...RECORDS]
      .flatMap(({ expr }) => queryNames(expr).selectors)
      // `serve` and `consume` are not among these servers; their names are held to the code elsewhere.
      .filter(({ metric }) => !SERVICE_METRICS.has(metric) && !OF_SERVICES.has(metric));
    await untilHolds("names of the rules", async () => {
      const absent = new Set<string>();
      for (const { matchers, metric } of selectors) {
        const pattern = matchers.find(({ label }) => label === "__name__")?.value ?? metric;
        const series = await stack.prometheus.series(`{__name__=~"${pattern}"}`);
        if (series.length === 0) absent.add(pattern);
        for (const { label } of matchers) {
          const known = label === "__name__" || series.some((each) => each[label] !== undefined);
          if (series.length > 0 && !known) absent.add(`${pattern}: ${label}`);
        }
      }
      expect([...absent].toSorted()).toEqual(NOT_YET_IN_RULES);
    });
  });
});

/**
 * The same run, with four calls of two models just after its start, of which one fails, a failed call of a tool, and
 * seven equal calls of another: a loop.
 */
function withFurtherCalls(recorded: Recording): Recording {
  const [first, ...rest] = recorded.lines;
  if (first === undefined) throw new Error("expected a start");
  const started: unknown = JSON.parse(first.text);
  const [run_id, tenant_id] = [text(started, "run_id"), text(started, "tenant_id")];
  const calls = ["small-1", "small-1", "large-2", "large-2"].flatMap((model, index) => {
    const call = { run_id, tenant_id, model_call_id: `m${index}`, model };
    const usage = { input_tokens: 30, output_tokens: 7 };
    const failure = {
      error: "503",
      kind: { type: "model_dispatch" },
      envelope: { wire_code: "upstream_unavailable", wire_class: "server" },
    };
    return [
      { type: "model_start", ...call, provider: model === "small-1" ? "openai" : "anthropic" },
      index === 1
        ? { type: "model_error", ...call, duration_ms: 1, ...failure }
        : { type: "model_complete", ...call, duration_ms: 1, usage },
    ];
  });
  const failedTool = {
    type: "tool_error",
    run_id,
    tenant_id,
    tool_use_id: "d1",
    tool: "bigquery",
    error: "connection reset",
    error_for_llm: "the tool failed",
    envelope: { wire_code: "transport_failure", wire_class: "server" },
    kind: "transient",
    duration_ms: 1,
  };
  const loop = Array.from({ length: 7 }, (_, index) => {
    const call = { run_id, tenant_id, tool_use_id: `l${index}`, tool: "lookup" };
    return [
      { type: "tool_start", ...call, input: { id: 7 } },
      { type: "tool_complete", ...call, duration_ms: 0, output: "none" },
    ];
  });
  // The loop is over before the first of the run's own calls begins.
  const added = [...loop.flat(), ...calls, failedTool].map((event, index) => {
    const at = addMilliseconds(first.at, index + 1);
    return { at, text: JSON.stringify({ timestamp: formatRfc3339(at), ...event }) };
  });
  return { name: recorded.name, lines: [first, ...added, ...rest] };
}

function order({ entelix_failure_kind: kind }: Readonly<Record<string, unknown>>): number {
  return ["cancelled", "tool_error_terminal", "model_dispatch"].indexOf(String(kind));
}
