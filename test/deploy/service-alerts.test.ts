import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { DEFAULT_INGEST_LIMITS } from "../../src/service/door.ts";
import { codeBlocks, readPage, section, tableRows } from "../docs/pages.ts";
import { list, text } from "../e2e/support/json-shape.ts";
import { SERVICE_METRICS } from "../service/support/service-metrics.ts";
import { ALERTS, RECORDS } from "./alert-files.ts";
import { queryNames } from "./alert-names.ts";

const watch = section(readPage("docs/operations.md"), "Watch");
const selectors = [...ALERTS, ...RECORDS].flatMap(({ expr }) => queryNames(expr).selectors);
/** Alerts that rest on a metric of the services, or on a record that does. */
const ofServices = ALERTS.filter(({ expr }) =>
  /entelix_(?:ingest|consume)_|entelix:(?:service|consume|tenant)_/.test(expr),
);

describe("the services' metrics", () => {
  it("are seen, with their labels", () => {
    expect(SERVICE_METRICS.get("entelix_ingest_lines_total")).toEqual(["tenant", "outcome"]);
    expect(SERVICE_METRICS.get("entelix_consume_stalled")).toEqual(["topic", "partition"]);
    expect(SERVICE_METRICS.get("entelix_consume_dead_letters_lost_total")).toEqual([]);
  });

  it.each([
    "entelix_ingest_ready",
    "entelix_ingest_stalled",
    "entelix_ingest_lag_seconds",
    "entelix_ingest_backlog_bytes",
    "entelix_ingest_journal_errors_total",
    "entelix_ingest_spans_refused_total",
    "entelix_ingest_rows_refused_total",
    "entelix_ingest_processor_rejected_total",
    "entelix_ingest_processor_tenant_conflicts_total",
    "entelix_ingest_token_reload_errors_total",
    "entelix_consume_behind_records",
    "entelix_consume_stalled",
    "entelix_consume_committed_offset",
    "entelix_consume_dead_letters_lost_total",
    "entelix_consume_spans_refused_total",
    "entelix_consume_rows_refused_total",
    "entelix_consume_tenant_conflicts_total",
  ])("%s has an alert, and the page says so", (metric) => {
    expect(selectors.map((selector) => selector.metric)).toContain(metric);
    const row = tableRows(watch).find(([names = ""]) => names.split(", ").includes(metric));
    expect(row?.at(-1)).toMatch(/\[Entelix\w+\]\(alerts-services\.md#entelix\w+\)/);
  });
});

describe("docs/operations.md", () => {
  it("names alerts of the services, and all of them", () => {
    const named = [...watch.matchAll(/\[(Entelix\w+)\]\(alerts-services\.md#(\w+)\)/g)];
    for (const [, name = "", anchor] of named) expect(anchor).toBe(name.toLowerCase());
    const names = new Set(named.map(([, name]) => name));
    expect([...names].toSorted()).toEqual(ofServices.map(({ alert }) => alert).toSorted());
    expect(names.size).toBeGreaterThan(5);
  });

  it("has scrapes under the names that the rules know", () => {
    const block = codeBlocks(watch).find(({ language }) => language === "yaml")?.text;
    const jobs = list(parse(block ?? ""), "scrape_configs").map((one) => text(one, "job_name"));
    expect(jobs).toEqual(["entelix-serve", "entelix-consume"]);
    // Those of the collector are in prometheus.yml.
    const known = selectors
      .filter(({ metric }) => metric === "up")
      .flatMap(({ matchers }) => matchers.flatMap(({ value }) => value.split("|")))
      .filter((job) => job.startsWith("entelix-"));
    expect(known).toContain("entelix-serve");
    expect(known.filter((job) => !jobs.includes(job))).toEqual([]);
  });
});

describe("the thresholds", () => {
  it("are half of the backlog as shipped", () => {
    const filling = ALERTS.find(({ alert }) => alert === "EntelixJournalFilling");
    const half = DEFAULT_INGEST_LIMITS.maxBacklogBytes / 2;
    expect(filling?.expr).toMatch(new RegExp(`> ${half}$`));
  });
});
