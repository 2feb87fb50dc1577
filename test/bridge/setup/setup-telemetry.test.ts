import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { createNoopMeter, metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { describe, expect, it, vi } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { setupTracing } from "../../../src/entries/setup.ts";
import { setupTelemetry, type TelemetrySetupOptions } from "../../../src/entries/telemetry.ts";
import { listening } from "../../support/listening.ts";
import { deadUrl, OtlpServer } from "../../support/otlp-server.ts";
import { runTimers, stopTimers, untilSeen } from "../../support/stopped-timers.ts";
import { waitUntil } from "../../support/wait-for.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";
import { keepReports } from "./reports.ts";
import { openRun, sendRun } from "./sample-run.ts";

isolateProcess();

const complete = { "entelix.run.outcome": "complete" };

/** The sum of the series of a metric that have these attributes. */
function sum(server: OtlpServer, metric: string, attributes: Record<string, unknown> = {}): number {
  return server
    .points(metric)
    .filter((point) => Object.entries(attributes).every(([k, v]) => point.attributes[k] === v))
    .reduce((total, { value }) => total + value, 0);
}

describe("setupTelemetry", () => {
  it("sends spans and metrics of one resource to one endpoint", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const telemetry = setupTelemetry({
      endpoint: server.url,
      serviceName: "support-agent",
      headers: { authorization: "Bearer x" },
      onError: reports.onError,
    });
    sendRun(telemetry.createBridge());
    await telemetry.shutdown();
    expect(server.faults).toEqual([]);
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/traces", "/v1/metrics"]);
    const [spans, points] = server.requests;
    expect(points?.headers.authorization).toBe("Bearer x");
    const [point] = server.points("entelix.runs");
    expect(point?.resource).toEqual(spans?.spans[0]?.resource);
    expect(point?.resource).toMatchObject({ "service.name": "support-agent" });
    expect(point?.resource["service.instance.id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(point).toMatchObject({ scope: "entelix-otel", unit: "{run}" });
    expect(sum(server, "entelix.runs", complete)).toBe(1);
    expect(sum(server, "entelix.bridge.events")).toBe(4);
    expect(reports.all).toEqual([]);
  });

  it("sends the last metrics after the last spans, of runs that the shutdown closes too", async () => {
    await using server = await OtlpServer.start();
    const telemetry = setupTelemetry({ endpoint: server.url });
    openRun(telemetry.createBridge());
    openRun(telemetry.createBridge({ audit: new MemorySessionLog() }), "another");
    await telemetry.shutdown();
    expect(server.requests.map(({ path }) => path).at(-1)).toBe("/v1/metrics");
    expect(sum(server, "entelix.runs", { "entelix.run.outcome": "abandoned" })).toBe(2);
    expect(sum(server, "entelix.runs.active")).toBe(0);
    expect(sum(server, "entelix.bridge.open_runs")).toBe(0);
  });

  it("sends them again and again, as often as the option says, not the variable", async () => {
    await using server = await OtlpServer.start();
    process.env.OTEL_METRIC_EXPORT_INTERVAL = "1000000";
    const telemetry = setupTelemetry({ endpoint: server.url, metricIntervalMs: 20 });
    const sink = telemetry.createBridge();
    openRun(sink);
    await waitUntil(() => sum(server, "entelix.runs.active") === 1);
    sendRun(sink, "another");
    await waitUntil(() => sum(server, "entelix.runs", complete) === 1);
    await telemetry.shutdown();
  });

  it("takes the interval of the variable before its own of 15 s", async () => {
    await using server = await OtlpServer.start();
    process.env.OTEL_METRIC_EXPORT_INTERVAL = "20";
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = server.url;
    const telemetry = setupTelemetry();
    openRun(telemetry.createBridge());
    await waitUntil(() => sum(server, "entelix.runs.active") === 1);
    await telemetry.shutdown();
    const intervals = vi.spyOn(globalThis, "setInterval");
    process.env.OTEL_METRIC_EXPORT_INTERVAL = "soon";
    const warnings = keepDiag();
    await setupTelemetry({ register: false }).shutdown();
    expect(intervals.mock.calls.map(([, ms]) => ms)).toEqual([15_000]);
    intervals.mockRestore();
    expect(warnings.join()).toContain("OTEL_METRIC_EXPORT_INTERVAL: expected a whole number");
  });

  it("counts the spans that were lost, by reason, from 0", async () => {
    await using server = await OtlpServer.start({
      answer: (request) => (request === 0 ? 400 : 200),
    });
    const telemetry = setupTelemetry({ endpoint: server.url, onError: () => {} });
    const sink = telemetry.createBridge();
    sendRun(sink);
    await telemetry.forceFlush().catch(() => {});
    sendRun(sink, "another");
    await telemetry.shutdown();
    const lost = server
      .points("entelix.bridge.spans_dropped")
      .map(({ attributes, value }) => [attributes["entelix.reason"], value]);
    expect(lost).toEqual([
      ["queue_full", 0],
      ["after_shutdown", 0],
      ["timeout", 0],
      ["unreachable", 0],
      ["rejected", 2],
      ["export_failed", 0],
    ]);
    expect(telemetry.diagnostics().lost.rejected).toBe(2);
  });

  it("is the process's own, until its shutdown", async () => {
    await using server = await OtlpServer.start();
    const telemetry = setupTelemetry({ endpoint: server.url });
    expect(metrics.getMeterProvider()).toBe(telemetry.meterProvider);
    const bridge = new Bridge();
    sendRun({ send: (event) => void bridge.send(event) });
    await telemetry.forceFlush();
    expect(sum(server, "entelix.runs", complete)).toBe(1);
    await telemetry.shutdown();
    expect(metrics.getMeterProvider()).not.toBe(telemetry.meterProvider);
    await bridge.shutdown();
  });

  it("leaves another meter provider in its place and says so", async () => {
    const reports = keepReports();
    const other = new MeterProvider();
    metrics.setGlobalMeterProvider(other);
    const options = { endpoint: await deadUrl(), onError: reports.onError };
    const telemetry = setupTelemetry(options);
    expect(reports.all.map(({ error }) => String(error))).toEqual([
      "Error: another meter provider is registered: shut it down and call metrics.disable() before, or pass register: false",
    ]);
    const quiet = setupTelemetry({ ...options, register: false });
    expect(reports.all).toHaveLength(1);
    await Promise.all([telemetry.shutdown(), quiet.shutdown()]);
    expect(metrics.getMeterProvider()).toBe(other);
  });

  it("takes readers of the caller's beside its own, and none at all", async () => {
    await using server = await OtlpServer.start();
    process.env.OTEL_METRICS_EXPORTER = "none";
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter });
    const telemetry = setupTelemetry({ endpoint: server.url, metricReaders: [reader] });
    sendRun(telemetry.createBridge());
    await telemetry.forceFlush();
    const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    expect(scopes.map(({ scope }) => scope.name)).toEqual(["entelix-otel"]);
    await telemetry.shutdown();

    const without = setupTelemetry({ endpoint: server.url });
    sendRun(without.createBridge());
    await without.shutdown();
    expect(server.requests.filter(({ path }) => path.endsWith("/metrics"))).toEqual([]);
    expect(server.spans).toHaveLength(4);
  });

  it("honours OTEL_EXPORTER_OTLP_METRICS_*", async () => {
    await using server = await OtlpServer.start();
    await using spans = await OtlpServer.start();
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = spans.url;
    process.env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT = `${server.url}/own/metrics`;
    process.env.OTEL_EXPORTER_OTLP_METRICS_HEADERS = "x-key=1";
    process.env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL = "grpc";
    const warnings = keepDiag();
    const telemetry = setupTelemetry();
    sendRun(telemetry.createBridge());
    await telemetry.shutdown();
    expect(server.requests.map(({ path }) => path)).toEqual(["/own/metrics"]);
    expect(server.requests[0]?.headers["x-key"]).toBe("1");
    expect(spans.requests.map(({ path }) => path)).toEqual(["/v1/traces"]);
    expect(warnings.join()).toContain("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=grpc: gRPC is not");
  });

  it.each<[Record<string, string>, string]>([
    [{}, "application/x-protobuf"],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, "application/json"],
    [{ OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/json" }, "application/json"],
    [
      {
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/protobuf",
      },
      "application/x-protobuf",
    ],
  ])("with %j sends the same metrics in %s", async (variables, type) => {
    await using server = await OtlpServer.start();
    Object.assign(process.env, variables);
    const warnings = keepDiag();
    const telemetry = setupTelemetry({ endpoint: server.url });
    sendRun(telemetry.createBridge());
    await telemetry.shutdown();
    const sent = server.requests.find(({ path }) => path === "/v1/metrics");
    expect([sent?.headers["content-type"], server.faults]).toEqual([type, []]);
    expect(sum(server, "entelix.runs", complete)).toBe(1);
    expect(server.points("gen_ai.invoke_agent.duration").map(({ value }) => value)).toEqual([1]);
    expect(warnings).toEqual([]);
  });

  it("puts metrics beside an endpoint that names the path of the spans", async () => {
    await using server = await OtlpServer.start();
    const telemetry = setupTelemetry({ endpoint: `${server.url}/base/v1/traces` });
    sendRun(telemetry.createBridge());
    await telemetry.shutdown();
    const paths = server.requests.map(({ path }) => path);
    expect(paths).toEqual(["/base/v1/traces", "/base/v1/metrics"]);
  });

  it("does nothing where OTEL_SDK_DISABLED says so", async () => {
    await using server = await OtlpServer.start();
    process.env.OTEL_SDK_DISABLED = "true";
    const other = metrics.getMeterProvider();
    const telemetry = setupTelemetry({ endpoint: server.url });
    expect(metrics.getMeterProvider()).toBe(other);
    const sink = telemetry.createBridge();
    sendRun(sink);
    expect(sink.diagnostics()).toMatchObject({ events: 4, metricFailures: 0 });
    await telemetry.forceFlush();
    await telemetry.shutdown();
    expect(server.requests).toEqual([]);
  });

  it("sends no metrics of a replay", async () => {
    await using server = await OtlpServer.start();
    const telemetry = setupTelemetry({ endpoint: server.url });
    sendRun(telemetry.createBridge({ mode: "replay" }));
    await telemetry.shutdown();
    expect(server.points("entelix.runs")).toEqual([]);
    expect(server.points("entelix.bridge.events")).toEqual([]);
    expect(server.spans).toHaveLength(2);
  });

  it.each<[TelemetrySetupOptions, string]>([
    [
      { metricIntervalMs: 0 },
      "metricIntervalMs: expected milliseconds from 1 to 2147483647, got 0",
    ],
    [{ metricIntervalMs: Number.NaN }, "metricIntervalMs: expected milliseconds from 1"],
    [
      { endpoint: "collector:4318" },
      'endpoint: expected an http or https URL, got "collector:4318"',
    ],
  ])("refuses %j", (options, message) => {
    expect(() => setupTelemetry(options)).toThrow(message);
    expect(metrics.getMeterProvider().getMeter("x")).toBe(createNoopMeter());
  });

  it("leaves nothing behind when a reader can't be used", async () => {
    const options = { endpoint: await deadUrl(), onError: () => {} };
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter });
    const first = setupTelemetry({ ...options, metricReaders: [reader], register: false });
    const again = () => setupTelemetry({ ...options, metricReaders: [reader] });
    expect(again).toThrow("MetricReader can not be bound to a MeterProvider again.");
    await waitUntil(() => setupTracing({ ...options }).registered);
    await first.shutdown();
  });

  it("is apart from setupTracing, which does without the metrics packages", () => {
    const folder = new URL("../../../src/bridge/setup/", import.meta.url);
    const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
    expect(files).toContain("setup-tracing.ts");
    const reaching = files.filter((name) =>
      /from "(@opentelemetry\/[\w-]*metrics[\w-]*|\.\/metrics\/.*)"/.test(
        readFileSync(new URL(name, folder), "utf8"),
      ),
    );
    expect(reaching).toEqual([]);
  });
});

