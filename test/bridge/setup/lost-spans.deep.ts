import { afterEach, describe, expect, it, vi } from "vitest";
import { setupTracing, type Tracing } from "../../../src/entries/setup.ts";
import { setupTelemetry } from "../../../src/entries/telemetry.ts";
import { deadUrl, OtlpServer } from "../../support/otlp-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";
import { keepReports } from "./reports.ts";

isolateProcess();
afterEach(() => vi.useRealTimers());

function endSpans(tracing: Tracing, count: number): void {
  const tracer = tracing.tracerProvider.getTracer("app");
  for (let n = 0; n < count; n++) tracer.startSpan(`s${n}`).end();
}

/** Spans lost by reason, as the receiver has them from the metrics; those that are 0 left out. */
function lostAt(server: OtlpServer): Record<string, number> {
  const points = server.points("entelix.bridge.spans_dropped").filter(({ value }) => value > 0);
  return Object.fromEntries(
    points.map((point) => [point.attributes["entelix.reason"], point.value]),
  );
}

/** What every setup here has: nobody takes the spans, and few of them may wait. */
const FEW = { queueBytes: 20_000, shutdownTimeoutMs: 500 };

describe("every lost span", () => {
  it("is logged once a minute at most, and all of them at the shutdown", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const lines = keepDiag();
    const tracing = setupTracing({ ...FEW, endpoint: await deadUrl() });
    endSpans(tracing, 1_000);
    const { queue_full: first } = tracing.diagnostics().lost;
    expect(first).toBeGreaterThan(500);
    const waiting = 1_000 - first;
    vi.advanceTimersByTime(0);
    const burst = `entelix-otel: span loss: SpanLossError: ${first} spans lost (queue_full ${first}) of 1000 that ended`;
    expect(lines).toEqual([burst]);
    for (let second = 0; second < 59; second++) {
      endSpans(tracing, 10);
      vi.advanceTimersByTime(1_000);
    }
    expect(lines).toEqual([burst]);
    vi.advanceTimersByTime(1_000);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain("590 spans lost (queue_full 590) of 1590 that ended");
    vi.useRealTimers();
    await tracing.shutdown();
    const all = `${first + 590 + waiting} spans lost (queue_full ${first + 590}, unreachable ${waiting}) of 1590 that ended`;
    expect(lines.at(-1)).toContain(`entelix-otel: shutdown: SpanLossError: ${all}; last error`);
    expect(tracing.diagnostics()).toMatchObject({ failed: waiting, dropped: first + 590 });
  });

  it("is in the metrics, also what the shutdown gave up on", async () => {
    await using server = await OtlpServer.start();
    process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = await deadUrl();
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = server.url;
    const reports = keepReports();
    const options = { ...FEW, metricIntervalMs: 20, onError: reports.onError };
    const telemetry = setupTelemetry(options);
    endSpans(telemetry, 1_000);
    const { queue_full } = telemetry.diagnostics().lost;
    await waitFor(() => expect(lostAt(server)).toEqual({ queue_full }));
    await telemetry.shutdown();
    expect(lostAt(server)).toEqual({ queue_full, unreachable: 1_000 - queue_full });
    expect(reports.losses("shutdown").map(({ lost }) => lost)).toEqual([1_000]);
  });
});

describe("an endpoint that is away", () => {
  it("is told of while nothing is lost yet", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const reports = keepReports();
    const tracing = setupTracing({ endpoint: await deadUrl(), onError: reports.onError });
    endSpans(tracing, 3);
    void tracing.forceFlush().catch(() => {});
    while (reports.all.length === 0) {
      vi.advanceTimersByTime(100);
      // Attempts are real.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [report] = reports.all;
    expect(report?.where).toBe("span export");
    expect(String(report?.error)).toMatch(
      /^Error: the endpoint has taken no spans for \d+ s; 3 spans wait and are sent again: .*ECONNREFUSED/,
    );
    expect(tracing.diagnostics()).toMatchObject({ ended: 3, pending: 3, failed: 0 });
    vi.useRealTimers();
    await tracing.shutdown();
  });
});
