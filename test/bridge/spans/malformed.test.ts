import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import type { AgentEvent, EventEnvelope } from "../../../src/index.ts";
import { bench, RunEvents, second, ZERO } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);

type Test = ReturnType<typeof bench>;

/** Sends what a program without types might send. */
function sendAnything(test: Test, event: unknown, envelope?: unknown): void {
  const send: (event: never, envelope?: never) => void = test.sink.send.bind(test.sink);
  Reflect.apply(send, test.sink, [event, envelope]);
}

/** An event with fields changed or, with `undefined`, taken out. */
function broken(event: AgentEvent, changes: Record<string, unknown>): unknown {
  const fields = Object.entries({ ...event, ...changes });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

const at = (time: number): EventEnvelope => ({ timestamp: second(time) });

describe("what is no event", () => {
  it.each([
    null,
    undefined,
    "started",
    7,
    true,
    Symbol("started"),
    [],
    {},
    () => {},
    { type: "started" },
    { type: "started", run_id: 7, tenant_id: "acme" },
    { type: "started", run_id: RUN, tenant_id: null },
  ])("is counted, and does not throw (%#)", (event) => {
    const test = bench();
    sendAnything(test, event);
    expect(test.diagnostics()).toMatchObject({ events: 1, ignored: { not_an_event: 1 } });
    expect([...test.started.keys()]).toEqual([]);
  });
});

describe("what is no event, sent while a run is open that is not sampled", () => {
  it.each([
    null,
    undefined,
    { type: "tool_start" },
    { type: "tool_complete", run_id: 7, tenant_id: "acme" },
    { type: "tool_error", run_id: RUN, tenant_id: {} },
    { type: "tool_call_denied", run_id: null, tenant_id: null },
  ])("is counted, and does not throw (%#)", async (event) => {
    const sampler = new AlwaysOffSampler();
    const test = bench({ mode: "live", limits: { markerAfterMs: 0 } }, { sampler });
    test.sink.send(run.started());
    sendAnything(test, event);
    expect(test.diagnostics()).toMatchObject({ events: 2, ignored: { not_an_event: 1 } });
    await test.sink.shutdown();
  });
});

describe("an event of a type that is not known", () => {
  it("is counted, and opens nothing", () => {
    const test = bench();
    for (const type of ["brand_new", "", null, undefined, 7, {}, "constructor"]) {
      sendAnything(test, { type, run_id: RUN, tenant_id: "acme" });
    }
    expect(test.diagnostics().ignored.unknown_type).toBe(7);
    expect([...test.started.keys()]).toEqual([]);
  });
});

describe("an event that lacks a field", () => {
  it("of no weight is taken: a call without an id has the empty one", () => {
    const test = bench();
    test.at(0, run.started());
    sendAnything(test, broken(run.toolStart("x"), { tool_use_id: undefined }), at(1));
    sendAnything(test, broken(run.toolComplete("x"), { tool_use_id: null }), at(2));
    test.at(3, run.complete());
    expect(test.find("execute_tool fetch")).toMatchObject({
      end: "2026-04-29T12:00:02Z",
      attributes: { "gen_ai.tool.call.id": "", "entelix.tool.outcome": "complete" },
    });
  });

  it.each([["envelope"], ["error"], ["kind"]])("still fails its run: %s", (field) => {
    const test = bench();
    test.at(0, run.started());
    sendAnything(test, broken(run.failed(), { [field]: undefined }), at(1));
    const span = test.find("invoke_agent react");
    expect([span.status, span.end]).toEqual(["error", "2026-04-29T12:00:01Z"]);
    expect(span.attributes["entelix.run.outcome"]).toBe("failed");
    expect(span.attributes["error.type"]).toBe(
      field === "envelope" ? "model_dispatch" : span.attributes["entelix.failure.kind"],
    );
  });

  it("neither kind nor envelope is an unclassified failure", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    const bare = { envelope: undefined, kind: undefined };
    sendAnything(test, broken(run.toolError("call_1"), bare), at(2));
    sendAnything(test, broken(run.failed(), bare), at(3));
    expect(test.find("execute_tool fetch").attributes["error.type"]).toBe("internal");
    expect(test.find("invoke_agent react").attributes).toMatchObject({
      "error.type": "unclassified",
      "entelix.error.wire_code": "unclassified",
    });
  });

  it("of an interruption still ends its run, Unset", () => {
    const test = bench();
    test.at(0, run.started());
    sendAnything(test, broken(run.interrupted(), { kind: null, payload: undefined }), at(1));
    expect(test.find("invoke_agent react")).toMatchObject({
      status: "unset",
      attributes: { "entelix.run.outcome": "interrupted" },
    });
  });
});

