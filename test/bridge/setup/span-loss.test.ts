import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { setupTracing, type Tracing } from "../../../src/entries/setup.ts";
import { type Answer, deadUrl, OtlpServer } from "../../support/otlp-server.ts";
import { shutDownAfter } from "../../support/stopped-timers.ts";
import { waitFor } from "../../support/wait-for.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";
import { keepReports } from "./reports.ts";
import { sendRun } from "./sample-run.ts";

isolateProcess();
afterEach(() => vi.useRealTimers());

function endSpans(tracing: Tracing, count: number): void {
  const tracer = tracing.tracerProvider.getTracer("app");
  for (let i = 0; i < count; i++) tracer.startSpan(`s${i}`).end();
}

/** Every span that ended is in exactly one place. */
function expectBalance({ ended, exported, failed, dropped, pending, lost }: Counts): void {
  expect(exported + failed + dropped + pending).toBe(ended);
  expect(Object.values(lost).reduce((sum, spans) => sum + spans, 0)).toBe(failed + dropped);
}
type Counts = ReturnType<Tracing["diagnostics"]>;

/** For a shutdown that needs no time limit: a busy machine must not reach it. */
const PATIENT_MS = 100_000;
const PROTOCOLS = ["http/protobuf", "http/json"];

/** The shutdown ends before a second attempt. */
const ENDS_SOON = { shutdownTimeoutMs: 1_000 };

describe("a burst of 10,000 spans in one tick, then a shutdown", () => {
  it.each(PROTOCOLS)("loses none in %s", async (protocol) => {
    await using server = await OtlpServer.start();
    // A request that a busy machine answers late would be sent a second time.
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = String(PATIENT_MS);
    process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = protocol;
    const reports = keepReports();
    const tracing = setupTracing({
      endpoint: server.url,
      shutdownTimeoutMs: PATIENT_MS,
      onError: reports.onError,
    });
    endSpans(tracing, 10_000);
    await tracing.shutdown();
    expect(new Set(server.spans.map(({ name }) => name)).size).toBe(10_000);
    expect(server.spans).toHaveLength(10_000);
    expect(tracing.diagnostics()).toMatchObject({ ended: 10_000, exported: 10_000, dropped: 0 });
    expect(reports.all).toEqual([]);
  });

  it.each<[string, string, (request: number) => Answer, shutdownTimeoutMs: number]>(
    PROTOCOLS.flatMap((protocol) => [
      [protocol, "refused now and then", (n) => (n % 2 === 0 ? 200 : 500), PATIENT_MS],
      [protocol, "refused always", () => 400, PATIENT_MS],
      [protocol, "not answered now and then", (n) => (n % 3 === 0 ? "hang" : 200), 1_000],
    ]),
  )("with %s balances when requests are %s", async (protocol, _, answer, shutdownTimeoutMs) => {
    await using server = await OtlpServer.start({ answer });
    process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = protocol;
    const reports = keepReports();
    const tracing = setupTracing({
      endpoint: server.url,
      shutdownTimeoutMs,
      onError: reports.onError,
    });
    endSpans(tracing, 10_000);
    await tracing.shutdown();
    const counts = tracing.diagnostics();
    expectBalance(counts);
    const report = reports.losses("shutdown")[0];
    expect((report?.lost ?? 0) + counts.exported).toBe(10_000);
    // Where the limit ends requests, a busy machine may answer some of them too late.
    const late = server.spans.length - counts.exported;
    expect(late).toBeGreaterThanOrEqual(0);
    if (shutdownTimeoutMs === PATIENT_MS) expect(late).toBe(0);
  });
});

const DEBUG = ". OTEL_LOG_LEVEL=debug shows its text.";

