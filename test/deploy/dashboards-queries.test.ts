import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durationSeconds, durationText } from "../../deploy/grafana/check/duration-text.ts";
import { fillVariables } from "../../deploy/grafana/check/fill-variables.ts";
import { linkAddress } from "../../deploy/grafana/check/link-address.ts";
import { promqlSelectors } from "../../deploy/grafana/check/promql-names.ts";
import { type Choice, queryText } from "../../deploy/grafana/check/query-text.ts";
import { grown, quantile, ratio, series, sum } from "../../deploy/grafana/src/queries.ts";

const TIME = { from: 1_000, to: 22_600, step: 300 };

describe("fillVariables", () => {
  const lookup = (name: string, format?: string): string | undefined =>
    name === "a" || name === "__field.labels.x" ? `<${name} ${format ?? "-"}>` : undefined;

  it.each([
    ["$a", "<a ->"],
    ["x$a/y", "x<a ->/y"],
    [`\${a}b`, "<a ->b"],
    [`\${a:raw}$a`, "<a raw><a ->"],
    [`\${__field.labels.x:percentencode}`, "<__field.labels.x percentencode>"],
    ["no variable, 5$", "no variable, 5$"],
  ])("fills %j", (text, expected) => {
    expect(fillVariables(text, lookup)).toBe(expected);
  });

  it("refuses what it does not know, rather than leave it in the text", () => {
    expect(() => fillVariables('up{job=~"$b"}', lookup)).toThrow(
      '$b: no such variable, in up{job=~"$b"}',
    );
    expect(() => fillVariables("$ab", lookup)).toThrow(RangeError);
  });
});

describe("queryText", () => {
  const fill = (expr: string, choice: Choice): string =>
    queryText(expr, new Map([["tenant", choice]]), TIME);

  it("fills Grafana's own variables", () => {
    const own = "$__interval $__interval_ms $__range $__range_s $__range_ms $__rate_interval";
    expect(queryText(own, new Map(), TIME)).toBe("5m 300000 21600s 21600 21600000 315s");
    expect(queryText("$__rate_interval", new Map(), { ...TIME, step: 15 })).toBe("1m");
    expect(queryText("$__rate_interval", new Map(), { ...TIME, step: 30, scrape: 30 })).toBe("2m");
  });

  it("fills all, one and several values", () => {
    expect(fill('{t=~"$tenant"}', { kind: "all", pattern: ".*" })).toBe('{t=~".*"}');
    expect(fill('{t="$tenant"}', { kind: "one", value: "a.c" })).toBe('{t="a.c"}');
    expect(fill('{t=~"$tenant"}', { kind: "several", values: ["a.c"] })).toBe('{t=~"a\\\\.c"}');
    expect(fill('{t=~"$tenant"}', { kind: "several", values: ["a", "b|c"] })).toBe(
      '{t=~"(a|b\\\\|c)"}',
    );
  });

  it("escapes any text so that Prometheus reads the same text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a.\\"|()[]{}^$+*?-_ é') }), (value) => {
        const one = fill("$tenant", { kind: "one", value });
        expect(unquoted(one)).toBe(value);
        const several = fill("$tenant", { kind: "several", values: [value, "other"] });
        const pattern = new RegExp(`^${unquoted(several)}$`);
        expect(pattern.test(value)).toBe(true);
        expect(pattern.test(`${value}x`)).toBe(false);
      }),
    );
  });

  it("refuses a variable that nobody chose", () => {
    expect(() => queryText('up{job="$service"}', new Map(), TIME)).toThrow("$service");
  });
});

