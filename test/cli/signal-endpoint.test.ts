import { describe, expect, it } from "vitest";
import { isLocal, signalEndpoint, switchedOff } from "../../src/cli/endpoints.ts";

const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://base:4318/otlp/" };

describe("where a signal is sent", () => {
  it.each([
    ["the option", "http://given:4318", BASE, "http://given:4318/v1/metrics"],
    [
      "the option with the path of spans",
      "http://given/v1/traces",
      BASE,
      "http://given/v1/metrics",
    ],
    [
      "the signal's own variable, as it is",
      undefined,
      { ...BASE, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://own/path" },
      "http://own/path",
    ],
    ["the base of all signals", undefined, BASE, "http://base:4318/otlp/v1/metrics"],
    [
      "the base without the path of a signal",
      undefined,
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://base/v1/traces" },
      "http://base/v1/metrics",
    ],
    [
      "nowhere by another signal's variable",
      undefined,
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://own" },
      undefined,
    ],
    ["nowhere", undefined, {}, undefined],
  ])("is %s", (_, option, env, expected) => {
    expect(signalEndpoint("metrics", option, env)).toBe(expected);
  });

  it("names the variable that is no address", () => {
    const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "collector:4318" };
    expect(() => signalEndpoint("metrics", undefined, env)).toThrow(
      'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: expected an address such as http://127.0.0.1:4318, got "collector:4318"',
    );
  });
});

it.each([
  "ftp://me:s3cret@h",
  "http://me:s3cret@[bad",
  "http://me:s3cret@h:9:9",
  "me:s3cret@h:4318",
])("an address that is none is shown without its password: %s", (text) => {
  expect(() => signalEndpoint("traces", text, {})).toThrow(
    /^--endpoint: expected an address such as http:\/\/127\.0\.0\.1:4318, got "(?!.*s3cret)/,
  );
});

describe("what keeps a signal from being sent", () => {
  it.each([
    [{ OTEL_SDK_DISABLED: " True " }, "OTEL_SDK_DISABLED=True"],
    [{ OTEL_SDK_DISABLED: "false" }, undefined],
    [{ OTEL_METRICS_EXPORTER: "otlp,None" }, "OTEL_METRICS_EXPORTER=otlp,None"],
    [{ OTEL_METRICS_EXPORTER: "console" }, "OTEL_METRICS_EXPORTER=console"],
    [{ OTEL_METRICS_EXPORTER: "console, otlp" }, undefined],
    [{ OTEL_METRICS_EXPORTER: "unknown" }, undefined],
    [{ OTEL_TRACES_EXPORTER: "none" }, undefined],
    [{}, undefined],
  ])("%j: %s", (env, expected) => {
    expect(switchedOff("metrics", env)).toBe(expected);
  });
});

describe("an address of this machine", () => {
  it.each([
    ["http://127.0.0.1:4318", true],
    ["http://127.9.9.9", true],
    ["http://localhost:4318/v1/traces", true],
    ["http://jaeger.localhost", true],
    ["http://[::1]:4318", true],
    ["http://collector:4318", false],
    ["http://127.0.0.1.example", false],
    ["http://localhost.example", false],
    ["http://10.0.0.1", false],
  ])("%s: %s", (address, expected) => {
    expect(isLocal(address)).toBe(expected);
  });
});
