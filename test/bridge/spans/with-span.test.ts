import { context, createContextKey, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { isTracingSuppressed, suppressTracing } from "@opentelemetry/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { RunIds, type SpanTarget } from "../../../src/entries/context.ts";
import { bench, RunEvents, second } from "../../support/run-events.ts";
import { collectSpans } from "../../support/spans.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000001";
const run = new RunEvents(RUN);
const ids = RunIds.fromUuid(RUN);
const SPAN = "8000000000000001";
const TOOL = ids?.childSpanId("t", "call_1");
const MODEL = ids?.childSpanId("m", "2");
const STEP = (ordinal: number) => ids?.childSpanId("p", String(ordinal));
const AT = { tenant_id: "acme", run_id: RUN };

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

const live = () => bench({ mode: "live", limits: { markerAfterMs: 0 } });

const activeSpan = () => trace.getSpanContext(context.active())?.spanId;

/** A run with an open tool call and two open model calls. */
function opened() {
  const test = live();
  test.at(0, run.started());
  test.at(1, run.toolStart("call_1"));
  test.at(1, run.modelStart("m1"));
  test.at(1, run.modelStart("m2"));
  test.at(1, run.stepStart("s1"));
  test.at(1, run.stepStart("s2"), { details: { step_id: "s1", tool_use_id: "call_1" } });
  return test;
}

describe("withSpan", () => {
  const places: readonly [string, Partial<SpanTarget>, string | undefined][] = [
    ["the run", {}, SPAN],
    ["a tool call", { tool_use_id: "call_1" }, TOOL],
    ["a model call", { model_call_id: "m2" }, MODEL],
    ["a model call that a tool makes", { tool_use_id: "call_1", model_call_id: "m2" }, MODEL],
    [
      "a tool call, where the model call is not open",
      { tool_use_id: "call_1", model_call_id: "x" },
      TOOL,
    ],
    ["a step", { step_id: "s1" }, STEP(1)],
    ["a tool call in a step", { step_id: "s1", tool_use_id: "call_1" }, TOOL],
    ["a step in a tool call", { step_id: "s2", tool_use_id: "call_1" }, STEP(2)],
    ["a model call in a step", { step_id: "s1", model_call_id: "m2" }, MODEL],
    ["the run, where no such step is open", { step_id: "x" }, SPAN],
    ["the run, where neither is open", { tool_use_id: "x", model_call_id: "x" }, SPAN],
    ["no span, where the run is not open", { run_id: "x" }, undefined],
    ["no span of another tenant", { tenant_id: "globex" }, undefined],
  ];

  it.each(places)("%s its span is the active one", (_, place, expected) => {
    const test = opened();
    expect(test.sink.withSpan({ ...AT, ...place }, activeSpan)).toBe(expected);
    expect(activeSpan()).toBeUndefined();
  });

  it("holds across an await, for what other libraries start, and for a run that starts in it", async () => {
    const test = opened();
    const child = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
    test.at(1, run.toolStart("call_2"));
    const answer = await test.sink.withSpan({ ...AT, tool_use_id: "call_1" }, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      test.provider.getTracer("http").startSpan("GET /").end();
      test.at(2, child.started("child", RUN));
      return 42;
    });
    expect(answer).toBe(42);
    test.at(3, child.complete());
    expect(test.find("GET /").parent).toBe(TOOL);
    expect(test.find("invoke_agent child").parent).toBe(TOOL);
  });

  it("keeps the values of the context around it, and gives what work throws to its caller", () => {
    const test = opened();
    const key = createContextKey("mine");
    const seen = context.with(ROOT_CONTEXT.setValue(key, 7), () =>
      test.sink.withSpan(AT, () => context.active().getValue(key)),
    );
    expect(seen).toBe(7);
    const error = new Error("mine");
    const fails = () => {
      throw error;
    };
    expect(() => test.sink.withSpan(AT, fails)).toThrow(error);
    expect(test.reports).toEqual([]);
  });

  it.each([null, {}, { tenant_id: 7, run_id: null }, { run_id: {}, tenant_id: "acme" }])(
    "%o, which is no place, calls the work all the same",
    (place) => {
      const test = opened();
      const result: unknown = Reflect.apply(test.sink.withSpan, test.sink, [place, () => "done"]);
      expect(result).toBe("done");
    },
  );

  it("is offered by a bridge with an audit log too", async () => {
    const { provider } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider, audit: new MemorySessionLog() });
    await bridge.send(run.started(), { timestamp: second(0) });
    expect(bridge.withSpan(AT, activeSpan)).toBe(SPAN);
    await bridge.shutdown();
    expect(bridge.withSpan(AT, activeSpan)).toBeUndefined();
  });
});

describe("where tracing is suppressed", () => {
  const suppressed = <T>(work: () => T): T => context.with(suppressTracing(ROOT_CONTEXT), work);

  it("a run that starts there is not recorded, nor what is under it", () => {
    const test = live();
    suppressed(() => test.at(0, run.started()));
    test.at(1, run.toolStart("call_1"));
    test.at(1, run.modelStart("m1"));
    test.at(2, run.toolComplete("call_1"));
    test.at(3, run.complete());
    expect([...test.started.keys()]).toEqual([]);
    expect(test.diagnostics()).toMatchObject({ openRuns: 0, runsStarted: 1 });
  });

  it("a call that starts there is recorded as its run is", () => {
    const test = live();
    test.at(0, run.started());
    suppressed(() => test.at(1, run.toolStart("call_1")));
    test.at(2, run.toolComplete("call_1"));
    test.at(3, run.complete());
    expect(test.spans().map((span) => span.name)).toEqual([
      "execute_tool fetch",
      "invoke_agent react",
    ]);
  });

  it("work inside a span stays suppressed", () => {
    const test = opened();
    expect(
      suppressed(() => test.sink.withSpan(AT, () => isTracingSuppressed(context.active()))),
    ).toBe(true);
  });

  it("a replay records all the same: its events tell what was, not what is", () => {
    const test = bench({ mode: "replay" });
    suppressed(() => {
      test.at(0, run.started());
      test.at(1, run.complete());
    });
    expect(test.spans()).toHaveLength(1);
  });
});
