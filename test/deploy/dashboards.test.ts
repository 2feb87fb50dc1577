import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Dashboard, type Panel, readDashboard } from "../../deploy/grafana/check/dashboard.ts";
import { linkAddress } from "../../deploy/grafana/check/link-address.ts";
import { labelValues } from "../../deploy/grafana/check/panel-data.ts";
import { linkLabels } from "../../deploy/grafana/check/panel-problems.ts";
import { promqlSelectors, type Selector } from "../../deploy/grafana/check/promql-names.ts";
import { type Choice, queryText } from "../../deploy/grafana/check/query-text.ts";
import { dashboardFiles } from "../../deploy/grafana/src/boards.ts";
import { DEFAULT_JAEGER_URL } from "../../deploy/grafana/src/names.ts";
import { ATTRIBUTES } from "../../src/events/door.ts";
import { knownMetrics } from "./dashboard-metrics.ts";
import { at, shippedYaml } from "./support/shipped-yaml.ts";

const FOLDER = join(import.meta.dirname, "../../deploy/grafana/dashboards");
const names = readdirSync(FOLDER);
const dashboards = names.map((name) => readDashboard(readFileSync(join(FOLDER, name), "utf8")));
const known = knownMetrics();
const NAMED = "entelix_(?:failures|runs|tool|tokens|cost|approvals|spans)";

/** A panel that shows data, with its dashboard. */
interface Shown {
  readonly dashboard: Dashboard;
  readonly panel: Panel;
  readonly where: string;
}

const shown: readonly Shown[] = dashboards.flatMap((dashboard) =>
  dashboard.panels
    .filter(({ type }) => type !== "row")
    .map((panel) => ({ dashboard, panel, where: `${dashboard.uid}: ${panel.title}` })),
);

const selectors = shown.flatMap(({ panel, where }) =>
  panel.targets.flatMap(({ expr, refId }) =>
    promqlSelectors(expr).map((selector) => ({ where: `${where} ${refId}`, ...selector })),
  ),
);

/** The metrics that a selector can mean. */
function meant({ isPattern, metric }: Selector): string[] {
  const pattern = isPattern ? new RegExp(`^(?:${metric})$`) : undefined;
  return [...known.keys()].filter((name) => pattern?.test(name) ?? name === metric);
}

/** What stands for each variable in the links and queries of these tests. */
function choicesOf({ variables }: Dashboard): ReadonlyMap<string, Choice> {
  return new Map(
    variables.map(({ allValue, name, query, type }): [string, Choice] => [
      name,
      allValue !== undefined
        ? { kind: "all", pattern: allValue }
        : { kind: "one", value: type === "query" ? `some ${name}` : query },
    ]),
  );
}

/** Where a panel's link leads when a series is clicked whose labels are all `"a b&c"`. */
function addressOf({ dashboard, panel }: Shown, url: string): URL {
  const labels = Object.fromEntries(linkLabels(panel).map((label) => [label, '"a b&c"']));
  const place = { labels, value: 1.5, choices: choicesOf(dashboard), from: 1_000, to: 4_600 };
  return new URL(linkAddress(url, place), "http://grafana.test");
}

describe("the dashboards", () => {
  it("are eight, and are what the source gives: npm run dashboards", () => {
    const files = dashboardFiles({ jaegerUrl: DEFAULT_JAEGER_URL });
    expect(names.toSorted()).toEqual([...files.keys()].toSorted());
    expect(names).toHaveLength(8);
    for (const [name, text] of files) {
      expect(readFileSync(join(FOLDER, name), "utf8"), name).toBe(text);
    }
  });

  it("have files named by their uids, and ids that are not used twice", () => {
    expect(dashboards.map(({ uid }) => `${uid}.json`)).toEqual(names);
    for (const { panels, uid } of dashboards) {
      expect(new Set(panels.map(({ id }) => id)).size, uid).toBe(panels.length);
    }
  });

  it("say of every panel what it is, and in which unit", () => {
    expect(shown.length).toBeGreaterThan(60);
    const lacking = shown
      .filter(
        ({ panel }) =>
          panel.title === "" ||
          !/^[A-Z0-9].{20,}\.$/.test(panel.description) ||
          !["short", "s", "percentunit", "currencyUSD", "bytes"].includes(panel.unit),
      )
      .map(({ where }) => where);
    expect(lacking).toEqual([]);
  });

  it("name the provisioned data source by its uid", () => {
    const uids = shown.flatMap(({ panel }) => [
      panel.datasource,
      ...panel.targets.map(({ datasource }) => datasource),
    ]);
    expect(new Set(uids)).toEqual(new Set(["prometheus"]));
    expect(shown.filter(({ panel }) => panel.targets.length === 0)).toEqual([]);
  });

  it("have no two panels in one place of the grid, and none beside it", () => {
    for (const { panels, uid } of dashboards) {
      const cells = panels.flatMap(({ grid }) =>
        Array.from({ length: grid.w * grid.h }, (_, at) => {
          const [x, y] = [grid.x + (at % grid.w), grid.y + Math.floor(at / grid.w)];
          return `${x < 24 ? x : "outside"}/${y}`;
        }),
      );
      expect(new Set(cells).size, uid).toBe(cells.length);
      expect(cells.filter((cell) => cell.startsWith("outside"))).toEqual([]);
    }
  });
});

