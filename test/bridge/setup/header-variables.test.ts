import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { setupTracing } from "../../../src/entries/setup.ts";
import { setupTelemetry } from "../../../src/entries/telemetry.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";
import { keepReports } from "./reports.ts";
import { openRun } from "./sample-run.ts";

isolateProcess();

const HEADERS = "OTEL_EXPORTER_OTLP_HEADERS";
const EXPECTED = "expected name=value pairs, comma-separated and percent-encoded";

/** What is warned of at the setup, and the headers of the request that is sent then. */
async function sendOne(variables: Record<string, string>) {
  await using server = await OtlpServer.start();
  Object.assign(process.env, variables);
  const lines = keepDiag();
  const tracing = setupTracing({ endpoint: server.url, shutdownTimeoutMs: 500, onError: () => {} });
  const warnings = [...lines];
  tracing.tracerProvider.getTracer("app").startSpan("one").end();
  await tracing.shutdown();
  return { warnings, headers: server.requests[0]?.headers };
}

describe("headers in the environment", () => {
  it.each([
    ["Authorization: Bearer s3cret,x-team=a", "left out is pair 1"],
    ["x-team=a,authorization=Bearer %E0%A4%A", "left out is pair 2"],
    ["x-team=a, =s3cret,", "left out is pair 2"],
    ["x-team=a,authorization=", "left out is pair 2"],
    ["x-team=a;s3cret", "cut at its semicolon is pair 1"],
  ])("%j: what is no pair is told, never shown, and the rest is sent", async (text, fault) => {
    const { warnings, headers } = await sendOne({ [HEADERS]: text });
    expect(warnings).toEqual([`entelix-otel: ${HEADERS}: ${EXPECTED}; ${fault}`]);
    expect([headers?.["x-team"], headers?.authorization]).toEqual(["a", undefined]);
  });

  it.each(["x-team=a,authorization=Bearer s3cret%0A", "x-team=a,Authorization: Bearer s3cret=="])(
    "%j: what no request can carry is told before the first one fails",
    async (text) => {
      const { warnings, headers } = await sendOne({ [HEADERS]: text });
      expect(warnings).toEqual([
        `entelix-otel: ${HEADERS}: ${EXPECTED}; no request can carry pair 2`,
      ]);
      expect(headers).toBeUndefined();
    },
  );

  it.each(["http/protobuf", "http/json"])(
    "are not shown in errors where a token was taken for a name, in %s",
    async (protocol) => {
      await using server = await OtlpServer.start();
      const reports = keepReports();
      process.env[HEADERS] = "Authorization: Bearer s3cret==";
      process.env.OTEL_EXPORTER_OTLP_PROTOCOL = protocol;
      process.env.OTEL_BSP_EXPORT_TIMEOUT = "500";
      const lines = keepDiag();
      const options = { endpoint: server.url, onError: reports.onError, shutdownTimeoutMs: 500 };
      const telemetry = setupTelemetry(options);
      telemetry.tracerProvider.getTracer("app").startSpan("one").end();
      openRun(telemetry.createBridge());
      const flush: unknown = await telemetry.forceFlush().catch((error: unknown) => error);
      await telemetry.shutdown();
      const texts = [flush, ...reports.all.map(({ error }) => error), ...lines].map((error) =>
        inspect(error),
      );
      for (const place of ["metric export", "shutdown"]) {
        expect(reports.all.map(({ where }) => where)).toContain(place);
      }
      expect(texts.filter((text) => text.includes("s3cret"))).toEqual([]);
      const told = texts.filter((text) =>
        text.includes("a header has a name that HTTP can't carry"),
      );
      expect(told.length).toBeGreaterThanOrEqual(4);
    },
  );

  it.each(["authorization=Bearer%20s3cret==,x-team=a", " x-team = a , ", "x-team=%61"])(
    "%j is nothing to tell of",
    async (text) => {
      const { warnings, headers } = await sendOne({ [HEADERS]: text });
      expect([warnings, headers?.["x-team"]]).toEqual([[], "a"]);
    },
  );

  it("are looked at for each signal that is sent", async () => {
    process.env.OTEL_EXPORTER_OTLP_TRACES_HEADERS = "a";
    process.env.OTEL_EXPORTER_OTLP_METRICS_HEADERS = "b";
    await using server = await OtlpServer.start();
    const lines = keepDiag();
    await setupTelemetry({ endpoint: server.url }).shutdown();
    expect(lines).toEqual([
      `entelix-otel: OTEL_EXPORTER_OTLP_TRACES_HEADERS: ${EXPECTED}; left out is pair 1`,
      `entelix-otel: OTEL_EXPORTER_OTLP_METRICS_HEADERS: ${EXPECTED}; left out is pair 1`,
    ]);
    lines.length = 0;
    process.env.OTEL_TRACES_EXPORTER = "none";
    process.env.OTEL_METRICS_EXPORTER = "none";
    await setupTelemetry({ endpoint: server.url, register: false }).shutdown();
    expect(lines).toEqual([]);
  });
});