describe("an endpoint that takes no metrics", () => {
  it.each<[number, string, string, string]>([
    [
      400,
      "text/plain",
      "json encoding isn't supported",
      "HTTP 400 Bad Request: json encoding isn't supported (from URL/v1/metrics)",
    ],
    [
      404,
      "text/plain",
      "",
      "HTTP 404 Not Found (from URL/v1/metrics). Jaeger takes no metrics: send to a collector (collector-config.yaml), or set OTEL_METRICS_EXPORTER=none.",
    ],
    [
      200,
      "text/html",
      "<!doctype html>",
      "not an OTLP receiver: it answers 200 with text/html (from URL/v1/metrics). Another server answers there, such as Jaeger's page (16686) or the collector's health check (13133). OTLP/HTTP is usually on port 4318, at the path /v1/traces.",
    ],
    [
      200,
      "application/json",
      '{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"too old"}}',
      "the receiver refused data points (2): too old",
    ],
  ])("is reported with its text: %i %s %s", async (status, type, body, text) => {
    await using server = await listening((request, response) => {
      request
        .resume()
        .on("end", () => response.writeHead(status, { "content-type": type }).end(body));
    });
    process.env.OTEL_TRACES_EXPORTER = "none";
    const said = text.replace("URL", server.url);
    const reports = keepReports();
    const telemetry = setupTelemetry({ endpoint: server.url, onError: reports.onError });
    sendRun(telemetry.createBridge());
    await expect(telemetry.forceFlush()).rejects.toThrow(said);
    expect(reports.all.map(({ error, where }) => `${where}: ${String(error)}`)).toEqual([
      `metric export: Error: ${said}`,
    ]);
    await telemetry.shutdown();
  });

  it("is told of once where only the last metrics fail, with what to do", async () => {
    await using server = await OtlpServer.start({ answer: () => 401 });
    const reports = keepReports();
    process.env.OTEL_TRACES_EXPORTER = "none";
    const telemetry = setupTelemetry({ endpoint: server.url, onError: reports.onError });
    sendRun(telemetry.createBridge());
    await telemetry.shutdown();
    expect(reports.all.map(({ error, where }) => `${where}: ${String(error)}`)).toEqual([
      "shutdown: Error: the last metrics did not arrive: Error: HTTP 401 Unauthorized (from " +
        `${server.url}/v1/metrics). Set credentials in OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Bearer%20TOKEN.`,
    ]);
  });

  it("is told of once while it lasts, and at the end", async () => {
    let refuse = true;
    await using server = await OtlpServer.start({ answer: () => (refuse ? 400 : 200) });
    const reports = keepReports();
    process.env.OTEL_TRACES_EXPORTER = "none";
    const telemetry = setupTelemetry({
      endpoint: server.url,
      onError: reports.onError,
      metricIntervalMs: 10,
    });
    openRun(telemetry.createBridge());
    const told = () => reports.all.map(({ where }) => where);
    await waitUntil(() => server.requests.length >= 3);
    expect(told()).toEqual(["metric export"]);
    refuse = false;
    await waitUntil(() => sum(server, "entelix.runs.active") === 1);
    refuse = true;
    const before = server.requests.length;
    await waitUntil(() => server.requests.length >= before + 3);
    expect(told()).toEqual(["metric export", "metric export"]);
    await expect(telemetry.forceFlush()).rejects.toThrow(
      "flush failed: Error: HTTP 400 Bad Request",
    );
    await telemetry.shutdown();
    expect(told()).toEqual(["metric export", "metric export", "shutdown"]);
    expect(String(reports.all.at(-1)?.error)).toBe(
      `Error: the last metrics did not arrive: Error: HTTP 400 Bad Request (from ${server.url}/v1/metrics)`,
    );
  });

  it("does not hold the process: the shutdown keeps its bound, and time for the metrics", async () => {
    await using server = await OtlpServer.start({ answer: () => "hang" });
    const reports = keepReports();
    const telemetry = setupTelemetry({
      endpoint: server.url,
      onError: reports.onError,
      shutdownTimeoutMs: 1_500,
    });
    // A span that is not the sink's: its flush would take the sink's time.
    telemetry.tracerProvider.getTracer("app").startSpan("one").end();
    stopTimers();
    const closed = telemetry.shutdown();
    await untilSeen(() => server.requests.length === 1);
    await vi.advanceTimersByTimeAsync(1_200);
    await untilSeen(() => server.requests.length === 2);
    await vi.advanceTimersByTimeAsync(300);
    await closed;
    const told = reports.all.filter(({ where }) => where === "shutdown");
    expect(told.map(({ error }) => String(error))).toEqual([
      expect.stringMatching(
        /^Error: the last metrics were not sent within 1500 ms; last error of /,
      ),
      expect.stringMatching(/^SpanLossError: 1 spans lost \(\w+ 1\) of 1 that ended/),
    ]);
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/traces", "/v1/metrics"]);
  });

  it("does not hold a flush: spans and metrics have one limit", async () => {
    process.env.OTEL_BSP_EXPORT_TIMEOUT = "2000";
    await using server = await OtlpServer.start({ answer: () => "hang" });
    const telemetry = setupTelemetry({ endpoint: server.url, onError: () => {} });
    sendRun(telemetry.createBridge());
    stopTimers();
    const flushed = telemetry.forceFlush().catch(String);
    await untilSeen(() => server.requests.length === 1);
    await vi.advanceTimersByTimeAsync(1_600);
    await untilSeen(() => server.requests.length === 2);
    await vi.advanceTimersByTimeAsync(500);
    expect(await flushed).toMatch(
      /^AggregateError: flush failed: Error: spans were not confirmed within 2000 ms/,
    );
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/traces", "/v1/metrics"]);
    await runTimers(telemetry.shutdown());
  });

  it("does not keep the place of the provider that comes after the shutdown", async () => {
    await using server = await OtlpServer.start({ answer: () => "hang" });
    const reports = keepReports();
    const options = { endpoint: server.url, onError: reports.onError, shutdownTimeoutMs: 100 };
    const first = setupTelemetry(options);
    stopTimers();
    const closed = first.shutdown();
    await untilSeen(() => server.requests.length === 1);
    await vi.advanceTimersByTimeAsync(100);
    await closed;
    vi.useRealTimers();
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/metrics"]);
    const next = setupTelemetry(options);
    expect(metrics.getMeterProvider()).toBe(next.meterProvider);
    expect(reports.all.filter(({ where }) => where === "setup")).toEqual([]);
    await next.shutdown();
  });

  it("is no more news when the shutdown has given up on it", async () => {
    await using server = await OtlpServer.start({ answer: () => "hang" });
    const reports = keepReports();
    process.env.OTEL_TRACES_EXPORTER = "none";
    process.env.OTEL_EXPORTER_OTLP_METRICS_TIMEOUT = "400";
    const options = { endpoint: server.url, onError: reports.onError, shutdownTimeoutMs: 100 };
    await setupTelemetry(options).shutdown();
    // Its time of a request is over then.
    await setTimeout(700);
    expect(reports.all.map(({ error, where }) => `${where}: ${String(error)}`)).toEqual([
      "shutdown: Error: the last metrics were not sent within 100 ms",
    ]);
  });
});
