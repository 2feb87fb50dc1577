import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { KNOWN_VARIABLES } from "../../../src/bridge/setup/known-variables.ts";
import { setupTracing } from "../../../src/entries/setup.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";

isolateProcess();

/** The warnings of a setup with these variables. */
async function warningsOf(variables: Readonly<Record<string, string>>): Promise<string[]> {
  const lines = keepDiag();
  Object.assign(process.env, variables);
  await setupTracing().shutdown();
  return lines.map((line) => line.replace("entelix-otel: ", ""));
}

describe("a variable that a setup ignores is reported", () => {
  it.each([
    [
      "OTEL_EXPORTER_OTLP_ENDPIONT",
      "http://x",
      "is not read: did you mean OTEL_EXPORTER_OTLP_ENDPOINT?",
    ],
    ["OTEL_EXPORTER_OTLP_HEADER", "a=b", "is not read: did you mean OTEL_EXPORTER_OTLP_HEADERS?"],
    ["OTEL_TRACE_SAMPLER", "always_on", "is not read: did you mean OTEL_TRACES_SAMPLER?"],
    ["OTEL_CONFIG_FILE", "/a.yaml", ": it has no effect: set the variables of docs/environment.md"],
    [
      "OTEL_TRACES_SAMPLER_ARG",
      "0.1",
      ": it has no effect: set OTEL_TRACES_SAMPLER=parentbased_traceidratio, too",
    ],
    [
      "OTEL_PROPAGATORS",
      "b3,baggage",
      ": it has no effect: call propagation.setGlobalPropagator() before the setup, else W3C's are used",
    ],
    ["OTEL_SDK_DISABLED", "1", ': expected true or false, got "1"; using false'],
    ["OTEL_TRACES_EXPORTER", "otlp,none", ': expected none or others, got "otlp,none"; using none'],
    [
      "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
      "event_only",
      ': expected true, span_only, span_and_event, false, no_content, got "event_only"; using false',
    ],
    [
      "OTEL_SEMCONV_STABILITY_OPT_IN",
      "http/dup,gen_ai/dupe",
      ': expected gen_ai_latest_experimental or gen_ai/dup, got "gen_ai/dupe"; using the newest names',
    ],
    [
      "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
      "63",
      "=63 cuts off attributes that alerts need: set it to 64 or more",
    ],
    [
      "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
      "8",
      "=8 cuts off run IDs and the audit log's hashes: set it to 64 or more",
    ],
  ])("%s=%s", async (name, value, warning) => {
    const [line, ...more] = await warningsOf({ [name]: value });
    expect(line?.replace(`${name} is`, `${name}is`)).toBe(`${name}${warning}`);
    expect(more).toEqual([]);
  });

  it("but none of the specification, of other signals, or with a good value", async () => {
    const variables = {
      OTEL_BLRP_MAX_QUEUE_SIZE: "10",
      OTEL_BLRP_SCHEDULE_DELAY: "10",
      OTEL_LOGS_EXPORTER: "none",
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: "http://logs",
      OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: "10",
      OTEL_EXPORTER_OTLP_INSECURE: "true",
      OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: "x",
      OTEL_METRICS_EXEMPLAR_FILTER: "trace_based",
      OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT: "1",
      OTEL_NODE_RESOURCE_DETECTORS: "env",
      OTEL_ENTITIES: "x",
      OTEL_TRACE_SAMPLER: " ",
      OTEL_TRACES_SAMPLER: "ParentBased_TraceIdRatio",
      OTEL_TRACES_SAMPLER_ARG: "0.5",
      OTEL_EXPORTER_OTLP_PROTOCOL: "HTTP/JSON",
      OTEL_PROPAGATORS: "tracecontext, baggage",
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "SPAN_ONLY",
      OTEL_SEMCONV_STABILITY_OPT_IN: "http/dup, gen_ai/dup",
      OTEL_SDK_DISABLED: "False",
      OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: "64",
    };
    expect(await warningsOf(variables)).toEqual([]);
  });
});

it("the known variables are those of the page", () => {
  const page = readFileSync(new URL("../../../docs/environment.md", import.meta.url), "utf8");
  const [, ofSetup = ""] = page.split(/^## .*$/m);
  const rows = ofSetup.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => row.match(/OTEL_\w+[A-Z]\b/g) ?? []);
  const general = named.filter((name) => !name.includes("_SIGNAL_"));
  expect(general.filter((name) => !KNOWN_VARIABLES.includes(name))).toEqual([]);
  const ofSignals = /^OTEL_EXPORTER_OTLP_(?:TRACES|METRICS)_(?!TEMPORALITY)/;
  const known = KNOWN_VARIABLES.filter((name) => !ofSignals.test(name));
  expect(known.filter((name) => !general.includes(name))).toEqual([]);
});