/** What PromQL makes of the inside of a string in double quotes; a bare quote would have ended it. */
function unquoted(text: string): string {
  expect(text.replace(/\\./gs, "")).not.toMatch(/["\\]/);
  return text.replace(/\\(.)/gs, "$1");
}

describe("linkAddress", () => {
  const place = {
    labels: { kind: "a b&c" },
    value: 1.25,
    choices: new Map<string, Choice>([
      ["service", { kind: "all", pattern: ".*" }],
      ["tenant", { kind: "several", values: ["a", "b&"] }],
      ["jaeger_url", { kind: "one", value: "http://jaeger:16686" }],
    ]),
    from: 100,
    to: 200,
  };

  it.each([
    [`\${jaeger_url:raw}/search`, "http://jaeger:16686/search"],
    [`\${__field.labels.kind:percentencode}`, "a%20b%26c"],
    [`\${__data.fields.kind:percentencode}`, "a%20b%26c"],
    [`\${__value.raw}s`, "1.25s"],
    [`\${__from}000-\${__to}000`, "100000000-200000000"],
    [`\${__url_time_range}`, "from=100000&to=200000"],
    [`\${service:queryparam}`, "var-service=%24__all"],
    [`\${tenant:queryparam}`, "var-tenant=a&var-tenant=b%26"],
  ])("fills %s", (url, expected) => {
    expect(linkAddress(url, place)).toBe(expected);
  });

  it.each([
    `\${__field.labels.other:percentencode}`,
    `\${agent:queryparam}`,
    `\${__field.labels.kind}`,
  ])("refuses %s", (url) => {
    expect(() => linkAddress(url, place)).toThrow(RangeError);
  });
});

describe("durations", () => {
  it.each([
    [15, "15s"],
    [90, "90s"],
    [300, "5m"],
    [3_600, "1h"],
    [172_800, "2d"],
    [0.25, "250ms"],
  ])("writes %d as %s, and reads it", (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
    expect(durationSeconds(text)).toBe(seconds);
  });

  it.each(["5", "m", "1h30m", "$interval", ""])("does not read %j", (text) => {
    expect(() => durationSeconds(text)).toThrow("expected a duration");
  });
});

describe("promqlSelectors", () => {
  it("finds metrics, matchers and groupings", () => {
    expect(promqlSelectors('sum by (a, b) (rate(x_total{c="1", d=~"$e"}[5m])) / up')).toEqual([
      { metric: "x_total", isPattern: false, labels: ["c", "d"], groups: [["a", "b"]] },
      { metric: "up", isPattern: false, labels: [], groups: [] },
    ]);
  });

  it("finds groupings from the inside out", () => {
    const query = "max by (a) (histogram_quantile(0.9, sum by (le, a) (x_bucket)) or vector(0))";
    expect(promqlSelectors(query)).toEqual([
      { metric: "x_bucket", isPattern: false, labels: [], groups: [["le", "a"], ["a"]] },
    ]);
  });

  it("takes the pattern of a name, a sum of all, and what has the name of an aggregation", () => {
    expect(promqlSelectors('sum ({__name__=~"x(_total)?", a!="\\"})"})')).toEqual([
      { metric: "x(_total)?", isPattern: true, labels: ["a"], groups: [[]] },
    ]);
    expect(promqlSelectors("count offset 5m > 0")).toEqual([
      { metric: "count", isPattern: false, labels: [], groups: [] },
    ]);
  });

  it("takes the labels that unless matches on for labels of what follows", () => {
    expect(promqlSelectors('x unless on (a, b) rate(y{c="1"}[5m]) or z')).toEqual([
      { metric: "x", isPattern: false, labels: [], groups: [] },
      { metric: "y", isPattern: false, labels: ["a", "b", "c"], groups: [] },
      { metric: "z", isPattern: false, labels: [], groups: [] },
    ]);
  });

  it("sees every selector of what the dashboards are made of", () => {
    const x = series("x_total", 'a="1"');
    const query = ratio(sum(["b"], grown(x, "$__interval")), quantile(0.5, [], "y_bucket", "1h"));
    const found = promqlSelectors(query);
    expect(found.filter(({ metric }) => metric === "x_total")).toHaveLength(6);
    expect(found.filter(({ metric }) => metric === "y_bucket")).toHaveLength(6);
    expect(new Set(found.map(({ groups }) => groups.join()))).toEqual(new Set(["b", "le"]));
  });

  it.each([
    ["sum(x) by (a)", "by before"],
    ["x / on (a) y", "no on"],
    ["sum without (a) (x)", "no without"],
    ['{a="1"}', "without a metric"],
    ["sum(x", "as many )"],
    ["x{a=1}", "a matcher"],
    ["x # y", "no #"],
  ])("refuses %s", (query, message) => {
    expect(() => promqlSelectors(query)).toThrow(message);
  });
});
