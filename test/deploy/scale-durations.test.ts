import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { divideDuration, parseDuration } from "../e2e/support/duration.ts";
import { scaleDurations } from "../e2e/support/scale-durations.ts";
import { scaleQuery } from "../e2e/support/scale-query.ts";

describe("a duration", () => {
  it("is read with all units that Prometheus has", () => {
    expect(parseDuration("1y2w3d4h5m6s7ms")).toBe(
      31_536_000_000 + 2 * 604_800_000 + 3 * 86_400_000 + 4 * 3_600_000 + 306_007,
    );
    expect(parseDuration("90s")).toBe(90_000);
    expect(parseDuration("0s")).toBe(0);
  });

  it.each(["", "5", "m", "5M", "1m1h", "5m ", "1.5h", "-5m", "5min"])("is not %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it("divides to seconds where they are whole, else to milliseconds", () => {
    expect(divideDuration("5m", 60)).toBe("5s");
    expect(divideDuration("15s", 60)).toBe("250ms");
    expect(divideDuration("1h30m", 60)).toBe("90s");
    expect(divideDuration("0s", 60)).toBe("0s");
  });

  it("is refused where it does not divide", () => {
    expect(() => divideDuration("1s", 60)).toThrow("1s divided by 60 is no whole number");
    expect(() => divideDuration("soon", 60)).toThrow('expected a duration such as 5m, got "soon"');
  });

  it("divided and multiplied again is what it was", () => {
    const parts = fc.array(fc.constantFrom<string>("2y", "3w", "4d", "5h", "6m", "60s"), {
      minLength: 1,
    });
    fc.assert(
      fc.property(parts, fc.constantFrom(1, 2, 4, 60), (chosen, factor) => {
        const order = ["2y", "3w", "4d", "5h", "6m", "60s"];
        const text = order.filter((part) => chosen.includes(part)).join("");
        const divided = parseDuration(divideDuration(text, factor));
        expect((divided ?? 0) * factor).toBe(parseDuration(text));
      }),
    );
  });
});

describe("a query", () => {
  it.each([
    ["rate(a[5m])", "rate(a[5s])"],
    ["rate(a[ 1h30m ] offset 2h)", "rate(a[ 90s ] offset 120s)"],
    ["max_over_time(x[1h:5m]) > 5", "max_over_time(x[60s:5s]) > 5"],
    ["a unless a OFFSET -1m", "a unless a OFFSET -1s"],
    ["a unless (b offset 30m) > 600", "a unless (b offset 30s) > 600"],
    ["increase(x[1h]) > 1e3 and on (job) y > 0x1f", "increase(x[60s]) > 1e3 and on (job) y > 0x1f"],
    ["time() - x > 3600 * 1.5 or y == +Inf", "time() - x > 3600 * 1.5 or y == +Inf"],
  ])("%s becomes %s", (query, scaled) => {
    expect(scaleQuery(query, 60)).toBe(scaled);
  });

  it.each([
    `x{le="5m", a='[10m]', b=\`offset 1h\`}`,
    'x{a="\\"[5m]"}',
    "x # as seen in [5m], offset 1h\n> 1",
    "rate5m:x:sum > job:failures:rate5m",
    'histogram_quantile(0.95, sum by (le) (x{offset="2h"}))',
  ])("%s stays as it is", (query) => {
    expect(scaleQuery(query, 60)).toBe(query);
  });

  it("with a duration that is no range and no offset is refused", () => {
    expect(() => scaleQuery("x > 5m", 60)).toThrow("5m is in no range and no offset");
    expect(() => scaleQuery("x offset y > 5m", 60)).toThrow("5m is in no range and no offset");
  });
});

function scaled(text: string): unknown {
  const document = parseDocument(text);
  scaleDurations(document, 60);
  return parseDocument(document.toString()).toJS();
}

describe("a file", () => {
  it("of rules keeps everything but its durations", () => {
    const rules = `
groups:
  - name: failures-5m
    interval: 15s
    limit: 10
    rules:
      - record: entelix:runs:rate5m
        expr: |-
          sum by (job) (rate(entelix_runs_total{outcome="5m"}[5m]))
          # over [5m]
          / 60
      - alert: TooMany
        expr: |
          entelix:runs:rate5m > 300
            unless x offset 1h
        for: 2m
        keep_firing_for: 10m
        labels: { severity: page, window: 5m }
        annotations:
          summary: "more than 3 in 5m"
`;
    expect(scaled(rules)).toEqual({
      groups: [
        {
          name: "failures-5m",
          interval: "250ms",
          limit: 10,
          rules: [
            {
              record: "entelix:runs:rate5m",
              expr: 'sum by (job) (rate(entelix_runs_total{outcome="5m"}[5s]))\n# over [5m]\n/ 60',
            },
            {
              alert: "TooMany",
              expr: "entelix:runs:rate5m > 300\n  unless x offset 60s\n",
              for: "2s",
              keep_firing_for: "10s",
              labels: { severity: "page", window: "5m" },
              annotations: { summary: "more than 3 in 5m" },
            },
          ],
        },
      ],
    });
  });

  it("of Alertmanager keeps its routes and gives them shorter waits", () => {
    const config = `
global: { resolve_timeout: 5m }
route:
  group_by: [alertname, entelix_tenant_id]
  group_wait: 30s
  group_interval: 5m
  repeat_interval: 4h
  routes:
    - matchers: ['severity="page"']
      repeat_interval: 1h
      continue: true
`;
    expect(scaled(config)).toEqual({
      global: { resolve_timeout: "5s" },
      route: {
        group_by: ["alertname", "entelix_tenant_id"],
        group_wait: "500ms",
        group_interval: "5s",
        repeat_interval: "240s",
        routes: [{ matchers: ['severity="page"'], repeat_interval: "60s", continue: true }],
      },
    });
  });

  it("with a duration at an unknown key is refused, that it does not stay unnoticed", () => {
    expect(() => scaled("global: { query_patience: 5m }")).toThrow(
      "query_patience: 5m looks like a duration, and the key is not known",
    );
    expect(() => scaled("steps: [x, 1h]")).toThrow("steps: 1h looks like a duration");
  });

  it("with a number where a duration is expected stays valid for the server to refuse", () => {
    expect(scaled("global: { scrape_interval: 15 }")).toEqual({ global: { scrape_interval: 15 } });
  });
});
