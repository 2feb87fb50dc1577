import { context, createTraceState, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const TOP = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const top = new RunEvents(TOP);
const child = new RunEvents(CHILD);
const callSpan = (id: string, occurrence = 1) =>
  RunIds.fromUuid(TOP)?.childSpanId("t", id, occurrence);

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

const live = (options: TelemetryOptions = {}) =>
  bench({ mode: "live", limits: { markerAfterMs: 0 }, ...options });

describe("contextOf", () => {
  it("puts spans of other libraries under the tool call, across an await", async () => {
    const test = live();
    const tracer = test.provider.getTracer("http");
    test.at(0, top.started());
    test.at(1, top.toolStart("call_1"));
    test.at(1, top.toolStart("call_2"));
    await context.with(test.sink.contextOf("acme", TOP, "call_1"), async () => {
      await new Promise((resolve) => setImmediate(resolve));
      tracer.startSpan("GET /").end();
    });
    context.with(test.sink.contextOf("acme", TOP), () => tracer.startSpan("SELECT").end());
    test.at(2, top.complete());
    expect(test.find("GET /")).toMatchObject({
      trace: TOP.replaceAll("-", ""),
      parent: callSpan("call_1"),
    });
    expect(test.find("SELECT").parent).toBe("8000000000000001");
  });

  it("takes the newest of several open calls of one id", () => {
    const test = live();
    test.identified(0, top.started());
    test.identified(1, top.toolStart("x"));
    test.identified(2, top.toolStart("x"));
    const inside = test.sink.contextOf("acme", TOP, "x");
    expect(trace.getSpanContext(inside)?.spanId).toBe(callSpan("x", 2));
  });

  it("finds the newest in a crowd of open calls, and an empty id", () => {
    const test = live();
    test.identified(0, top.started());
    for (let n = 0; n < 30; n++) test.identified(1, top.toolStart(`call_${n}`));
    test.identified(2, top.toolStart("call_7"));
    test.identified(3, top.toolStart("", "a"));
    test.identified(4, top.toolStart("", "b"));
    const spanIn = (id: string) =>
      trace.getSpanContext(test.sink.contextOf("acme", TOP, id))?.spanId;
    expect(spanIn("call_7")).toBe(callSpan("call_7", 2));
    expect(spanIn("call_8")).toBe(callSpan("call_8"));
    expect(spanIn("")).toBe(callSpan("", 2));
  });

  it("takes a run id in upper case", () => {
    const test = live();
    test.at(0, top.started());
    const inside = test.sink.contextOf("acme", TOP.toUpperCase());
    expect(trace.getSpanContext(inside)?.spanId).toBe("8000000000000001");
  });

  it("keeps the other values of the active context", () => {
    const test = live();
    test.at(0, top.started());
    const baggage = propagation.createBaggage({ user: { value: "7" } });
    const inside = context.with(propagation.setBaggage(ROOT_CONTEXT, baggage), () =>
      test.sink.contextOf("acme", TOP),
    );
    expect(propagation.getBaggage(inside)?.getEntry("user")?.value).toBe("7");
  });

  it("is the run's where the call is not open, and the active one where the run is not", () => {
    const test = live();
    test.at(0, top.started());
    const ended = test.sink.contextOf("acme", TOP, "never");
    expect(trace.getSpanContext(ended)?.spanId).toBe("8000000000000001");
    expect(test.sink.contextOf("globex", TOP)).toBe(context.active());
    test.at(1, top.complete());
    expect(test.sink.contextOf("acme", TOP)).toBe(context.active());
    expect(test.sink.contextOf("acme", "unknown")).toBe(context.active());
  });
});

describe("the ambient call", () => {
  it("is the parent of a child run that starts in it, though several are open", () => {
    const test = live();
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(1, top.toolStart("call_2"));
    context.with(test.sink.contextOf("acme", TOP, "call_2"), () => {
      test.at(2, child.started("child", TOP));
    });
    expect(test.sink.provenanceOf("acme", CHILD)).toEqual({
      root_run_id: TOP,
      parent_tool_use_id: "call_2",
    });
    test.at(3, child.complete());
    const span = test.find("invoke_agent child");
    expect(span.parent).toBe(callSpan("call_2"));
    expect(span.attributes).not.toHaveProperty("entelix.parent.inferred");
  });

  it("is the parent through a span of another library, and after it has ended", () => {
    const test = live();
    const tracer = test.provider.getTracer("http");
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(1, top.toolStart("call_2"));
    const inside = test.sink.contextOf("acme", TOP, "call_2");
    const request = tracer.startSpan("GET /", {}, inside);
    test.at(2, top.toolComplete("call_2"));
    context.with(trace.setSpan(inside, request), () => test.at(3, child.started("child", TOP)));
    request.end();
    test.at(4, child.complete());
    expect(test.find("invoke_agent child").parent).toBe(callSpan("call_2"));
  });

  it("is the parent though the parent run has ended, too", () => {
    for (const terminal of ["complete", "interrupted"] as const) {
      const test = live();
      test.at(0, top.started("top"));
      test.at(1, top.toolStart("call_1"));
      test.at(1, top.toolStart("call_2"));
      const inside = test.sink.contextOf("acme", TOP, "call_2");
      test.at(2, top[terminal]());
      context.with(inside, () => test.at(3, child.started("child", TOP)));
      test.at(4, child.complete());
      expect(test.find("invoke_agent child").parent).toBe(callSpan("call_2"));
    }
  });

  it("says nothing of a run whose parent it is not in", () => {
    const test = live();
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(1, top.toolStart("call_2"));
    const other = new RunEvents("018f3c7a-0000-7000-8000-000000000005");
    test.at(1, other.started("other"));
    context.with(test.sink.contextOf("acme", TOP, "call_2"), () => {
      test.at(2, child.started("child", other.run_id));
    });
    test.at(3, child.complete());
    expect(test.find("invoke_agent child").parent).toBe("8000000000000005");
  });

  it("is left by the context of the run itself", () => {
    const test = live();
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(1, top.toolStart("call_2"));
    context.with(test.sink.contextOf("acme", TOP, "call_2"), () =>
      context.with(test.sink.contextOf("acme", TOP), () => test.at(2, child.started("child", TOP))),
    );
    test.at(3, child.complete());
    expect(test.find("invoke_agent child").parent).toBe("8000000000000001");
  });

  it("is not looked at by a replay", () => {
    const test = bench({ mode: "replay" });
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(1, top.toolStart("call_2"));
    context.with(test.sink.contextOf("acme", TOP, "call_2"), () => {
      test.at(2, child.started("child", TOP));
    });
    test.at(3, child.complete());
    expect(test.find("invoke_agent child").parent).toBe("8000000000000001");
  });
});

describe("the ambient span of a root run", () => {
  it("is linked; the run is its own trace", () => {
    const test = live();
    const server = test.provider.getTracer("http").startSpan("POST /chat");
    context.with(trace.setSpan(ROOT_CONTEXT, server), () => test.at(0, top.started("top")));
    test.at(1, top.complete());
    expect(test.find("invoke_agent top")).toMatchObject({
      trace: TOP.replaceAll("-", ""),
      parent: undefined,
      links: [server.spanContext().spanId],
      linkKinds: ["ambient"],
    });
  });

  it("is neither linked nor the parent in a replay", () => {
    const test = bench({ mode: "replay", rootParent: "ambient" });
    const server = test.provider.getTracer("http").startSpan("POST /chat");
    context.with(trace.setSpan(ROOT_CONTEXT, server), () => test.at(0, top.started("top")));
    test.at(1, top.complete());
    expect(test.find("invoke_agent top")).toMatchObject({ links: [], parent: undefined });
  });

  it("is the parent where that is asked for, and written down for the recording", () => {
    const test = live({ rootParent: "ambient" });
    const server = test.provider.getTracer("http").startSpan("POST /chat");
    const { traceId, spanId } = server.spanContext();
    context.with(trace.setSpan(ROOT_CONTEXT, server), () => test.at(0, top.started("top")));
    test.at(1, top.toolStart("call_1"));
    test.at(2, child.started("child", TOP));
    expect(test.sink.provenanceOf("acme", TOP)).toEqual({
      traceparent: `00-${traceId}-${spanId}-01`,
    });
    test.at(3, child.complete());
    test.at(4, top.complete());
    expect(test.find("invoke_agent top")).toMatchObject({
      trace: traceId,
      parent: spanId,
      links: [],
    });
    expect(test.find("invoke_agent child").trace).toBe(traceId);
  });

  it("is not the parent of another tenant's run: that gets a link", () => {
    const test = live({ rootParent: "ambient" });
    const tracer = test.provider.getTracer("http");
    const guest = new RunEvents(CHILD, "globex");
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    const inside = test.sink.contextOf("acme", TOP, "call_1");
    const request = tracer.startSpan("GET /", {}, inside);
    context.with(trace.setSpan(inside, request), () => test.at(2, guest.started("guest")));
    request.end();
    test.at(3, guest.complete());
    expect(test.find("invoke_agent guest")).toMatchObject({
      trace: CHILD.replaceAll("-", ""),
      parent: undefined,
      linkKinds: ["ambient"],
    });
  });

  it("of no valid context is none", () => {
    const test = live({ rootParent: "ambient" });
    const nowhere = trace.wrapSpanContext({ traceId: "0", spanId: "0", traceFlags: 1 });
    context.with(trace.setSpan(ROOT_CONTEXT, nowhere), () => test.at(0, top.started("top")));
    test.at(1, top.complete());
    expect(test.find("invoke_agent top")).toMatchObject({ links: [], parent: undefined });
  });
});

describe("what a recording needs to know", () => {
  it("is nothing for a plain root, and undefined for a run that is not known", () => {
    const test = live();
    test.at(0, top.started("top"), { thread_id: "th-1" });
    expect(test.sink.provenanceOf("acme", TOP)).toEqual({ thread_id: "th-1" });
    expect(test.sink.provenanceOf("acme", CHILD)).toBeUndefined();
    expect(test.sink.provenanceOf("globex", TOP)).toBeUndefined();
  });

  it("gives a replay the same tree", async () => {
    const first = live({ rootParent: "ambient" });
    const second = bench({ mode: "replay" });
    const server = first.provider.getTracer("http").startSpan("POST /chat");
    const both = (time: number, event: Parameters<typeof first.at>[1]) => {
      first.at(time, event);
      second.at(time, event, first.sink.provenanceOf(event.tenant_id, event.run_id));
    };
    context.with(trace.setSpan(ROOT_CONTEXT, server), () => both(0, top.started("top")));
    both(1, top.toolStart("call_1"));
    both(1, top.toolStart("call_2"));
    context.with(first.sink.contextOf("acme", TOP, "call_2"), () =>
      both(2, child.started("child", TOP)),
    );
    both(3, child.complete());
    both(4, top.complete());
    expect(second.trees()).toEqual(first.trees());
  });

  it("has the state of the trace, where the parent has one", () => {
    const first = live({ rootParent: "ambient" });
    const second = bench({ mode: "replay" });
    const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"];
    const traceState = createTraceState("dd=s:1,ot=th:8");
    const ambient = trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: 1,
      traceState,
    });
    context.with(ambient, () => first.at(0, top.started("top")));
    const known = first.sink.provenanceOf("acme", TOP);
    expect(known).toEqual({
      traceparent: `00-${traceId}-${spanId}-01`,
      tracestate: "dd=s:1,ot=th:8",
    });
    second.at(0, top.started("top"), known);
    for (const test of [first, second]) test.at(1, top.complete());
    const stateOf = (test: typeof first) =>
      test.spans().map((span) => span.spanContext().traceState?.serialize());
    expect(stateOf(first)).toEqual(["dd=s:1,ot=th:8"]);
    expect(stateOf(second)).toEqual(stateOf(first));
  });

  it("does not vouch for a parent that nobody has seen", () => {
    const first = live();
    const second = bench({ mode: "replay" });
    const usage = {
      requests: 1,
      input_tokens: 2,
      output_tokens: 3,
      tool_calls: 0,
      cost_usd: "0.30",
    };
    for (const [time, event] of [
      [0, child.started("child", TOP)],
      [1, { ...child.complete(), usage }],
    ] as const) {
      first.at(time, event);
      second.at(time, event, first.sink.provenanceOf("acme", CHILD));
    }
    expect(second.trees()).toEqual(first.trees());
    expect(second.find("invoke_agent child")?.attributes).toMatchObject({
      "entelix.parent.missing": true,
      "gen_ai.usage.input_tokens": 2,
    });
  });
});
