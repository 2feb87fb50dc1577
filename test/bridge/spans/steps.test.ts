import { SpanKind } from "@opentelemetry/api";
import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { RunIds } from "../../../src/entries/context.ts";
import type { AgentEvent, EventEnvelope } from "../../../src/index.ts";
import { recordedAndReplayed, type Sent } from "../../support/recorded-and-replayed.ts";
import { bench, RunEvents, second } from "../../support/run-events.ts";
import { collectSpans, type SpanNode } from "../../support/spans.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const CHILD = "018f3c7a-0000-7000-8000-000000000003";
const run = new RunEvents(RUN);
const child = new RunEvents(CHILD);
const stepSpan = (ordinal: number) => RunIds.fromUuid(RUN)?.childSpanId("p", String(ordinal));
const inStep = (step_id: string, more: EventEnvelope = {}): EventEnvelope => ({
  ...more,
  details: { step_id },
});

const COMMON = {
  "entelix.run_id": RUN,
  "entelix.tenant_id": "acme",
  "gen_ai.agent.name": "react",
};

/** The one span of a step that such an end made. */
function stepOf(start: AgentEvent, end: AgentEvent, options: TelemetryOptions = {}): SpanNode {
  const test = bench(options);
  test.at(0, run.started());
  test.at(1, start);
  test.at(3, end);
  test.at(4, run.complete());
  expect(test.reports).toEqual([]);
  const [step] = test.trees()[0]?.children ?? [];
  if (step === undefined) throw new Error("no span of the step");
  return step;
}

describe("the span of a step", () => {
  it("is `step {name}` under its run, without an operation, and its input and output are not shown", () => {
    const start = run.stepStart("s1", { input: "secret" });
    const end = run.stepComplete("s1", { output: "secret" });
    const step = stepOf(start, end, { captureContent: true });
    expect(step).toMatchObject({
      span: "step route",
      span_id: stepSpan(1),
      parent: "8000000000000002",
      start: "2026-04-29T12:00:01Z",
      end: "2026-04-29T12:00:03Z",
      status: "unset",
    });
    expect(step.attributes).toEqual({
      ...COMMON,
      "entelix.step.name": "route",
      "entelix.step.outcome": "complete",
    });
  });

  it("of a retrieval follows the conventions; query and documents are content", () => {
    const start = run.stepStart("s1", { step: "docs", kind: "retrieval", input: "which order?" });
    const end = run.stepComplete("s1", { step: "docs", output: [{ id: "d1", content: "17" }] });
    const attributes = {
      ...COMMON,
      "gen_ai.operation.name": "retrieval",
      "entelix.step.name": "docs",
      "entelix.step.outcome": "complete",
    };
    expect(stepOf(start, end)).toMatchObject({ span: "retrieval docs", attributes });
    expect(stepOf(start, end).attributes).toEqual(attributes);
    expect(stepOf(start, end, { captureContent: true }).attributes).toEqual({
      ...attributes,
      "gen_ai.retrieval.query.text": "which order?",
      "gen_ai.retrieval.documents": '[{"id":"d1","content":"17"}]',
    });
  });

  it("has the kind that the conventions ask for", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.stepStart("s1"));
    test.at(1, run.stepStart("s2", { kind: "retrieval" }));
    test.at(1, run.complete());
    const kinds = test.spans().map((span) => [span.name, span.kind]);
    expect(kinds.slice(0, 2)).toEqual([
      ["retrieval route", SpanKind.CLIENT],
      ["step route", SpanKind.INTERNAL],
    ]);
  });

  it("that failed has status ERROR with the redacted text, its wire code and the envelope", () => {
    const envelope = {
      wire_code: "rate_limited",
      wire_class: "client",
      retry_after_secs: 3,
      provider_status: 429,
    } as const;
    const redact = (value: unknown) => String(value).replace("17", "..");
    const step = stepOf(
      run.stepStart("s1"),
      run.stepError("s1", { error: "order 17 is busy", envelope }),
      { redact },
    );
    expect(step).toMatchObject({ status: "error", description: "order .. is busy" });
    expect(step.attributes).toEqual({
      ...COMMON,
      "entelix.step.name": "route",
      "entelix.step.outcome": "error",
      "error.type": "rate_limited",
      "entelix.error.wire_code": "rate_limited",
      "entelix.error.wire_class": "client",
      "entelix.error.retry_after_secs": 3,
      "entelix.error.provider_status": 429,
    });
  });

  it.each([
    ["interrupted", { wire_code: "interrupted", wire_class: "client" }],
    ["cancelled", { wire_code: "cancelled", wire_class: "client", cancelled: true }],
  ] as const)("that was %s is no error", (outcome, envelope) => {
    const step = stepOf(run.stepStart("s1"), run.stepError("s1", { error: "why", envelope }));
    expect(step.status).toBe("unset");
    expect(step.attributes).toMatchObject({
      "entelix.step.outcome": outcome,
      "entelix.error.message": "why",
    });
    expect(step.attributes).not.toHaveProperty("error.type");
  });

  it("that was open when its run closed is unfinished", () => {
    const step = stepOf(run.stepStart("s1"), run.interrupted());
    expect(step).toMatchObject({ end: "2026-04-29T12:00:03Z", status: "unset" });
    expect(step.attributes["entelix.step.outcome"]).toBe("unfinished");
  });

  it("without a name or with values of other types is made all the same; one without an id is activity", () => {
    const broken = (fields: object) => Object.assign(run.stepStart("s1"), fields);
    const nothing = JSON.parse('{ "step": null, "kind": 7, "input": 3 }');
    const end = Object.assign(run.stepError("s1"), JSON.parse('{ "envelope": null, "error": 5 }'));
    const step = stepOf(broken(nothing), end);
    expect(step).toMatchObject({ span: "step", status: "error" });
    const test = bench();
    test.at(0, run.started());
    test.at(1, broken({ step_id: "" }));
    test.at(2, run.complete());
    expect(test.spans()).toHaveLength(1);
  });
});

