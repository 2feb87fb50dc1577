import { context, metrics, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemorySessionLog } from "../../src/entries/audit.ts";
import { setupTracing } from "../../src/entries/setup.ts";
import { FanOutSink } from "../../src/entries/sinks.ts";
import { notice } from "../../src/events/door.ts";
import {
  type AgentEventSink,
  Bridge,
  type BridgeOptions,
  createIdGenerator,
} from "../../src/index.ts";
import { sendRun } from "./setup/sample-run.ts";

const NO_PROVIDER =
  "entelix-otel: no tracer provider is registered, so runs make no spans: " +
  "call setupTracing() or setupTelemetry(), or start your provider, before them";
const SAME_RUN =
  "two bridges of one tracer provider got the same run, so its spans are sent twice: " +
  "create one bridge, and pass it to all of them";

const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
const messages = () => emitted.mock.calls.map(([message]) => message);
/** The process says each only once, so its tests use a hook where they can. */
const told = () => {
  const lines: string[] = [];
  return {
    lines,
    onError: (error: unknown, where: string) => void lines.push(`${where}: ${error}`),
  };
};

beforeEach(() => emitted.mockClear());
afterEach(() => {
  trace.disable();
  metrics.disable();
  context.disable();
  vi.unstubAllEnvs();
});

describe("a bridge without a tracer provider", () => {
  it("says so at the first run, once for the process, as a warning with a code", () => {
    new Bridge();
    expect(messages()).toEqual([]);
    for (let n = 0; n < 2; n += 1) sendRun(new Bridge());
    expect(emitted.mock.calls).toEqual([
      [NO_PROVIDER, { type: "EntelixWarning", code: "ENTELIX_NO_PROVIDER" }],
    ]);
  });

  const lines = (options: BridgeOptions) => {
    const hook = told();
    sendRun(new Bridge({ ...options, onError: hook.onError }));
    return hook.lines;
  };
  const line = NO_PROVIDER.replace("entelix-otel: ", "tracer provider: Error: ");

  it("names the older copy of the API in which one is registered", () => {
    const key = Symbol.for("opentelemetry.js.api.1");
    const before: unknown = Reflect.get(globalThis, key);
    Reflect.set(globalThis, key, { version: "1.2.0", trace: {} });
    try {
      expect(lines({})).toEqual([
        "tracer provider: Error: the tracer provider is in an older @opentelemetry/api, 1.2.0, so runs make no spans: " +
          "use one version (`npm ls @opentelemetry/api`)",
      ]);
    } finally {
      Reflect.set(globalThis, key, before);
    }
  });

  it("says it to onError, and again for a provider that starts later, whose first run is lost", () => {
    const hook = told();
    const bridge = new Bridge({ onError: hook.onError });
    sendRun(bridge);
    const exporter = new InMemorySpanExporter();
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
    sendRun(bridge, "018f3c7a-0000-7000-8000-00000000002b");
    expect(hook.lines[0]).toBe(line);
    expect(exporter.getFinishedSpans()).toHaveLength(2);
    expect(messages()).toEqual([]);
  });

  it("says nothing where it has only a log, records or metrics, and in a replay", () => {
    const loggerProvider = { getLogger: () => ({ emit: () => {} }) };
    expect(lines({ audit: new MemorySessionLog() })).toEqual([]);
    expect(lines({ progress: { loggerProvider } })).toEqual([]);
    expect(lines({ meterProvider: new MeterProvider() })).toEqual([]);
    expect(lines({ mode: "replay" })).toEqual([]);
    metrics.setGlobalMeterProvider(new MeterProvider());
    expect(lines({})).toEqual([]);
  });

  it.each([
    ["OTEL_SDK_DISABLED", "true"],
    ["OTEL_TRACES_EXPORTER", "none"],
  ])("says nothing where the operator wants no spans: %s", (name, value) => {
    vi.stubEnv(name, value);
    expect(lines({})).toEqual([]);
  });

  it("says nothing where a sampler drops the run", () => {
    const tracerProvider = new NodeTracerProvider({ sampler: new AlwaysOffSampler() });
    expect(lines({ tracerProvider })).toEqual([]);
  });
});

describe("a run that starts after the shutdown", () => {
  it("is reported once, as what follows of earlier runs is not", async () => {
    const hook = told();
    const tracerProvider = new NodeTracerProvider({ idGenerator: createIdGenerator() });
    const bridge = new Bridge({ tracerProvider, onError: hook.onError });
    const run = { run_id: "018f3c7a-0000-7000-8000-00000000002a", tenant_id: "acme" };
    void bridge.send({ ...run, type: "started", agent: "support" });
    await bridge.shutdown();
    void bridge.send({ ...run, type: "complete", state: null });
    expect(hook.lines).toEqual([]);
    for (const last of ["b", "c"]) sendRun(bridge, `018f3c7a-0000-7000-8000-00000000002${last}`);
    expect(hook.lines).toEqual([
      "runs: Error: a run that starts after the shutdown is not reported: " +
        "call shutdown() once, at the end of the process",
    ]);
    expect(bridge.diagnostics().ignored.after_shutdown).toBe(9);
  });

  it("is reported of a bridge that a setup makes too late", async () => {
    const hook = told();
    const tracing = setupTracing({ register: false, onError: hook.onError });
    await tracing.shutdown();
    sendRun(tracing.createBridge());
    expect(hook.lines).toHaveLength(1);
  });
});

