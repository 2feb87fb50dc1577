import { logs } from "@opentelemetry/api-logs";
import {
  InMemoryLogRecordExporter,
  LoggerProvider,
  SimpleLogRecordProcessor,
} from "@opentelemetry/sdk-logs";
import { SamplingDecision } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MOST_RECORDS } from "../../../src/bridge/run-progress.ts";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { formatRfc3339 } from "../../../src/events/door.ts";
import { VERSION } from "../../../src/version.ts";
import { bench, RunEvents, ZERO } from "../../support/run-events.ts";
import { meteredBench } from "../metrics/meter.ts";

vi.mock("../../../src/events/clock.ts", () => import("../../support/date-clock.ts"));

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);

beforeEach(() => {
  vi.useFakeTimers({ now: ZERO * 1000, toFake: ["setInterval", "clearInterval", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

/** The SDK's provider, and what it exported. */
function collectLogs() {
  const exporter = new InMemoryLogRecordExporter();
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
  const records = () =>
    exporter.getFinishedLogRecords().map((record) => ({
      event: record.eventName,
      at: formatRfc3339([record.hrTime[0], record.hrTime[1]]),
      body: record.body,
      attributes: record.attributes,
      trace: record.spanContext?.traceId,
      span: record.spanContext?.spanId,
      sampled: record.spanContext?.traceFlags === 1,
    }));
  return { provider, exporter, records };
}

function progressBench(options: TelemetryOptions = {}, everyMs?: number) {
  const collected = collectLogs();
  const progress = { loggerProvider: collected.provider, everyMs };
  const test = bench({ mode: "live", limits: { markerAfterMs: 0 }, progress, ...options });
  return { ...test, ...collected };
}

const IDS = { trace: "018f3c7a000070008000000000000002", span: "8000000000000002", sampled: true };
const SUBJECT = {
  "entelix.run_id": RUN,
  "entelix.tenant_id": "acme",
  "gen_ai.agent.name": "react",
};

describe("log records of a run", () => {
  it("are one at the start, one at each interval, one at the end, with the ids of its span", () => {
    const test = progressBench();
    test.sink.send(run.started());
    pass(10);
    test.sink.send(run.modelStart("m1"));
    test.sink.send(
      run.modelComplete("m1", {
        usage: { input_tokens: 120, output_tokens: 30 },
        cost_usd: "0.01",
      }),
    );
    test.sink.send(run.toolStart("call_1", "lookup", { question: "secret" }));
    pass(50);
    test.sink.send(run.toolComplete("call_1", "lookup", 50_000, "secret"));
    test.sink.send(run.complete({ state: "secret" }));
    pass(60);
    const used = {
      "entelix.run.input_tokens": 120,
      "entelix.run.output_tokens": 30,
      "entelix.run.cost": "0.01",
    };
    const waiting = {
      ...SUBJECT,
      ...used,
      "entelix.run.waits_for": "tool",
      "entelix.run.waits_for_name": "lookup",
    };
    expect(test.records()).toStrictEqual([
      {
        event: "entelix.run.start",
        at: "2026-04-29T12:00:00Z",
        body: "run started",
        attributes: SUBJECT,
        ...IDS,
      },
      {
        event: "entelix.run.progress",
        at: "2026-04-29T12:00:30Z",
        body: "run open: waits for tool, no event for 20 s",
        attributes: {
          ...waiting,
          "entelix.run.age_ms": 30_000,
          "entelix.run.idle_ms": 20_000,
          "entelix.run.waits_for_ms": 20_000,
        },
        ...IDS,
      },
      {
        event: "entelix.run.progress",
        at: "2026-04-29T12:01:00Z",
        body: "run open: waits for tool, no event for 50 s",
        attributes: {
          ...waiting,
          "entelix.run.age_ms": 60_000,
          "entelix.run.idle_ms": 50_000,
          "entelix.run.waits_for_ms": 50_000,
        },
        ...IDS,
      },
      {
        event: "entelix.run.end",
        at: "2026-04-29T12:01:00Z",
        body: "run ended: complete",
        attributes: {
          ...SUBJECT,
          ...used,
          "entelix.run.outcome": "complete",
          "entelix.run.age_ms": 60_000,
        },
        ...IDS,
      },
    ]);
    const [span] = test.spans().filter(({ name }) => name === "invoke_agent react");
    expect(span?.spanContext()).toMatchObject({ traceId: IDS.trace, spanId: IDS.span });
    const [record] = test.exporter.getFinishedLogRecords();
    expect(record?.instrumentationScope).toMatchObject({ name: "entelix-otel", version: VERSION });
    expect([record?.severityNumber, record?.severityText]).toEqual([9, "INFO"]);
  });

  it("say how it failed, and that a shutdown gave it up", async () => {
    const test = progressBench();
    test.sink.send(run.started());
    test.sink.send(run.failed());
    const other = new RunEvents("018f3c7a-0000-7000-8000-000000000003", "beta");
    test.sink.send(other.started("planner"));
    await test.sink.shutdown();
    const ends = test.records().filter(({ event }) => event === "entelix.run.end");
    expect(ends.map(({ attributes }) => attributes)).toStrictEqual([
      {
        ...SUBJECT,
        "entelix.run.outcome": "failed",
        "entelix.failure.kind": "model_dispatch",
        "entelix.run.age_ms": 0,
      },
      {
        "entelix.run_id": other.run_id,
        "entelix.tenant_id": "beta",
        "gen_ai.agent.name": "planner",
        "entelix.run.outcome": "abandoned",
        "entelix.run.abandoned_reason": "shutdown",
        "entelix.run.age_ms": 0,
      },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("number the segments of a run that pauses", () => {
    const test = progressBench();
    test.sink.send(run.started());
    test.sink.send(run.interrupted());
    pass(1);
    test.sink.send(run.started());
    expect(
      test.records().map(({ event, attributes }) => [event, attributes["entelix.run.segment"]]),
    ).toEqual([
      ["entelix.run.start", undefined],
      ["entelix.run.end", undefined],
      ["entelix.run.start", 2],
    ]);
  });

  it("are made of unsampled runs too, with the ids and without the flag", () => {
    const collected = collectLogs();
    const shouldSample = () => ({ decision: SamplingDecision.NOT_RECORD });
    const progress = { loggerProvider: collected.provider };
    const test = bench({ mode: "live", progress }, { sampler: { shouldSample } });
    test.sink.send(run.started());
    test.sink.send(run.toolStart("call_1", "lookup"));
    pass(30);
    expect(test.spans()).toEqual([]);
    const [start, open] = collected.records();
    expect(start).toMatchObject({ ...IDS, sampled: false });
    expect(open).toMatchObject({
      event: "entelix.run.progress",
      attributes: { "entelix.run.waits_for": "tool", "entelix.run.waits_for_name": "lookup" },
    });
  });

  it("are none without the option, in a replay, and for an event that came before", () => {
    bench({ mode: "live" }).sink.send(run.started());
    const replay = progressBench({ mode: "replay" });
    replay.at(0, run.started());
    pass(100);
    replay.at(100, run.complete());
    expect(replay.records()).toEqual([]);
    const live = progressBench();
    for (let n = 0; n < 3; n++) live.at(0, run.started(), { event_id: "e1" });
    expect(live.records()).toHaveLength(1);
  });

  it("come at the interval that was asked for, and not for runs younger than that", () => {
    const test = progressBench({}, 2_000);
    pass(1);
    test.sink.send(run.started());
    pass(6);
    const at = test.records().map((record) => record.at.slice(14, 19));
    expect(at).toEqual(["00:01", "00:04", "00:06"]);
  });

  it("are bounded at each interval: the runs that were silent longest come first", () => {
    const test = progressBench({}, 1_000);
    const id = (n: number) => `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;
    for (let n = 0; n < 3; n++) test.sink.send(new RunEvents(id(n)).started());
    pass(0.5);
    for (let n = 3; n < MOST_RECORDS + 3; n++) test.sink.send(new RunEvents(id(n)).started());
    pass(0.1);
    for (let n = 0; n < 3; n++) test.sink.send(new RunEvents(id(n)).toolStart("call_1"));
    pass(1.5);
    const open = test.records().filter(({ event }) => event === "entelix.run.progress");
    expect(test.diagnostics().progressLeftOut).toBe(6);
    expect(open).toHaveLength(MOST_RECORDS);
    const active = open.filter(({ attributes }) => attributes["entelix.run.waits_for"] === "tool");
    expect(active).toEqual([]);
  });

  it("leave metrics as they are", async () => {
    const { provider, records } = collectLogs();
    const metered = meteredBench({ progress: { loggerProvider: provider } });
    void metered.sink.send(run.started());
    void metered.sink.send(run.toolStart("call_1"));
    void metered.sink.send(run.toolComplete("call_1"));
    void metered.sink.send(run.complete());
    const metrics = await metered.collect();
    expect(metrics.sum("entelix.runs", { "entelix.run.outcome": "complete" })).toBe(1);
    expect(metrics.sum("gen_ai.execute_tool.duration")).toBe(1);
    expect(records()).toHaveLength(2);
  });

  it("that can't be written are reported, and change nothing else", () => {
    const loggerProvider = {
      getLogger: () => ({
        emit: () => {
          throw new Error("full");
        },
      }),
    };
    const test = bench({ mode: "live", progress: { loggerProvider } });
    test.sink.send(run.started());
    pass(30);
    test.sink.send(run.complete());
    expect(test.reports).toEqual(Array(3).fill("progress: Error: full"));
    expect(test.find("invoke_agent react").status).toBe("unset");
  });
});

describe("the option progress", () => {
  const loggerProvider = logs.getLoggerProvider();

  it("takes the provider of the API", () => {
    expect(() => bench({ progress: { loggerProvider } })).not.toThrow();
  });

  it.each([99, Number.NaN, 2 ** 31])("refuses an interval of %d ms", (everyMs) => {
    expect(() => bench({ progress: { loggerProvider, everyMs } })).toThrow(
      `progress.everyMs: expected milliseconds from 100 to 2147483647, got ${everyMs}`,
    );
  });
});