describe("the durations of spans", () => {
  it("are shown with traces that stand for them", () => {
    const targets = shown.flatMap(({ panel, where }) =>
      panel.targets
        .filter(({ expr }) => expr.includes("entelix_spans_duration"))
        .map(({ exemplars }) => ({ exemplars, where: where.split(": ")[0] })),
    );
    expect(targets).toEqual([
      { exemplars: true, where: "entelix-agent" },
      { exemplars: true, where: "entelix-agent" },
      { exemplars: true, where: "entelix-overview" },
    ]);
  });

  it("keep those traces from the collector over Prometheus to Jaeger", () => {
    const collector = shippedYaml("collector-config.yaml");
    expect(at(collector, "connectors", "span_metrics", "exemplars", "enabled")).toBe(true);
    // Exemplars are in this format only.
    expect(at(collector, "exporters", "prometheus", "enable_open_metrics")).toBe(true);
    const compose = shippedYaml("docker-compose.yml");
    const command = at(compose, "services", "prometheus", "command");
    expect(command).toContain("--enable-feature=exemplar-storage");
    const provisioned = shippedYaml("deploy/grafana/provisioning/datasources/entelix.yaml");
    expect(at(provisioned, "datasources", "0", "jsonData", "exemplarTraceIdDestinations")).toEqual([
      { name: "trace_id", datasourceUid: "jaeger" },
    ]);
  });
});

describe("the queries", () => {
  it("use no variable that their dashboard does not have", () => {
    for (const { dashboard, panel } of shown) {
      for (const { expr } of panel.targets) {
        const text = queryText(expr, choicesOf(dashboard), { from: 0, to: 3_600, step: 300 });
        expect(text).not.toContain("$");
      }
    }
  });

  it("name only metrics that are recorded", () => {
    expect(selectors.length).toBeGreaterThan(300);
    expect(selectors.filter((selector) => meant(selector).length === 0)).toEqual([]);
  });

  it("match and group by labels that those metrics have", () => {
    const wrong = selectors.flatMap(({ groups, labels, where, ...selector }) => {
      const [inner = []] = groups;
      return meant({ groups, labels, ...selector }).flatMap((metric) =>
        [...labels, ...inner]
          .filter((label) => known.get(metric)?.has(label) !== true)
          .map((label) => `${where}: ${metric} has no ${label}`),
      );
    });
    expect(wrong).toEqual([]);
  });

  it("keep the labels that legends, links and columns show", () => {
    const lost = shown.flatMap(({ panel, where }) =>
      panel.targets.flatMap(({ expr, legend }) => {
        const inLegend = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
        const columns = [...panel.columns.keys()].filter((name) => !name.startsWith("Value"));
        const kept = promqlSelectors(expr).map(({ groups }) => groups.at(-1) ?? []);
        return [...inLegend, ...linkLabels(panel), ...columns]
          .filter((label) => !kept.every((labels) => labels.includes(label)))
          .map((label) => `${where}: ${label}`);
      }),
    );
    expect(lost).toEqual([]);
  });

  it("look at no failure without saying which run of a tree is meant", () => {
    const runs = selectors.filter(
      ({ labels, metric }) =>
        /^entelix_(?:runs|spans_calls)_total$/.test(metric) &&
        labels.includes("entelix_run_outcome"),
    );
    expect(runs.length).toBeGreaterThan(50);
    expect(runs.filter(({ labels }) => !labels.includes("entelix_root"))).toEqual([]);
  });

  it("are for the chosen service wherever agents' numbers are shown, and for its tenants", () => {
    const ours = selectors.filter(
      ({ labels, metric }) =>
        new RegExp(`^${NAMED}`).test(metric) && !labels.includes("otel_metric_overflow"),
    );
    expect(ours.filter(({ labels }) => !labels.includes("job"))).toEqual([]);
    const careless = ours
      .filter(({ where }) => !/^entelix-(?:health|failures)/.test(where))
      .filter(({ labels }) => !labels.includes("entelix_tenant_id"));
    expect(careless).toEqual([]);
  });
});