describe("two bridges that get the same run", () => {
  const setUp = () => {
    const spans = new InMemorySpanExporter();
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter });
    const counts = async () => {
      await reader.forceFlush();
      const all = exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics);
      const sum = (name: string) =>
        all
          ?.filter(({ descriptor }) => descriptor.name === name)
          .flatMap(({ dataPoints }) => dataPoints.map(({ value }) => value))
          .reduce(
            (total: number, value) => total + (typeof value === "number" ? value : value.count),
            0,
          );
      return [sum("entelix.runs"), sum("entelix.runs.active"), sum("gen_ai.execute_tool.duration")];
    };
    return {
      spans,
      counts,
      tracerProvider: new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
      meterProvider: new MeterProvider({ readers: [reader] }),
    };
  };
  const sendTo = (...sinks: AgentEventSink[]) => {
    const all = new FanOutSink(sinks);
    sendRun({ send: (event) => void all.send(event) });
    sendRun({ send: (event) => void all.send(event) }, "018f3c7a-0000-7000-8000-00000000002b");
  };

  it("say so once, and count the run once", async () => {
    const { counts, meterProvider, spans, tracerProvider } = setUp();
    const hook = told();
    const options = { meterProvider, tracerProvider, onError: hook.onError };
    sendTo(new Bridge(options), new Bridge(options));
    expect(hook.lines.filter((text) => text.startsWith("runs:"))).toEqual([
      `runs: Error: ${SAME_RUN}`,
    ]);
    expect(await counts()).toEqual([2, 0, 2]);
    expect(spans.getFinishedSpans()).toHaveLength(8);
  });

  it("count it also if the first one has no metrics", async () => {
    const { counts, meterProvider, tracerProvider } = setUp();
    const hook = told();
    const options = { meterProvider, tracerProvider, onError: hook.onError };
    sendTo(new Bridge({ ...options, metrics: false }), new Bridge(options), new Bridge(options));
    expect(await counts()).toEqual([2, 0, 2]);
  });

  it("may send them to two providers: each counts", async () => {
    const [one, two] = [setUp(), setUp()];
    const hook = told();
    const bridgeOf = ({ meterProvider, tracerProvider }: ReturnType<typeof setUp>) =>
      new Bridge({ meterProvider, tracerProvider, onError: hook.onError });
    sendTo(bridgeOf(one), bridgeOf(two));
    expect(hook.lines.filter((text) => text.startsWith("runs:"))).toEqual([]);
    expect([await one.counts(), await two.counts()]).toEqual([
      [2, 0, 2],
      [2, 0, 2],
    ]);
  });

  it("are no two for one bridge that gets runs one after the other, or for runs of two tenants", async () => {
    const { counts, meterProvider, tracerProvider } = setUp();
    const hook = told();
    const options = { meterProvider, tracerProvider, onError: hook.onError };
    const [one, two] = [new Bridge(options), new Bridge(options)];
    sendRun(one);
    sendRun(two, "018f3c7a-0000-7000-8000-00000000002b");
    const other = "018f3c7a-0000-7000-8000-00000000002c";
    void one.send({ type: "started", run_id: other, tenant_id: "acme", agent: "a" });
    void two.send({ type: "started", run_id: other, tenant_id: "globex", agent: "a" });
    expect(hook.lines.filter((text) => text.startsWith("runs:"))).toEqual([]);
    expect(await counts()).toEqual([2, 2, 2]);
  });
});

describe("notices", () => {
  it("leave room for errors, which are said again after an hour", () => {
    vi.useFakeTimers();
    for (let n = 0; n < 150; n += 1) notice("ENTELIX_UNKNOWN_OPTION", `option ${n}`, "options");
    const count = () => emitted.mock.calls.filter(([text]) => text === "entelix-otel: lost").length;
    for (let n = 0; n < 2; n += 1) notice("ENTELIX_ERROR", "lost", "bridge");
    expect(count()).toBe(1);
    vi.advanceTimersByTime(3_600_000);
    for (let n = 0; n < 2; n += 1) notice("ENTELIX_ERROR", "lost", "bridge");
    expect(count()).toBe(2);
    expect(emitted.mock.calls.length).toBeLessThanOrEqual(102);
    vi.useRealTimers();
  });
});

describe("an error of a bridge without onError and without a logger", () => {
  it("is a process warning, once a minute for each place", async () => {
    const log = new MemorySessionLog();
    vi.spyOn(log, "append").mockRejectedValue(new Error("disk full"));
    const bridge = new Bridge({ audit: log });
    sendRun({ send: (event) => void Promise.resolve(bridge.send(event)).catch(() => {}) });
    await bridge.shutdown();
    expect(messages()).toContain("entelix-otel: audit append: Error: disk full");
  });
});
