import { context, ROOT_CONTEXT, type Span, type SpanContext, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { createIdGenerator } from "../../../src/index.ts";
import { RunEvents, second } from "../../support/run-events.ts";
import { toTrees } from "../../support/spans.ts";

const TOP = "018f3c7a-0000-7000-8000-000000000001";
const TRACE = TOP.replaceAll("-", "");
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const top = new RunEvents(TOP);
const child = new RunEvents(CHILD);

/** A span context as Datadog has it: its fields are getters of a class, so a spread copies none of them. */
class ContextOfGetters implements SpanContext {
  readonly #of: SpanContext;

  constructor(of: SpanContext) {
    this.#of = of;
  }
  get traceId() {
    return this.#of.traceId;
  }
  get spanId() {
    return this.#of.spanId;
  }
  get traceFlags() {
    return this.#of.traceFlags;
  }
}

/** Gives every span such a context. */
const getters: SpanProcessor = {
  onStart: (span: Span) => {
    const plain = span.spanContext();
    span.spanContext = () => new ContextOfGetters(plain);
  },
  onEnd: () => {},
  forceFlush: async () => {},
  shutdown: async () => {},
};

function bench(options: TelemetryOptions) {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    idGenerator: createIdGenerator(),
    spanProcessors: [getters, new SimpleSpanProcessor(exporter)],
  });
  const reports: unknown[] = [];
  const sink = new Bridge({
    tracerProvider,
    onError: (error) => void reports.push(error),
    ...options,
  });
  const request = tracerProvider.getTracer("http").startSpan("POST /chat");
  /** Sends events, one each second, while the request is active. */
  const play = (...events: Parameters<Bridge["send"]>[0][]) => {
    context.with(trace.setSpan(ROOT_CONTEXT, request), () => {
      for (const [n, event] of events.entries()) {
        const dispatcher = event.run_id === CHILD ? { parent_tool_use_id: "call_1" } : {};
        void sink.send(event, { timestamp: second(n), ...dispatcher });
      }
    });
  };
  return {
    play,
    reports,
    request: request.spanContext(),
    sink,
    tree: () => toTrees(exporter.getFinishedSpans()),
  };
}

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

describe("a provider whose span contexts have getters", () => {
  it("has runs below the active span", () => {
    const test = bench({ rootParent: "ambient" });
    test.play(top.started("top"), top.complete());
    const [run] = test.tree();
    expect(test.reports).toEqual([]);
    expect(run).toMatchObject({
      span: "invoke_agent top",
      trace: test.request.traceId,
      parent: test.request.spanId,
    });
  });

  it("has links to the active span", () => {
    const test = bench({});
    test.play(top.started("top"), top.complete());
    const [run] = test.tree();
    expect(run).toMatchObject({ trace: TRACE, links: [test.request.spanId] });
  });

  it("has runs below the span that a hook names", () => {
    const test = bench({ resolveParent: () => test.request });
    test.play(top.started("top"), top.complete());
    const [run] = test.tree();
    expect(run).toMatchObject({ trace: test.request.traceId, parent: test.request.spanId });
  });

  it("gives runs a context for other processes, and late runs a parent that has ended", () => {
    const test = bench({});
    test.play(
      top.started("top"),
      top.toolStart("call_1"),
      top.toolComplete("call_1"),
      child.started("child", TOP),
      child.complete(),
    );
    const [call] = test.tree();
    expect(test.sink.runContext("acme", TOP, "call_1")?.traceparent).toBe(
      `00-${TRACE}-${call?.span_id}-01`,
    );
    expect(call?.span).toBe("execute_tool fetch");
    expect(call?.children.map(({ span, trace }) => [span, trace])).toEqual([
      ["invoke_agent child", TRACE],
    ]);
  });
});
