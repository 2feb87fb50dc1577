import { createTraceState, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  NodeTracerProvider,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { createSampler } from "../../../src/entries/setup.ts";
import { readEnvironment, writeEnvironment } from "../../../src/events/context/environment.ts";
import { readHeaders, writeHeaders } from "../../../src/events/context/http-headers.ts";
import { readMessage, writeMessage } from "../../../src/events/context/message.ts";
import type { RunContext } from "../../../src/events/context/run-context.ts";
import { RunIds } from "../../../src/events/ids/run-ids.ts";
import { Bridge } from "../../../src/index.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const TOP = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const GRANDCHILD = "018f3c7a-0000-7000-8000-000000000003";
const TRACE = TOP.replaceAll("-", "");
const top = new RunEvents(TOP);
const child = new RunEvents(CHILD);
const grandchild = new RunEvents(GRANDCHILD);
const callSpan = (id: string, occurrence = 1) =>
  RunIds.fromUuid(TOP)?.childSpanId("t", id, occurrence) ?? "no UUID";

const sampled = (sampler: Sampler) => ({ sampler: createSampler(sampler) });

/** The child's process: its events, in a sink that knows nothing of the parent. */
function elsewhere(carried: RunContext | undefined, sampler: Sampler = new AlwaysOnSampler()) {
  const there = bench({}, sampled(sampler));
  there.at(10, child.started("child", carried?.parent_run_id), writeMessage(carried));
  there.at(11, child.complete());
  return there;
}

/** A parent with a tool call open. */
function parent(options: Parameters<typeof bench>[1] = {}) {
  const here = bench({}, options);
  here.identified(0, top.started("top"), { thread_id: "th-1" });
  here.identified(1, top.toolStart("call_1"));
  return here;
}

describe("what is carried", () => {
  it.each([
    ["a Bridge", new Bridge({ mode: "replay", tracerProvider: bench().provider })],
    ["an Bridge", new Bridge({ mode: "replay", tracerProvider: bench().provider })],
  ])("by %s is the run's, or its tool call's", (_, sink) => {
    sink.send(top.started("top"), { thread_id: "th-1" });
    sink.send(top.toolStart("call_1"));
    const run = { root_run_id: TOP, parent_run_id: TOP, thread_id: "th-1" };
    expect(sink.runContext("acme", TOP)).toEqual({
      ...run,
      traceparent: `00-${TRACE}-8000000000000001-01`,
    });
    expect(sink.runContext("acme", TOP, "call_1")).toEqual({
      ...run,
      traceparent: `00-${TRACE}-${callSpan("call_1")}-01`,
      parent_tool_use_id: "call_1",
    });
  });

  it("of a run that nobody knows is nothing, and other tenants' runs are not known", () => {
    const here = parent();
    expect(here.sink.runContext("acme", CHILD)).toBeUndefined();
    expect(here.sink.runContext("globex", TOP)).toBeUndefined();
  });

  it("is the newest open call's of an id, else the last one's, else the run's", () => {
    const here = parent();
    const spanId = (id: string) =>
      here.sink.runContext("acme", TOP, id)?.traceparent?.split("-")[2];
    here.identified(2, top.toolStart("call_1"));
    expect(spanId("call_1")).toBe(callSpan("call_1", 2));
    here.identified(3, top.toolComplete("call_1"));
    here.identified(3, top.toolComplete("call_1"));
    expect(spanId("call_1")).toBe(callSpan("call_1", 2));
    expect(spanId("never")).toBe("8000000000000001");
    here.at(4, top.complete());
    expect(spanId("call_1")).toBe(callSpan("call_1", 2));
  });

  it.each(["complete", "failed", "interrupted"] as const)(
    "of a run that is over is what it was, its conversation too: %s",
    (end) => {
      const here = parent();
      const before = [
        here.sink.runContext("acme", TOP),
        here.sink.runContext("acme", TOP, "call_1"),
      ];
      here.at(4, top[end]());
      expect(before[0]?.thread_id).toBe("th-1");
      expect([
        here.sink.runContext("acme", TOP),
        here.sink.runContext("acme", TOP, "call_1"),
      ]).toEqual(before);
    },
  );

  it("is without a trace where there is no SDK", () => {
    const sink = new Bridge({ mode: "replay" });
    void sink.send(top.started("top"));
    expect(sink.runContext("acme", TOP)).toEqual({ root_run_id: TOP, parent_run_id: TOP });
  });

  it("has the ids that spans really got, under a generator that is not ours", () => {
    const here = parent({ foreignIds: true });
    here.identified(2, top.toolComplete("call_1"));
    here.at(3, top.toolStart("call_2"));
    const { traceparent: ended } = here.sink.runContext("acme", TOP, "call_1") ?? {};
    const { traceparent: open } = here.sink.runContext("acme", TOP, "call_2") ?? {};
    here.at(4, top.toolComplete("call_2"));
    here.at(5, top.complete());
    const [run] = here.trees();
    expect(ended).toBe(`00-${run?.trace}-${run?.span_id}-01`);
    expect(open).toBe(`00-${run?.trace}-${run?.children[1]?.span_id}-01`);
  });

  it("has the state of the trace", () => {
    const traceState = createTraceState("vendor=1");
    const sampler: Sampler = { shouldSample: () => ({ decision: 2, traceState }) };
    const here = parent({ sampler });
    const carried = here.sink.runContext("acme", TOP, "call_1");
    expect(carried?.tracestate).toBe("vendor=1");
    const there = elsewhere(carried);
    expect(there.spans()[0]?.spanContext().traceState?.serialize()).toBe("vendor=1");
  });
});

describe("a child in another process", () => {
  it.each([
    ["headers", (carried?: RunContext) => readHeaders(new Headers(writeHeaders(carried)))],
    [
      "the environment",
      (carried?: RunContext) => readEnvironment({ ...writeEnvironment(carried) }),
    ],
    [
      "an envelope",
      (carried?: RunContext) =>
        readMessage({ ...writeMessage(carried), parent_run_id: carried?.parent_run_id }),
    ],
  ])("goes on in the trace, by %s", (_, through) => {
    const here = parent();
    const there = elsewhere(through(here.sink.runContext("acme", TOP, "call_1")));
    expect(there.find("invoke_agent child")).toMatchObject({
      trace: TRACE,
      parent: callSpan("call_1"),
      links: [],
      attributes: { "entelix.parent_run_id": TOP, "gen_ai.conversation.id": "th-1" },
    });
    expect(there.find("invoke_agent child").attributes).not.toHaveProperty(
      "entelix.parent.missing",
    );
    expect(there.diagnostics().adjustments).toMatchObject({
      missing_parents: 0,
      tenant_conflicts: 0,
    });
  });

  it("carries the root on to the next process", () => {
    const first = parent();
    const second = bench();
    const carried = first.sink.runContext("acme", TOP, "call_1");
    second.at(2, child.started("child", TOP), writeMessage(carried));
    second.at(3, child.toolStart("call_1"));
    const further = second.sink.runContext("acme", CHILD, "call_1");
    const spanId = RunIds.fromUuid(CHILD)?.childSpanId("t", "call_1");
    expect(further).toEqual({
      traceparent: `00-${TRACE}-${spanId}-01`,
      root_run_id: TOP,
      parent_run_id: CHILD,
      parent_tool_use_id: "call_1",
      thread_id: "th-1",
    });
    const third = bench();
    third.at(4, grandchild.started("grandchild", CHILD), writeMessage(further));
    third.at(5, grandchild.complete());
    expect(third.find("invoke_agent grandchild")).toMatchObject({ trace: TRACE, parent: spanId });
  });

  it("stands under the same call by the ids alone, where no trace is carried", () => {
    const carried = parent().sink.runContext("acme", TOP, "call_1");
    const { traceparent: _, ...ids } = carried ?? { root_run_id: TOP, parent_run_id: TOP };
    expect(elsewhere(ids).find("invoke_agent child")).toMatchObject({
      trace: TRACE,
      parent: callSpan("call_1"),
    });
  });

  it("stands under the call that is meant, of several with its id", () => {
    const here = parent();
    here.identified(2, top.toolComplete("call_1"));
    here.identified(3, top.toolStart("call_1"));
    const carried = here.sink.runContext("acme", TOP, "call_1");
    expect(elsewhere(carried).find("invoke_agent child").parent).toBe(callSpan("call_1", 2));
  });

  it("of another tenant is in the sender's trace, where nobody knows the sender's runs", () => {
    const carried = parent().sink.runContext("acme", TOP, "call_1");
    const there = bench();
    const theirs = new RunEvents(CHILD, "globex");
    there.at(1, theirs.started("child", TOP), writeMessage(carried));
    there.at(2, theirs.complete());
    expect(there.find("invoke_agent child").trace).toBe(TRACE);
  });
});

describe("where one service sees the events of both", () => {
  it("the child stands under its parent's call, once", () => {
    const here = parent();
    here.at(
      2,
      child.started("child", TOP),
      writeMessage(here.sink.runContext("acme", TOP, "call_1")),
    );
    here.at(3, child.complete());
    here.at(4, top.toolComplete("call_1"));
    here.at(5, top.complete());
    expect(here.trees()).toMatchObject([
      {
        span: "invoke_agent top",
        children: [{ span: "execute_tool fetch", children: [{ span: "invoke_agent child" }] }],
      },
    ]);
  });

  it("a child of another tenant is a trace of its own, linked", () => {
    const here = parent();
    const theirs = new RunEvents(CHILD, "globex");
    here.at(
      2,
      theirs.started("child", TOP),
      writeMessage(here.sink.runContext("acme", TOP, "call_1")),
    );
    here.at(3, theirs.complete());
    expect(here.find("invoke_agent child")).toMatchObject({
      trace: CHILD.replaceAll("-", ""),
      linkKinds: ["parent_of_other_tenant"],
    });
    expect(here.diagnostics().adjustments.tenant_conflicts).toBe(1);
  });

  it.each([1, 2])(
    "of calls with one id it stands under the one that its trace names: %i",
    (occurrence) => {
      const here = parent();
      const first = here.sink.runContext("acme", TOP, "call_1");
      here.identified(2, top.toolStart("call_1"));
      const second = here.sink.runContext("acme", TOP, "call_1");
      here.at(3, child.started("child", TOP), writeMessage(occurrence === 1 ? first : second));
      here.at(4, child.complete());
      expect(here.find("invoke_agent child").parent).toBe(callSpan("call_1", occurrence));
    },
  );

  it("of calls with one id it stands under the last where its trace names none of them", () => {
    const here = parent();
    here.identified(2, top.toolStart("call_1"));
    const carried = writeMessage(here.sink.runContext("acme", TOP, "call_1"));
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
    here.at(3, child.started("child", TOP), { ...carried, traceparent });
    here.at(4, child.complete());
    expect(here.find("invoke_agent child").parent).toBe(callSpan("call_1", 2));
  });

  it("looks for it among the last 64 of them", () => {
    const here = parent();
    const traceparents: (string | undefined)[] = [];
    for (let n = 1; n <= 70; n++) {
      if (n > 1) here.identified(2, top.toolStart("call_1"));
      traceparents.push(here.sink.runContext("acme", TOP, "call_1")?.traceparent);
      here.identified(3, top.toolComplete("call_1"));
    }
    const parentOf = (occurrence: number) => {
      const run = new RunEvents(`018f3c7a-0000-7000-8000-0000000${10_000 + occurrence}`);
      const traceparent = traceparents[occurrence - 1] ?? "none";
      const carried = { root_run_id: TOP, parent_tool_use_id: "call_1", traceparent };
      here.at(4, run.started(`child ${occurrence}`, TOP), carried);
      here.at(5, run.complete());
      return here.find(`invoke_agent child ${occurrence}`).parent;
    };
    expect(parentOf(7)).toBe(callSpan("call_1", 7));
    expect(parentOf(6)).toBe(callSpan("call_1", 70));
  });
});

describe("sampling", () => {
  it.each([
    ["is kept with its parent", new AlwaysOnSampler(), new AlwaysOffSampler(), 1, "01"],
    ["is left out with its parent", new AlwaysOffSampler(), new AlwaysOnSampler(), 0, "00"],
  ])("a child %s, whatever its own process would do", (_, here, there, spans, flags) => {
    const carried = parent(sampled(here)).sink.runContext("acme", TOP, "call_1");
    expect(carried?.traceparent?.split("-")).toEqual(["00", TRACE, expect.anything(), flags]);
    expect(elsewhere(carried, there).spans()).toHaveLength(spans);
  });

  it("by the ids alone decides as the process of the root does", () => {
    for (let n = 0; n < 64; n++) {
      const runId = `018f3c7a-${n.toString(16).padStart(4, "0")}-7000-8000-${"9".repeat(12)}`;
      const ids = { root_run_id: runId, parent_run_id: runId };
      const half = new TraceIdRatioBasedSampler(0.5);
      const here = bench({}, sampled(half));
      here.at(0, new RunEvents(runId).started());
      here.at(1, new RunEvents(runId).complete());
      expect(elsewhere(ids, half).spans()).toHaveLength(here.spans().length);
    }
  });
});

describe("another SDK", () => {
  it("finds the tool call in what is carried", async () => {
    const { W3CTraceContextPropagator } = await import("@opentelemetry/core");
    const headers = writeHeaders(parent().sink.runContext("acme", TOP, "call_1"));
    const getter = {
      keys: (carrier: Record<string, string>) => Object.keys(carrier),
      get: (carrier: Record<string, string>, key: string) => carrier[key],
    };
    const context = new W3CTraceContextPropagator().extract(ROOT_CONTEXT, headers, getter);
    const provider = new NodeTracerProvider();
    const span = provider.getTracer("other").startSpan("work", {}, context);
    expect(span.spanContext().traceId).toBe(TRACE);
    expect(trace.getSpanContext(context)).toMatchObject({
      traceId: TRACE,
      spanId: callSpan("call_1"),
      traceFlags: 1,
    });
  });
});
