import { describe, expect, it } from "vitest";
import { urlOfEnvironment } from "../../../src/bridge/setup/exporter-choice.ts";
import { setupTelemetry } from "../../../src/bridge/setup/metrics/setup-telemetry.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";

isolateProcess();

const GENERAL = "OTEL_EXPORTER_OTLP_ENDPOINT";
const OWN = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const EXPECTED = "expected an http or https URL";

describe("an address of the environment", () => {
  it.each<[Record<string, string>, string, string[]]>([
    [
      { [GENERAL]: "collector:4318" },
      "http://localhost:4318/v1/traces",
      [`${GENERAL}: ${EXPECTED}, got "collector:4318"`],
    ],
    [
      { [GENERAL]: "grpc://me:secret@collector:4317" },
      "http://localhost:4318/v1/traces",
      [`${GENERAL}: ${EXPECTED}, got "grpc://collector:4317"`],
    ],
    [
      { [OWN]: "collector:4318", [GENERAL]: "https://other/base/" },
      "https://other/base/v1/traces",
      [`${OWN}: ${EXPECTED}, got "collector:4318"`],
    ],
    [
      { [OWN]: "collector:4318", [GENERAL]: "unix:/run/otel" },
      "http://localhost:4318/v1/traces",
      [
        `${OWN}: ${EXPECTED}, got "collector:4318"`,
        `${GENERAL}: ${EXPECTED}, got "unix:/run/otel"`,
      ],
    ],
  ])("of another scheme than http is warned of (%j)", (variables, url, warnings) => {
    const lines = keepDiag();
    Object.assign(process.env, variables);
    expect(urlOfEnvironment("TRACES")).toBe(url);
    expect(lines).toEqual(warnings.map((warning) => `entelix-otel: ${warning}; using ${url}`));
  });

  it.each<Record<string, string>>([
    {},
    { [GENERAL]: " " },
    { [OWN]: "HTTPS://collector", [GENERAL]: "collector:4318" },
    // The exporters' own code warns of these.
    { [GENERAL]: "collector" },
  ])("is read by the exporters' own code else (%j)", (variables) => {
    const lines = keepDiag();
    Object.assign(process.env, variables);
    expect(urlOfEnvironment("TRACES")).toBeUndefined();
    expect(lines).toEqual([]);
  });

  it.each([
    ["http://collector:4318", "http://collector:4318/v1/metrics"],
    ["http://collector:4318/", "http://collector:4318/v1/metrics"],
    ["http://collector:4318/v1/traces", "http://collector:4318/v1/metrics"],
    ["http://collector/base/v1/metrics/", "http://collector/base/v1/metrics"],
    ["https://collector/base?key=k", "https://collector/base/v1/metrics?key=k"],
  ])("gets the path where the option gets it (%s)", (text, url) => {
    const lines = keepDiag();
    process.env[GENERAL] = text;
    expect(urlOfEnvironment("METRICS")).toBe(url);
    expect(lines).toEqual([]);
  });

  it("does not keep spans and metrics from going where they can go", async () => {
    await using server = await OtlpServer.start();
    const lines = keepDiag();
    process.env[GENERAL] = server.url;
    process.env[OWN] = "localhost:4318";
    process.env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT = "localhost:4318";
    const telemetry = setupTelemetry();
    telemetry.tracerProvider.getTracer("app").startSpan("a").end();
    await telemetry.shutdown();
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/traces", "/v1/metrics"]);
    expect(telemetry.diagnostics()).toMatchObject({ exported: 1, pending: 0 });
    expect(lines).toHaveLength(2);
  });
});