describe("a request that fails", () => {
  it.each<[Answer, string, string]>([
    [413, "rejected", `413 Payload Too Large (from URL)${DEBUG}`],
    [500, "rejected", `500 Internal Server Error (from URL)${DEBUG}`],
    [400, "rejected", `400 Bad Request (from URL)${DEBUG}`],
    [
      404,
      "rejected",
      "404 Not Found (from URL). Another server answers there. OTLP/HTTP is usually on port 4318, at the path /v1/traces.",
    ],
  ])("with %s is counted as %s", async (status, reason, text) => {
    await using server = await OtlpServer.start({ answer: () => status });
    const reports = keepReports();
    const tracing = setupTracing({ endpoint: server.url, onError: reports.onError });
    sendRun(tracing.createBridge());
    await tracing.shutdown();
    expect(tracing.diagnostics()).toMatchObject({ ended: 2, failed: 2, lost: { [reason]: 2 } });
    expect(reports.losses("shutdown").map(({ message }) => message)).toEqual([
      `2 spans lost (${reason} 2) of 2 that ended; last error of an export: ${text.replace("URL", `${server.url}/v1/traces`)}`,
    ]);
  });

  it("with 503 is tried again, and not counted as lost when that works", async () => {
    await using server = await OtlpServer.start({ answer: (n) => (n === 0 ? 503 : 200) });
    const reports = keepReports();
    const tracing = setupTracing({ endpoint: server.url, onError: reports.onError });
    endSpans(tracing, 3);
    await tracing.shutdown();
    expect(server.requests).toHaveLength(2);
    expect(tracing.diagnostics()).toMatchObject({ ended: 3, exported: 3, failed: 0 });
    expect(reports.all).toEqual([]);
  });

  it.each(PROTOCOLS)("with 503 till the end is counted as rejected: %s", async (protocol) => {
    await using server = await OtlpServer.start({ answer: () => 503 });
    process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = protocol;
    process.env.OTEL_BSP_EXPORT_TIMEOUT = "200";
    const reports = keepReports();
    const tracing = setupTracing({
      ...ENDS_SOON,
      endpoint: server.url,
      onError: reports.onError,
    });
    endSpans(tracing, 3);
    await shutDownAfter("Service Unavailable", tracing);
    expect(tracing.diagnostics()).toMatchObject({ failed: 3, lost: { rejected: 3 } });
    expect(reports.losses("shutdown")).toHaveLength(1);
  });

  it.each(PROTOCOLS)(
    "makes forceFlush reject, with each cause, once all requests have settled: %s",
    async (protocol) => {
      process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = protocol;
      await using server = await OtlpServer.start({
        answer: (n) => (n === 0 ? 500 : 200),
        before: () => setTimeout(20),
      });
      process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE = "2";
      process.env.OTEL_BSP_MAX_QUEUE_SIZE = "10";
      const tracing = setupTracing({ endpoint: server.url, onError: () => {} });
      endSpans(tracing, 10);
      const flush = tracing.forceFlush();
      await expect(flush).rejects.toThrow("flush failed: StatusError: Internal Server Error");
      await expect(flush).rejects.toBeInstanceOf(AggregateError);
      expect(tracing.diagnostics()).toMatchObject({ exported: 8, failed: 2, pending: 0 });
      await tracing.forceFlush();
      await tracing.shutdown();
    },
  );

  it.each(PROTOCOLS)("for lack of a connection is counted as unreachable: %s", async (protocol) => {
    process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = protocol;
    process.env.OTEL_BSP_EXPORT_TIMEOUT = "200";
    const reports = keepReports();
    const tracing = setupTracing({
      ...ENDS_SOON,
      endpoint: await deadUrl(),
      onError: reports.onError,
    });
    sendRun(tracing.createBridge());
    await shutDownAfter("ECONNREFUSED", tracing);
    expect(tracing.diagnostics()).toMatchObject({ failed: 2, lost: { unreachable: 2 } });
    const [report] = reports.losses("shutdown");
    expect(report?.message).toMatch(
      /^2 spans lost \(unreachable 2\) of 2 that ended; .*ECONNREFUSED/,
    );
  });
});

describe("reports while the process runs", () => {
  it("come soon after a loss, and say all of its burst at once", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const options = { endpoint: server.url, onError: reports.onError, queueBytes: 100_000 };
    const tracing = setupTracing(options);
    endSpans(tracing, 3000);
    await waitFor(() => expect(reports.all).toHaveLength(1));
    const lost = reports.losses("span loss")[0]?.lost ?? 0;
    await tracing.shutdown();
    expect(lost).toBe(3000 - server.spans.length);
    expect(lost).toBeGreaterThan(1000);
    expect(reports.losses("shutdown").map(({ message }) => message)).toEqual([
      `${lost} spans lost (queue_full ${lost}) of 3000 that ended`,
    ]);
    expect(reports.all).toHaveLength(2);
  });

  it("go to the diagnostic logger without onError", async () => {
    await using server = await OtlpServer.start({ answer: () => 500 });
    const lines = keepDiag();
    const tracing = setupTracing({ endpoint: server.url });
    endSpans(tracing, 1);
    await tracing.shutdown();
    expect(lines.filter((line) => line.startsWith("entelix-otel: shutdown: "))).toEqual([
      "entelix-otel: shutdown: SpanLossError: 1 spans lost (rejected 1) of 1 that ended; " +
        `last error of an export: 500 Internal Server Error (from ${server.url}/v1/traces)${DEBUG}`,
    ]);
  });

  it("tell of spans that end after the shutdown", async () => {
    await using server = await OtlpServer.start();
    const reports = keepReports();
    const tracing = setupTracing({ endpoint: server.url, onError: reports.onError });
    endSpans(tracing, 1);
    await tracing.shutdown();
    expect(reports.all).toEqual([]);
    endSpans(tracing, 4);
    await waitFor(() => expect(reports.losses("span loss")[0]?.lost).toBe(4));
    expect(tracing.diagnostics()).toMatchObject({ ended: 5, exported: 1, dropped: 4 });
    expect(tracing.diagnostics().lost.after_shutdown).toBe(4);
  });
});