describe("what names a step", () => {
  /** Everything that can stand in a step, and a step in a call. */
  function play(options: TelemetryOptions = {}) {
    const test = bench(options);
    test.at(0, run.started());
    test.at(1, run.stepStart("s1", { step: "outer" }));
    test.at(2, run.modelStart("m1"), inStep("s1"));
    test.at(3, run.modelComplete("m1"));
    test.at(4, run.toolStart("call_1"), inStep("s1"));
    test.at(5, child.started("sub", RUN), inStep("s1", { parent_tool_use_id: "call_1" }));
    test.at(6, child.complete());
    test.at(7, run.stepStart("s2", { step: "docs", kind: "retrieval" }), {
      details: { step_id: "s1", tool_use_id: "call_1" },
    });
    test.at(8, run.stepComplete("s2", { step: "docs" }));
    test.at(9, run.toolComplete("call_1"));
    test.at(10, run.denied("call_2"), inStep("s1"));
    test.at(11, run.stepComplete("s1"));
    test.at(12, run.toolStart("call_3"), inStep("s1"));
    test.at(13, run.toolComplete("call_3"));
    test.at(14, run.complete());
    return test;
  }
  const names = (nodes: readonly SpanNode[]): unknown[] =>
    nodes.map((node) =>
      node.children.length === 0 ? node.span : [node.span, ...names(node.children)],
    );

  it("stands below it", () => {
    const test = play();
    expect(names(test.trees())).toEqual([
      [
        "invoke_agent react",
        [
          "step outer",
          "chat small-1",
          ["execute_tool fetch", "invoke_agent sub", "retrieval docs"],
          "execute_tool fetch",
          "execute_tool fetch",
        ],
      ],
    ]);
    expect(test.reports).toEqual([]);
  });

  it("stands where it stood before, without steps", () => {
    const test = play({ steps: false });
    expect(names(test.trees())).toEqual([
      [
        "invoke_agent react",
        "chat small-1",
        ["execute_tool fetch", "invoke_agent sub"],
        "execute_tool fetch",
        "execute_tool fetch",
      ],
    ]);
    expect(test.diagnostics().ignored).toMatchObject({ duplicate: 0, unknown_type: 0 });
  });

  it("with a foreign id generator stands below the open step, and below the run after its end", () => {
    const spans = collectSpans({ foreignIds: true });
    const sink = new Bridge({ tracerProvider: spans.provider, mode: "replay", onError: () => {} });
    const at = (time: number, event: AgentEvent, more: EventEnvelope = {}) =>
      void sink.send(event, { timestamp: second(time), ...more });
    at(0, run.started());
    at(1, run.stepStart("s1"));
    at(2, run.toolStart("call_1"), inStep("s1"));
    at(3, run.stepComplete("s1"));
    at(4, run.toolStart("call_2"), inStep("s1"));
    at(5, run.complete());
    const byStart = spans.spans().toSorted((a, b) => a.startTime[0] - b.startTime[0]);
    const ids = byStart.map((span) => span.spanContext().spanId);
    expect(byStart.map((span) => ids.indexOf(span.parentSpanContext?.spanId ?? ""))).toEqual([
      -1, 0, 1, 0,
    ]);
  });

  it("is nothing in a run that is not sampled", async () => {
    for (const mode of ["live", "replay"] as const) {
      const spans = collectSpans({ sampler: new AlwaysOffSampler() });
      const sink = new Bridge({ tracerProvider: spans.provider, mode, metrics: false });
      for (const event of [
        run.started(),
        run.stepStart("s1"),
        run.stepComplete("s1"),
        run.complete(),
      ]) {
        void sink.send(event);
      }
      expect(sink.diagnostics()).toMatchObject({ events: 4, spansOpened: 1, openRuns: 0 });
      expect(spans.spans()).toEqual([]);
      await sink.shutdown();
    }
  });
});