describe("the variables", () => {
  it("take their values from metrics and labels that are recorded", () => {
    const queries = dashboards
      .flatMap(({ variables }) => variables)
      .filter(({ type }) => type === "query");
    expect(queries.length).toBeGreaterThanOrEqual(11);
    for (const { query } of queries) {
      const { label, selector } = labelValues(query);
      const [found, another] = promqlSelectors(selector);
      expect(another).toBeUndefined();
      const [metric = ""] = found === undefined ? [] : meant(found);
      const labels = known.get(metric);
      for (const each of [label, ...(found?.labels ?? [])]) expect(labels, query).toContain(each);
    }
  });

  it("fit the dashboards", () => {
    const named = dashboards.map(({ uid, variables }) => [uid, variables.map(({ name }) => name)]);
    expect(Object.fromEntries(named)).toEqual({
      "entelix-overview": ["service", "tenant", "interval", "jaeger_url"],
      "entelix-agent": ["service", "tenant", "agent", "interval", "jaeger_url"],
      "entelix-tool": ["service", "tenant", "tool", "interval", "jaeger_url"],
      "entelix-failures": ["service", "interval", "jaeger_url"],
      "entelix-models": ["service", "tenant", "model", "interval", "jaeger_url"],
      "entelix-cost": ["service", "tenant", "interval", "jaeger_url"],
      "entelix-objectives": ["service", "tenant", "objective", "interval", "jaeger_url"],
      "entelix-health": ["service", "interval", "jaeger_url"],
    });
  });
});

describe("the links", () => {
  const all = shown.flatMap((each) => each.panel.links.map((link) => ({ ...each, link })));
  const toJaeger = all.filter(({ link }) => link.url.startsWith(`\${jaeger_url:raw}/`));
  const toDashboards = all.filter(({ link }) => link.url.startsWith("/d/"));

  it("lead to Jaeger or to a dashboard, and there are both", () => {
    expect(toJaeger.length + toDashboards.length).toBe(all.length);
    expect(toJaeger.length).toBeGreaterThan(20);
    expect(toDashboards.length).toBeGreaterThan(20);
  });

  it("ask Jaeger for a service, a time and attributes that spans have", () => {
    for (const { link, ...where } of toJaeger) {
      const { origin, pathname, searchParams } = addressOf(where, link.url);
      expect(origin + pathname).toBe(`${DEFAULT_JAEGER_URL}/search`);
      expect(searchParams.get("service")).toBe('"a b&c"');
      expect(searchParams.get("start")).toBe("1000000000");
      expect(searchParams.get("end")).toBe("4600000000");
      const narrowed = searchParams.get("tags") ?? searchParams.get("operation");
      expect(narrowed, `${where.where}: ${link.title}`).not.toBeNull();
    }
  });

  it("search for attributes that the bridge sets on one and the same span", () => {
    for (const { link, panel, where } of toJaeger) {
      const [, written = ""] = /&tags=([^&]*)/.exec(link.url) ?? [];
      if (written === "") continue;
      const plain = written.replace(/\$\{[^}]*\}/g, "x");
      const tags: unknown = JSON.parse(decodeURIComponent(plain));
      const searched = Object.keys(Object(tags));
      expect(searched.length, `${where}: ${panel.title}`).toBeGreaterThan(0);
      const places = searched.map((name) => placesOf(name));
      expect(
        ["run", "call", "model"].some((place) => places.every((each) => each.includes(place))),
        `${where}: ${searched}`,
      ).toBe(true);
    }
  });

  it("lead from a failure kind to its traces", () => {
    const kinds = toJaeger.filter(({ panel }) => /failure kind/i.test(panel.title));
    expect(kinds.length).toBeGreaterThanOrEqual(3);
    for (const { link } of kinds) {
      expect(decodeURIComponent(link.url)).toMatch(
        /"entelix\.failure\.kind":"\$\{__(?:field\.labels|data\.fields)\.entelix_failure_kind:/,
      );
    }
  });

  it("set variables that the other dashboard has", () => {
    for (const { link, ...where } of toDashboards) {
      const { pathname, searchParams } = addressOf(where, link.url);
      const other = dashboards.find(({ uid }) => pathname === `/d/${uid}`);
      const variables = other?.variables.map(({ name }) => `var-${name}`);
      for (const name of searchParams.keys()) {
        if (name !== "from" && name !== "to") expect(variables, where.where).toContain(name);
      }
      expect(searchParams.get("from")).toBe("1000000");
    }
  });

  it("take series' labels from charts and rows' columns from tables", () => {
    const mixed = all.filter(({ link, panel }) =>
      link.url.includes(panel.type === "table" ? "__field" : "__data"),
    );
    expect(mixed).toEqual([]);
  });
});

function placesOf(name: string): readonly string[] {
  const found = Object.entries(ATTRIBUTES).find(([attribute]) => attribute === name);
  return found === undefined ? [] : found[1].on.split(", ");
}
