import { context, TraceFlags, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
} from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDerivedParent } from "../../../src/bridge/spans/span-handle.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const TOP = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const top = new RunEvents(TOP);
const child = new RunEvents(CHILD);

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

/** Remembers what it is asked, and decides by the root sampler for everything. */
class Asked implements Sampler {
  readonly names: string[] = [];
  readonly derived: boolean[] = [];
  readonly attributes: object[] = [];
  readonly #decide: () => SamplingDecision;
  constructor(decide: () => SamplingDecision) {
    this.#decide = decide;
  }
  shouldSample(...asked: Parameters<Sampler["shouldSample"]>) {
    this.derived.push(isDerivedParent(asked[0]));
    this.names.push(asked[2]);
    this.attributes.push(asked[4]);
    return { decision: this.#decide() };
  }
}

/** Everything that one run and a child can do. */
function play(test: ReturnType<typeof bench>): void {
  test.at(0, top.started("top"));
  test.at(1, top.approved("call_1"));
  test.at(1, top.toolStart("call_1"));
  test.at(2, child.started("child", TOP));
  test.at(3, child.toolStart("call_1"));
  test.at(4, child.toolError("call_1"));
  test.at(5, child.failed());
  test.at(6, top.toolComplete("call_1"));
  test.at(7, top.denied("call_2"));
  test.at(8, top.complete());
  test.at(9, top.toolComplete("late"));
}

describe("a run that is not sampled", () => {
  it("starts no span for its calls, and its children are not sampled either", () => {
    const sampler = new Asked(() => SamplingDecision.NOT_RECORD);
    const test = bench({}, { sampler: new ParentBasedSampler({ root: sampler }) });
    play(test);
    expect([...test.started.keys()]).toEqual([]);
    expect(sampler.names).toEqual(["invoke_agent top"]);
    expect(test.diagnostics()).toMatchObject({ openRuns: 0, foreignIds: 0, providerFailures: 0 });
  });

  it("has children that are not sampled, whatever their envelope says of the call", () => {
    const test = bench({}, { sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }) });
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(2, child.started("child", TOP), { parent_tool_use_id: "call_1" });
    test.at(3, child.complete());
    const late = new RunEvents("018f3c7a-0000-7000-8000-000000000003");
    test.at(4, top.complete());
    test.at(5, late.started("late", TOP), { parent_tool_use_id: "call_2" });
    test.at(6, late.complete());
    expect([...test.started.keys()]).toEqual([]);
  });

  it("has children that are not sampled, when they start in the context of its call", () => {
    const test = bench(
      { mode: "live", limits: { markerAfterMs: 0 } },
      { sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }) },
    );
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    const inside = test.sink.contextOf("acme", TOP, "call_1");
    expect(trace.getSpanContext(inside)).toMatchObject({
      traceId: TOP.replaceAll("-", ""),
      traceFlags: TraceFlags.NONE,
    });
    test.at(2, top.toolComplete("call_1"));
    context.with(inside, () => test.at(3, child.started("child", TOP)));
    test.at(4, child.complete());
    expect([...test.started.keys()]).toEqual([]);
  });

  it("still counts its end, its repeats and what comes too late", () => {
    const test = bench({}, { sampler: new AlwaysOffSampler() });
    play(test);
    test.at(9, top.complete());
    test.at(9, top.started());
    expect(test.diagnostics()).toMatchObject({
      runsStarted: 2,
      openRuns: 0,
      ignored: { second_terminal: 1, duplicate: 1 },
    });
  });

  it("has no span for a late call either, though the sampler has changed its mind", () => {
    let decision = SamplingDecision.NOT_RECORD;
    const test = bench({}, { sampler: new Asked(() => decision) });
    test.at(0, top.started("top"));
    test.at(1, top.complete());
    decision = SamplingDecision.RECORD_AND_SAMPLED;
    test.at(2, top.toolComplete("late"));
    expect([...test.started.keys()]).toEqual([]);
  });

  it("that goes on later is asked for again", () => {
    let decision = SamplingDecision.NOT_RECORD;
    const test = bench({}, { sampler: new Asked(() => decision) });
    test.at(0, top.started("top"));
    test.at(1, top.interrupted());
    decision = SamplingDecision.RECORD_AND_SAMPLED;
    test.at(2, top.started("top"));
    test.at(3, top.toolStart("call_1"));
    test.at(4, top.complete());
    expect(test.spans().map((span) => span.name)).toEqual([
      "execute_tool fetch",
      "invoke_agent top",
    ]);
  });
});

describe("a run that is recorded but not sampled", () => {
  it("has spans for its calls: processors see them", () => {
    const test = bench({}, { sampler: new Asked(() => SamplingDecision.RECORD) });
    play(test);
    expect(test.started.size).toBe(6);
    expect([...test.ended.values()]).toEqual([1, 1, 1, 1, 1, 1]);
    expect(test.spans()).toEqual([]);
  });
});

describe("what a sampler sees", () => {
  it("are the attributes to decide by; the rest of a call's come with its end", () => {
    const sampler = new Asked(() => SamplingDecision.RECORD_AND_SAMPLED);
    const test = bench({}, { sampler });
    test.at(0, top.started("top"), { thread_id: "th-1" });
    test.at(1, top.toolStart("call_1"));
    test.at(2, top.complete());
    expect(sampler.attributes).toEqual([
      {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "top",
        "gen_ai.conversation.id": "th-1",
        "entelix.run_id": TOP,
        "entelix.tenant_id": "acme",
      },
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "fetch",
        "entelix.run_id": TOP,
        "entelix.tenant_id": "acme",
      },
    ]);
  });

  it("is a derived parent exactly where nobody has seen the parent", () => {
    const sampler = new Asked(() => SamplingDecision.RECORD_AND_SAMPLED);
    const test = bench({}, { sampler });
    test.at(0, top.started("root"));
    test.at(1, child.started("known", TOP));
    const ids = [3, 4, 5].map((n) => `018f3c7a-0000-7000-8000-00000000000${n}`);
    const [third = "", fourth = "", fifth = ""] = ids;
    test.at(2, new RunEvents(third).started("unknown", "nobody"));
    test.at(3, new RunEvents(fourth).started("outside"), {
      traceparent: "00-11112222333344445555666677778888-aaaabbbbccccdddd-01",
    });
    test.at(4, new RunEvents(fifth).started("under a known root", "nobody"), { root_run_id: TOP });
    expect(sampler.names.map((name, at) => [name, sampler.derived[at]])).toEqual([
      ["invoke_agent root", false],
      ["invoke_agent known", false],
      ["invoke_agent unknown", true],
      ["invoke_agent outside", false],
      ["invoke_agent under a known root", false],
    ]);
  });

  it("of a traceparent is its decision", () => {
    const test = bench({}, { sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }) });
    test.at(0, top.started("top"), {
      traceparent: "00-11112222333344445555666677778888-aaaabbbbccccdddd-00",
    });
    test.at(1, top.toolStart("call_1"));
    test.at(2, top.complete());
    expect([...test.started.keys()]).toEqual([]);
  });
});
