import { logs } from "@opentelemetry/api-logs";
import {
  InMemoryLogRecordExporter,
  LoggerProvider,
  SimpleLogRecordProcessor,
} from "@opentelemetry/sdk-logs";
import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { afterEach, describe, expect, it } from "vitest";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const ASKED = [{ role: "user", parts: [{ type: "text", content: "Refund order 17." }] }];

function collectLogs() {
  const exporter = new InMemoryLogRecordExporter();
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
  return { provider, records: () => exporter.getFinishedLogRecords() };
}

/** Sends a run with a model call, one for embeddings and a failed one. */
function oneRun(options: TelemetryOptions, sampled = true) {
  const test = bench(
    { mode: "live", ...options },
    sampled ? {} : { sampler: new AlwaysOffSampler() },
  );
  test.at(0, run.started());
  test.at(1, run.modelStart("m1", { provider: "openai", input: ASKED }));
  test.at(3, run.modelComplete("m1", { usage: { input_tokens: 31 } }));
  test.at(4, run.modelComplete("e1", { operation: "embeddings" }));
  test.at(5, run.modelError("m2"));
  test.at(6, run.complete());
  expect(test.reports).toEqual([]);
  return test;
}

afterEach(() => logs.disable());

describe("the event about a model call", () => {
  it("is a log record at DEBUG with the attributes and IDs of the span, when that ends", () => {
    const { provider, records } = collectLogs();
    const test = oneRun({ loggerProvider: provider });
    const spans = test.spans().filter(({ name }) => name === "chat small-1");
    const seen = records();
    expect(seen.map(({ eventName, severityNumber }) => [eventName, severityNumber])).toEqual([
      ["gen_ai.client.inference.operation.details", 5],
      ["gen_ai.client.inference.operation.details", 5],
    ]);
    for (const [at, record] of seen.entries()) {
      const span = spans[at];
      expect(record.attributes).toEqual(span?.attributes);
      expect(record.hrTime).toEqual(span?.endTime);
      expect(record.spanContext?.spanId).toBe(span?.spanContext().spanId);
      expect(record.spanContext?.traceId).toBe(span?.spanContext().traceId);
    }
    expect(seen[0]?.attributes).toMatchObject({
      "gen_ai.provider.name": "openai",
      "gen_ai.usage.input_tokens": 31,
    });
    expect(seen[0]?.attributes).not.toHaveProperty("gen_ai.input.messages");
    expect(seen[1]?.attributes).toMatchObject({ "error.type": "model_dispatch" });
    expect(seen[0]?.instrumentationScope).toMatchObject({
      name: "entelix-otel",
      schemaUrl: "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev",
    });
  });

  it("has content as the content policy says, as structured values", () => {
    const { provider, records } = collectLogs();
    oneRun({ loggerProvider: provider, captureContent: true });
    expect(records()[0]?.attributes["gen_ai.input.messages"]).toEqual(ASKED);
    const hidden = collectLogs();
    oneRun({ loggerProvider: hidden.provider, captureContent: true, redact: () => undefined });
    expect(JSON.stringify(hidden.records().map(({ attributes }) => attributes))).not.toContain(
      "Refund",
    );
  });

  it("goes to the provider that is registered, also if that comes later", () => {
    const test = oneRun({});
    const { provider, records } = collectLogs();
    logs.setGlobalLoggerProvider(provider);
    const next = new RunEvents("018f3c7a-0000-7000-8000-000000000003");
    test.at(7, next.started());
    test.at(8, next.modelComplete("m1"));
    test.at(9, next.complete());
    expect(records()).toHaveLength(1);
  });

  it.each<[string, TelemetryOptions, boolean]>([
    ["callDetails: false", { callDetails: false }, true],
    ["a replay", { mode: "replay" }, true],
    ["a call that is not sampled", {}, false],
  ])("is not written for %s", (_, options, sampled) => {
    const { provider, records } = collectLogs();
    oneRun({ ...options, loggerProvider: provider }, sampled);
    expect(records()).toEqual([]);
  });

  it("has the conventions' names, whichever names spans have", () => {
    const { provider, records } = collectLogs();
    const test = oneRun({ loggerProvider: provider, conventions: "openinference" });
    expect(records()[0]?.attributes).toMatchObject({ "gen_ai.operation.name": "chat" });
    expect(records()[0]?.attributes).not.toHaveProperty("openinference.span.kind");
    const [span] = test.spans().filter(({ name }) => name === "chat small-1");
    expect(span?.attributes).not.toHaveProperty("gen_ai.operation.name");
  });

  it("whose logger provider throws is reported, and the span starts", () => {
    const broken = {
      getLogger: () => {
        throw new Error("no logger");
      },
    };
    const test = bench({ mode: "live", loggerProvider: broken });
    test.at(0, run.started());
    test.at(1, run.modelComplete("m1"));
    test.at(2, run.complete());
    expect(test.find("chat small-1").status).toBe("unset");
    expect(new Set(test.reports)).toEqual(new Set(["end of a span: Error: no logger"]));
  });

  it("that throws is reported, and the span ends", () => {
    const broken = {
      getLogger: () => ({
        emit: () => {
          throw new Error("no disk");
        },
      }),
    };
    const test = bench({ mode: "live", loggerProvider: broken });
    test.at(0, run.started());
    test.at(1, run.modelComplete("m1"));
    test.at(2, run.complete());
    expect(test.find("chat small-1").status).toBe("unset");
    expect(test.reports).toEqual(["end of a span: Error: no disk"]);
  });
});
