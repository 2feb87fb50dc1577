import {
  context,
  DiagLogLevel,
  diag,
  INVALID_SPAN_CONTEXT,
  type Span,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterEach, describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { createIdGenerator } from "../../../src/bridge/spans/id-generator.ts";
import { bench, RunEvents, second } from "../../support/run-events.ts";

const TOP = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const top = new RunEvents(TOP);
const child = new RunEvents(CHILD);

afterEach(() => {
  trace.disable();
  diag.disable();
  context.disable();
});

/** Two nested runs with calls, a pause and a resume: every operation of the driver. */
function play(sink: Bridge): void {
  const events = [
    top.started("top"),
    top.approved("call_1"),
    top.toolStart("call_1"),
    child.started("child", TOP),
    child.toolStart("call_1"),
    child.toolError("call_1"),
    child.failed(),
    top.toolComplete("call_1"),
    top.denied("call_2"),
    top.interrupted(),
    top.started("top"),
    top.complete(),
  ];
  for (const [n, event] of events.entries()) void sink.send(event, { timestamp: second(n) });
}

describe("a foreign id generator", () => {
  it("leaves the tree as it is, on foreign ids; it warns once and counts", () => {
    const test = bench({}, { foreignIds: true });
    play(test.sink);
    const [first, next] = test.trees();
    expect(first).toMatchObject({
      span: "invoke_agent top",
      children: [
        { span: "execute_tool fetch", children: [{ span: "invoke_agent child" }] },
        { span: "execute_tool fetch" },
      ],
    });
    expect(first?.trace).not.toBe(TOP.replaceAll("-", ""));
    expect(next?.links).toEqual([first?.span_id]);
    expect(test.diagnostics().foreignIds).toBe(6);
    expect(test.reports).toHaveLength(1);
    expect(test.reports[0]).toContain("createIdGenerator()");
  });

  it("keeps a late child in the trace of its parent, whatever is known of its call", () => {
    const test = bench({}, { foreignIds: true });
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(2, top.toolComplete("call_1"));
    test.at(3, child.started("child", TOP), { parent_tool_use_id: "call_1" });
    test.at(4, top.complete());
    const late = new RunEvents("018f3c7a-0000-7000-8000-000000000003");
    test.at(5, late.started("late", TOP), { parent_tool_use_id: "call_1" });
    test.at(6, late.complete());
    test.at(7, child.complete());
    const [root] = test.trees();
    expect(test.trees()).toHaveLength(1);
    expect(root?.children.map((node) => node.span)).toEqual([
      "execute_tool fetch",
      "invoke_agent child",
      "invoke_agent late",
    ]);
  });

  it("gets its own ids back: ours never become those of somebody else's span", () => {
    const provider = new BasicTracerProvider({ idGenerator: createIdGenerator() });
    const test = bench({}, { foreignIds: true });
    test.at(0, top.started("top"));
    const other = provider.getTracer("other").startSpan("other");
    expect(other.spanContext().traceId).not.toBe(TOP.replaceAll("-", ""));
    expect(other.spanContext().spanId).not.toBe("8000000000000001");
  });
});

describe("our id generator", () => {
  it("gives other spans the ids of its fallback, beside ours and inside our start", () => {
    let next = 0;
    const fallback = {
      generateTraceId: () => `${"f".repeat(24)}${String(next++).padStart(8, "0")}`,
      generateSpanId: () => `${"e".repeat(8)}${String(next++).padStart(8, "0")}`,
    };
    const exporter = new InMemorySpanExporter();
    let inside: Span | undefined;
    const nosy: SpanProcessor = {
      onStart: (span) => {
        // A processor that starts a span of its own while ours is being started.
        if (span.name === "invoke_agent top") inside = tracer.startSpan("inside", { root: true });
      },
      onEnd: () => {},
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const provider = new BasicTracerProvider({
      idGenerator: createIdGenerator(fallback),
      spanProcessors: [nosy, new SimpleSpanProcessor(exporter)],
    });
    const tracer = provider.getTracer("other");
    const sink = new Bridge({ tracerProvider: provider, mode: "replay" });
    play(sink);
    const other = tracer.startSpan("other");
    expect(inside?.spanContext().traceId).toMatch(/^f{24}/);
    expect(inside?.spanContext().spanId).toMatch(/^e{8}/);
    expect(other.spanContext().traceId).toMatch(/^f{24}/);
    const [root] = exporter.getFinishedSpans().filter((span) => span.name === "invoke_agent top");
    expect(root?.spanContext()).toMatchObject({
      traceId: TOP.replaceAll("-", ""),
      spanId: "8000000000000001",
    });
    expect(sink.diagnostics().foreignIds).toBe(0);
  });
});

describe("without an SDK", () => {
  it("everything works and nothing is seen", async () => {
    const sink = new Bridge({ mode: "live", limits: { markerAfterMs: 0 } });
    play(sink);
    expect(trace.getSpan(sink.contextOf("acme", TOP))).toBeUndefined();
    expect(sink.diagnostics()).toMatchObject({
      events: 12,
      runsStarted: 2,
      openRuns: 0,
      foreignIds: 0,
      providerFailures: 0,
    });
    await sink.forceFlush();
    await sink.shutdown();
  });

  it("a provider that is registered later gets the spans from then on, in the right traces", () => {
    const sink = new Bridge({ mode: "replay" });
    void sink.send(top.started("top"), { timestamp: second(0) });
    const exporter = new InMemorySpanExporter();
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({
        idGenerator: createIdGenerator(),
        spanProcessors: [new SimpleSpanProcessor(exporter)],
      }),
    );
    const third = new RunEvents("018f3c7a-0000-7000-8000-000000000003");
    void sink.send(child.started("child", TOP), { timestamp: second(1) });
    void sink.send(third.started("third", TOP), {
      timestamp: second(1),
      parent_tool_use_id: "call_1",
    });
    void sink.send(child.complete(), { timestamp: second(2) });
    void sink.send(third.complete(), { timestamp: second(2) });
    void sink.send(top.complete(), { timestamp: second(3) });
    expect(exporter.getFinishedSpans().map((span) => span.spanContext())).toMatchObject([
      { traceId: TOP.replaceAll("-", ""), spanId: "8000000000000002" },
      { traceId: TOP.replaceAll("-", ""), spanId: "8000000000000003" },
    ]);
  });
});

describe("a provider that throws", () => {
  const boom = () => {
    throw new Error("boom");
  };

  it("in startSpan does not reach the agent, and the next run is traced", () => {
    const test = bench();
    let broken = true;
    const provider: TracerProvider = {
      getTracer: (...name) => {
        const tracer = test.provider.getTracer(...name);
        const wrapped: Tracer = {
          startSpan: (...started) => (broken ? boom() : tracer.startSpan(...started)),
          startActiveSpan: boom,
        };
        return wrapped;
      },
    };
    const errors: unknown[] = [];
    const sink = new Bridge({
      tracerProvider: provider,
      mode: "replay",
      onError: (error) => void errors.push(error),
    });
    play(sink);
    expect(sink.diagnostics()).toMatchObject({ openRuns: 0, providerFailures: 3 });
    expect(errors).toHaveLength(3);
    broken = false;
    const next = new RunEvents("018f3c7a-0000-7000-8000-000000000009");
    void sink.send(next.started("next"), { timestamp: second(20) });
    void sink.send(next.complete(), { timestamp: second(21) });
    expect(test.find("invoke_agent next").trace).toBe(next.run_id.replaceAll("-", ""));
  });

  it.each(["onStart", "onEnd"] as const)("in a processor's %s is contained, too", (hook) => {
    const processor: SpanProcessor = {
      onStart: () => {},
      onEnd: () => {},
      forceFlush: async () => {},
      shutdown: async () => {},
      [hook]: boom,
    };
    const test = bench();
    const sink = new Bridge({
      tracerProvider: new BasicTracerProvider({ spanProcessors: [processor] }),
      mode: "replay",
      onError: (error, where) => void test.reports.push(`${where}: ${String(error)}`),
    });
    play(sink);
    expect(sink.diagnostics().openRuns).toBe(0);
    expect(sink.diagnostics().providerFailures).toBeGreaterThanOrEqual(2);
    expect(new Set(test.reports.filter((report) => !report.startsWith("id generator")))).toEqual(
      new Set(["tracer provider: Error: boom"]),
    );
  });

  it("in every method of its spans still has each span ended once", async () => {
    const ends = new Map<string, number>();
    let next = 0;
    const spanOf = (): Span => {
      const spanId = String(++next).padStart(16, "0");
      ends.set(spanId, 0);
      return {
        spanContext: () => ({ traceId: "1".repeat(32), spanId, traceFlags: 1 }),
        isRecording: () => true,
        setAttribute: boom,
        setAttributes: boom,
        addEvent: boom,
        addLink: boom,
        addLinks: boom,
        setStatus: boom,
        updateName: boom,
        recordException: boom,
        end: () => {
          ends.set(spanId, (ends.get(spanId) ?? 0) + 1);
          boom();
        },
      };
    };
    const sink = new Bridge({
      tracerProvider: { getTracer: () => ({ startSpan: spanOf, startActiveSpan: boom }) },
      mode: "replay",
      captureContent: true,
      onError: () => {},
    });
    play(sink);
    const unseen = new RunEvents("018f3c7a-0000-7000-8000-000000000007");
    void sink.send(unseen.toolStart("call_1"), { timestamp: second(20) });
    void sink.send(unseen.started("late", TOP), { timestamp: second(21) });
    await sink.shutdown();
    expect([...ends.values()]).toEqual([...ends.keys()].map(() => 1));
    expect(ends.size).toBe(8);
  });

  it("in forceFlush rejects there, and is reported at shutdown", async () => {
    const errors: string[] = [];
    const provider = Object.assign(new BasicTracerProvider(), {
      forceFlush: () => Promise.reject(new Error("no route")),
    });
    const sink = new Bridge({
      tracerProvider: provider,
      onError: (error, where) => void errors.push(`${where}: ${String(error)}`),
    });
    await expect(sink.forceFlush()).rejects.toThrow("no route");
    await sink.shutdown();
    expect(errors).toEqual(["flush at shutdown: Error: no route"]);
  });

  it.each([
    [["no route"], "no route"],
    [["no route", "time over"], "flush failed: Error: no route; Error: time over"],
  ])(
    "in processors %j is one error, though the SDK rejects with a list",
    async (texts, expected) => {
      const told: unknown[] = [];
      const sink = new Bridge({
        tracerProvider: new BasicTracerProvider({
          spanProcessors: texts.map((text) => ({
            onStart: () => {},
            onEnd: () => {},
            forceFlush: () => Promise.reject(new Error(text)),
            shutdown: async () => {},
          })),
        }),
        onError: (error) => void told.push(error),
      });
      await expect(sink.forceFlush()).rejects.toThrow(expected);
      await sink.shutdown();
      expect(told).toMatchObject([{ message: expected }]);
      expect(told[0]).toBeInstanceOf(Error);
    },
  );
});

describe("without an onError hook", () => {
  it("troubles go to OpenTelemetry's logger, once a minute a place", () => {
    const warnings: string[] = [];
    const quiet = () => {};
    diag.setLogger(
      {
        error: quiet,
        warn: (text) => void warnings.push(text),
        info: quiet,
        debug: quiet,
        verbose: quiet,
      },
      DiagLogLevel.WARN,
    );
    const broken: TracerProvider = {
      getTracer: () => ({
        startSpan: () => {
          throw new Error("boom");
        },
        startActiveSpan: () => {
          throw new Error("boom");
        },
      }),
    };
    const sink = new Bridge({ tracerProvider: broken, mode: "replay" });
    play(sink);
    expect(sink.diagnostics().providerFailures).toBe(3);
    expect(warnings).toEqual(["entelix-otel: tracer provider: Error: boom"]);
  });
});

describe("an invalid span context", () => {
  it("is not what anything is put under", () => {
    const sink = new Bridge({
      tracerProvider: {
        getTracer: () => ({
          startSpan: () => trace.wrapSpanContext(INVALID_SPAN_CONTEXT),
          startActiveSpan: () => {
            throw new Error("not used");
          },
        }),
      },
      mode: "replay",
    });
    play(sink);
    expect(sink.diagnostics()).toMatchObject({ foreignIds: 0, providerFailures: 0, openRuns: 0 });
  });
});
