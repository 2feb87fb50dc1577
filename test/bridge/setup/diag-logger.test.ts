import { diag } from "@opentelemetry/api";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  applyLogLevel,
  variablesAloud,
  warnAloud,
  warnOfVariable,
} from "../../../src/bridge/setup/environment-variables.ts";
import { setupTracing } from "../../../src/entries/setup.ts";
import { setupTelemetry } from "../../../src/entries/telemetry.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";

/** What reaches the console. OpenTelemetry's logger takes hold of it when it is first loaded. */
const printed = vi.hoisted(() => {
  const lines: string[] = [];
  const methods = ["error", "warn", "info", "debug", "trace", "log"] as const;
  const originals = methods.map((method) => [method, console[method]] as const);
  for (const method of methods)
    console[method] = (...args: unknown[]) => lines.push(args.join(" "));
  const restore = () => {
    for (const [method, original] of originals) console[method] = original;
  };
  return { lines, restore };
});

isolateProcess();
beforeEach(() => {
  printed.lines.length = 0;
});
afterAll(() => printed.restore());

describe("OTEL_LOG_LEVEL", () => {
  function speakAt(level: string | undefined): readonly string[] {
    if (level !== undefined) process.env.OTEL_LOG_LEVEL = level;
    applyLogLevel();
    diag.error("an error");
    diag.warn("a warning");
    diag.info("a note");
    diag.debug("a detail");
    // At the finest levels the API also tells of its own registrations.
    return printed.lines.filter((line) => !line.startsWith("@opentelemetry/api:"));
  }

  it.each([
    [undefined, []],
    [" ", []],
    ["none", []],
    ["error", ["an error"]],
    ["WARN", ["an error", "a warning"]],
    ["info", ["an error", "a warning", "a note"]],
    ["all", ["an error", "a warning", "a note", "a detail"]],
  ])("%s", (level, expected) => {
    expect(speakAt(level)).toEqual(expected);
  });

  it("warns of a level that there is not, and takes info", () => {
    expect(speakAt("loud")).toEqual([
      "entelix-otel: OTEL_LOG_LEVEL: expected one of none, error, warn, info, debug, verbose, " +
        'all, got "loud"; using info',
      "an error",
      "a warning",
      "a note",
    ]);
  });

  it("leaves the application's logger in its place", () => {
    const lines = keepDiag();
    expect(speakAt("all")).toEqual([]);
    expect(lines).toEqual(["an error", "a warning"]);
  });
});

describe("warnAloud", () => {
  it("speaks on the console where OpenTelemetry has no logger", () => {
    warnAloud(new Error("gone"), "shutdown");
    expect(printed.lines).toEqual(["entelix-otel: shutdown: Error: gone"]);
  });

  it("speaks to the logger that is there, and is quiet where the operator asked for quiet", () => {
    const lines = keepDiag();
    warnAloud(new Error("gone"), "shutdown");
    expect(lines).toEqual(["entelix-otel: shutdown: Error: gone"]);
    diag.disable();
    process.env.OTEL_LOG_LEVEL = "none";
    applyLogLevel();
    warnAloud(new Error("gone"), "shutdown");
    expect(printed.lines).toEqual([]);
  });
});

describe("a variable that can't be used", () => {
  const said =
    'entelix-otel: OTEL_BSP_MAX_QUEUE_SIZE: expected a whole number, got "-3"; using 2048';
  const warnOfQueue = () =>
    warnOfVariable("OTEL_BSP_MAX_QUEUE_SIZE", "-3", "a whole number", "2048");

  it("is told on the console where the application has no logger", () => {
    variablesAloud(warnOfQueue);
    warnOfQueue();
    expect(printed.lines).toEqual([said]);
  });

  it("is told to the application's logger, and by OTEL_LOG_LEVEL=none to nobody", () => {
    const lines = keepDiag();
    variablesAloud(warnOfQueue);
    expect([lines, printed.lines]).toEqual([[said], []]);
    diag.disable();
    process.env.OTEL_LOG_LEVEL = "none";
    variablesAloud(() => {
      applyLogLevel();
      warnOfQueue();
    });
    expect(printed.lines).toEqual([]);
  });

  it("is told without the password of an address, also by the SDK", async () => {
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = "http://me:s3cret@[bad";
    await setupTracing({ register: false, onError: () => {} }).shutdown();
    expect(printed.lines.join("\n")).toContain("http://[bad");
    expect(printed.lines.join("\n")).not.toContain("s3cret");
  });

  it("is told by setupTracing and setupTelemetry, once each, and no logger is left", async () => {
    process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = "grpc";
    process.env.OTEL_METRIC_EXPORT_INTERVAL = "soon";
    const options = { register: false, endpoint: "http://127.0.0.1:1" };
    await setupTracing(options).shutdown();
    const protocol =
      "entelix-otel: OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc: gRPC is not supported, http/protobuf is used: set the variable to it, and the endpoint to the receiver's port for OTLP/HTTP, usually 4318";
    expect(printed.lines).toEqual([protocol]);
    const telemetry = setupTelemetry({ ...options, onError: () => {} });
    expect(printed.lines).toEqual([
      protocol,
      protocol,
      expect.stringMatching(
        /^entelix-otel: OTEL_METRIC_EXPORT_INTERVAL: .*got "soon"; using 15000$/,
      ),
    ]);
    diag.warn("after");
    expect(printed.lines).toHaveLength(3);
    await telemetry.shutdown();
  });

  it("is told once of a variable that spans and metrics read, also by the SDK", async () => {
    process.env.OTEL_EXPORTER_OTLP_PROTOCOL = "xml";
    process.env.OTEL_EXPORTER_OTLP_HEADERS = "Authorization: s3cret";
    process.env.OTEL_EXPORTER_OTLP_COMPRESSION = "zstd";
    process.env.OTEL_EXPORTER_OTLP_CERTIFICATE = "/nowhere/ca.pem";
    await setupTelemetry({ register: false, onError: () => {} }).shutdown();
    expect(printed.lines.map((line) => line.replace("entelix-otel: ", "").slice(0, 42))).toEqual([
      "OTEL_EXPORTER_OTLP_HEADERS: expected name=",
      "OTEL_EXPORTER_OTLP_PROTOCOL: expected http",
      "Configuration: OTEL_EXPORTER_OTLP_COMPRESS",
      "Failed to read root certificate file",
    ]);
  });
});
