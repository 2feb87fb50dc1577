import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/index.ts";
import {
  INGEST_METRICS,
  IngestFigures,
  MOST_TENANTS,
  metricsText,
} from "../../../src/service/http/ingest-metrics.ts";
import type { ProcessorFigures } from "../../../src/service/processor/log-processor-options.ts";

const PROCESSOR: ProcessorFigures = {
  lines: 10,
  alreadyExported: 1,
  events: 9,
  rejected: 0,
  unknown: 0,
  duplicates: 2,
  ignored: { ...new Bridge().diagnostics().ignored, duplicate: 2 },
  tenantConflicts: { acme: 3, _other: 1 },
  late: 1,
  spansStored: 4,
  spansRefused: 0,
  rowsStored: 5,
  rowsRefused: 0,
  openRuns: 3,
  waiting: 0,
  inFlight: 0,
  stalled: true,
  lagMs: 1500,
};

function textOf(figures: IngestFigures): string {
  const journal = { bytes: 100, next: 12, position: 7 };
  return metricsText({
    figures,
    processor: PROCESSOR,
    heldBytes: 65_536,
    connections: 2,
    ready: true,
    journal,
    recovered: { torn: 2, tornBytes: 215, missing: 3 },
    backlogBytes: 50,
  });
}

describe("the metrics", () => {
  it("are in the form that Prometheus reads, each with what it means", () => {
    const figures = new IngestFigures();
    figures.addLines('a"b\\c\nd', { accepted: 1, duplicate: 2, rejected: 3 });
    figures.addRequest("/v1/events", 200);
    figures.addRequest("/v1/events", 200);
    const lines = textOf(figures).trimEnd().split("\n");
    for (const [name, { kind, about }] of Object.entries(INGEST_METRICS)) {
      expect(lines).toContain(`# HELP ${name} ${about}`);
      expect(lines).toContain(`# TYPE ${name} ${kind}`);
    }
    const sample =
      /^entelix_ingest_\w+(?:\{\w+="(?:[^"\\\n]|\\["\\n])*"(?:,\w+="[^"]*")*\})? [\d.e+-]+$/;
    expect(lines.filter((line) => !line.startsWith("# ") && !sample.test(line))).toEqual([]);
    for (const line of [
      'entelix_ingest_lines_total{tenant="a\\"b\\\\c\\nd",outcome="rejected"} 3',
      'entelix_ingest_requests_total{route="/v1/events",status="200"} 2',
      'entelix_ingest_processor_ignored_total{reason="duplicate"} 2',
      'entelix_ingest_processor_tenant_conflicts_total{tenant="a\\"b\\\\c\\nd"} 0',
      'entelix_ingest_processor_tenant_conflicts_total{tenant="acme"} 3',
      'entelix_ingest_processor_tenant_conflicts_total{tenant="_other"} 1',
      "entelix_ingest_journal_position 7",
      "entelix_ingest_journal_torn_places_total 2",
      "entelix_ingest_journal_torn_bytes_total 215",
      "entelix_ingest_journal_missing_lines_total 3",
      "entelix_ingest_stalled 1",
      "entelix_ingest_held_bytes 65536",
      "entelix_ingest_lag_seconds 1.5",
      "entelix_ingest_ready 1",
    ]) {
      expect(lines).toContain(line);
    }
  });

  it("have a bounded number of tenants, and lose no count", () => {
    const figures = new IngestFigures();
    for (let n = 0; n < 3 * MOST_TENANTS; n += 1) {
      figures.addLines(`t${n}`, { accepted: 1, duplicate: 0, rejected: 0 });
    }
    figures.addLines("t0", { accepted: 1, duplicate: 0, rejected: 0 });
    const counts = [...textOf(figures).matchAll(/tenant="(\w+)",outcome="accepted"\} (\d+)/g)];
    expect(counts.length).toBe(MOST_TENANTS + 1);
    expect(counts.find(([, tenant]) => tenant === "t0")?.[2]).toBe("2");
    expect(counts.find(([, tenant]) => tenant === "_other")?.[2]).toBe(String(2 * MOST_TENANTS));
  });
});