describe("values of the wrong type", () => {
  const wrong = [null, 7, -1, Number.NaN, "text", true, [], {}, [[]], Symbol("s"), 1n, () => {}];
  const thrower = {
    get length() {
      throw new Error("length");
    },
    toString() {
      throw new Error("toString");
    },
    valueOf() {
      throw new Error("valueOf");
    },
    toJSON() {
      throw new Error("toJSON");
    },
  };
  const samples: readonly AgentEvent[] = [
    run.started(),
    run.toolStart("call_1"),
    run.toolComplete("call_1"),
    run.toolError("call_1"),
    run.approved("call_1"),
    run.denied("call_1"),
    run.complete({
      usage: { requests: 1, input_tokens: 1, output_tokens: 1, tool_calls: 1, cost_usd: "0" },
    }),
    run.failed(),
    run.interrupted(),
  ];

  for (const sample of samples) {
    it(`in any field of ${sample.type} never throw, and leave nothing open`, async () => {
      for (const field of Object.keys(sample)) {
        for (const value of [...wrong, thrower]) {
          const test = bench({ captureContent: true });
          test.at(0, run.started());
          test.at(1, run.toolStart("call_1"));
          sendAnything(test, broken(sample, { [field]: value }), at(2));
          test.at(3, run.toolComplete("call_1", "fetch", 2000));
          test.at(4, run.complete());
          await test.sink.shutdown();
          expect(test.diagnostics().openRuns).toBe(0);
          expect([...test.ended.entries()].sort()).toEqual([...test.started.entries()].sort());
          const [root] = test.trees().filter((node) => node.span_id === "8000000000000002");
          expect(root).toMatchObject({ span: "invoke_agent react", start: "2026-04-29T12:00:00Z" });
        }
      }
    });

    it(`in any field of a ${sample.type} that opens its run never throw`, async () => {
      for (const field of Object.keys(sample)) {
        for (const value of [...wrong, thrower]) {
          const test = bench({ captureContent: true });
          sendAnything(test, broken(sample, { [field]: value }), at(2));
          sendAnything(test, broken(sample, { [field]: value }), at(3));
          await test.sink.shutdown();
          expect(test.diagnostics().openRuns).toBe(0);
          expect([...test.ended.entries()].sort()).toEqual([...test.started.entries()].sort());
        }
      }
    });
  }

  it("of usage end the run all the same", () => {
    for (const input_tokens of [null, "x", thrower, Symbol("s"), -1]) {
      const test = bench();
      test.at(0, run.started());
      const usage = { requests: 1, input_tokens, output_tokens: 1, tool_calls: 1, cost_usd: "0" };
      sendAnything(test, broken(run.complete(), { usage }), at(1));
      expect(test.find("invoke_agent react").end).toBe("2026-04-29T12:00:01Z");
    }
  });
});

describe("a failure whose kind is not what it should be", () => {
  const cancelled = { wire_code: "cancelled", wire_class: "client" };
  const ended = (event: unknown) => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.modelStart("m1"));
    test.at(1, run.toolStart("call_1"));
    sendAnything(test, event, at(2));
    test.at(3, run.complete());
    return test;
  };

  it.each(["cancelled", {}, [], 7, { type: 7 }, { type: "" }, { type: null }, Symbol("s")])(
    "has the one that its envelope tells, so that error.type is there (%#)",
    (kind) => {
      const failed = ended({ ...run.failed(), kind, envelope: cancelled });
      expect(failed.find("invoke_agent react")).toMatchObject({
        status: "error",
        attributes: { "error.type": "cancelled", "entelix.failure.kind": "cancelled" },
      });
      const model = ended({ ...run.modelError("m1"), kind, envelope: cancelled });
      expect(model.find("chat small-1").attributes["error.type"]).toBe("cancelled");
    },
  );

  it.each([7, "", {}, [], Symbol("s")])("of a tool too (%#)", (kind) => {
    const { attributes } = ended({ ...run.toolError("call_1"), kind }).find("execute_tool fetch");
    expect(attributes["error.type"]).toBe("transient");
    expect(attributes["entelix.tool.error_kind"]).toBe("transient");
  });

  it("that a newer agent added keeps its name", () => {
    const kind = { type: "brand_new" };
    const run_ = ended({ ...run.failed(), kind }).find("invoke_agent react");
    expect(run_.attributes["error.type"]).toBe("brand_new");
    const tool = ended({ ...run.toolError("call_1"), kind: "brand_new" });
    expect(tool.find("execute_tool fetch").attributes["error.type"]).toBe("brand_new");
  });
});