it("steps have no audit rows", async () => {
  const log = new MemorySessionLog();
  const spans = collectSpans();
  const bridge = new Bridge({ tracerProvider: spans.provider, mode: "replay", audit: log });
  const key = { tenant_id: "acme", thread_id: "t" };
  const events = [run.started(), run.stepStart("s1"), run.stepComplete("s1"), run.stepError("s2")];
  const rows: number[] = [];
  for (const event of events) {
    await bridge.send(event, { thread_id: "t" });
    rows.push((await log.loadSince(key, 0)).length);
  }
  expect(new Set(rows).size).toBe(1);
  await bridge.send(run.toolStart("t1"), { thread_id: "t" });
  expect(await log.loadSince(key, 0)).toHaveLength((rows[0] ?? 0) + 1);
});

describe("a recording of steps", () => {
  it.each([true, false])("replays to the identical spans (content %s)", async (content) => {
    const events: Sent[] = [
      [run.started()],
      [run.stepStart("a", { kind: "retrieval", input: "query" })],
      [run.toolStart("t1"), inStep("a")],
      [run.stepStart("b"), { details: { step_id: "a", tool_use_id: "t1" } }],
      [child.started("sub", RUN), inStep("b", { parent_tool_use_id: "t1" })],
      [run.modelComplete("m1", { duration_ms: 3 }), inStep("b")],
      [run.stepError("b", { error: "no" })],
      [child.complete()],
      [run.toolComplete("t1")],
      [run.stepComplete("a", { output: [{ id: "document" }] })],
      [run.stepStart("c")],
      [run.complete()],
    ];
    const { names, tape } = await recordedAndReplayed(events, { captureContent: content });
    expect(names).toEqual([
      "chat small-1",
      "step route",
      "invoke_agent sub",
      "execute_tool fetch",
      "retrieval route",
      "step route",
      "invoke_agent react",
    ]);
    expect(tape.includes("document")).toBe(content);
  });
});