describe("a figure that is none", () => {
  const used = (usage: unknown) => {
    const test = bench();
    test.at(0, run.started());
    sendAnything(test, broken(run.complete(), { usage }), at(1));
    return Object.entries(test.find("invoke_agent react").attributes).filter(([name]) =>
      name.includes("usage"),
    );
  };

  it.each([null, Number.NaN, "12", -1, {}, Symbol("s"), true])(
    "is left out, and is no 0 (%#)",
    (n) => {
      const usage = {
        requests: n,
        input_tokens: n,
        output_tokens: 7,
        tool_calls: n,
        cost_usd: "0.5",
      };
      expect(used(usage)).toEqual([
        ["gen_ai.usage.output_tokens", 7],
        ["entelix.agent.usage.cost", "0.5"],
      ]);
    },
  );

  it("of a cost stands as the decimal text that it is in every other span", () => {
    expect(used({ cost_usd: 0.25 })).toEqual([["entelix.agent.usage.cost", "0.25"]]);
    expect(used({ cost_usd: 1e-7 })).toEqual([["entelix.agent.usage.cost", "0.0000001"]]);
    for (const cost_usd of [null, "", Number.NaN, {}]) expect(used({ cost_usd })).toEqual([]);
  });

  it("of an error's envelope is left out, too", () => {
    const test = bench();
    test.at(0, run.started());
    const envelope = { wire_code: 7, wire_class: null, retry_after_secs: "7", provider_status: {} };
    sendAnything(test, { ...run.failed(), envelope }, at(1));
    const names = Object.keys(test.find("invoke_agent react").attributes);
    expect(names.filter((name) => name.startsWith("entelix.error"))).toEqual([]);
  });
});

describe("an envelope", () => {
  it.each([
    null,
    "text",
    7,
    [],
    { timestamp: null },
    { timestamp: "yesterday" },
    { timestamp: 1_777_464_000_000 },
    { timestamp: [] },
    { timestamp: ["1", 2] },
    { timestamp: [1] },
    { timestamp: [1, -1] },
    { timestamp: [1, 1e9] },
    { timestamp: [Number.NaN, 0] },
    { timestamp: [1.5, 0] },
    { timestamp: new Date() },
    { timestamp: "0001-01-01T00:00:00Z" },
    { timestamp: "2262-04-11T23:47:16Z" },
    { timestamp: [-1, 0] },
    { timestamp: [9e15, 0] },
    {},
  ])("without a time that can be read is timed by the clock (%#)", async (envelope) => {
    const test = bench();
    const before = Date.now() - 5;
    sendAnything(test, run.started(), envelope);
    sendAnything(test, run.complete(), envelope);
    const span = test.find("invoke_agent react");
    expect(Date.parse(span.start)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(span.end)).toBeLessThanOrEqual(Date.now() + 5);
  });

  it("takes an instant as it is, and lets the sender have it back", () => {
    const test = bench();
    const instant: [number, number] = [ZERO, 5];
    test.sink.send(run.started(), { timestamp: instant });
    instant[0] = 0;
    test.sink.send(run.complete(), { timestamp: "2026-04-29T14:00:01.000000001+02:00" });
    expect(test.find("invoke_agent react")).toMatchObject({
      start: "2026-04-29T12:00:00.000000005Z",
      end: "2026-04-29T12:00:01.000000001Z",
    });
  });

  it("with null or empty names is one without them", () => {
    for (const none of [null, "", 7, {}]) {
      const test = bench();
      sendAnything(test, run.started(), {
        ...at(0),
        event_id: none,
        thread_id: none,
        root_run_id: none,
        resumed_from_run_id: none,
        parent_tool_use_id: none,
        traceparent: none,
        tracestate: none,
      });
      test.at(1, run.complete());
      const span = test.find("invoke_agent react");
      expect(span).toMatchObject({
        trace: RUN.replaceAll("-", ""),
        parent: undefined,
        links: [],
      });
      expect(span.attributes).not.toHaveProperty("gen_ai.conversation.id");
      expect(test.reports).toEqual([]);
    }
  });
});
