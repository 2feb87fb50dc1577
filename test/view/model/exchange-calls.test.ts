import { expect, it } from "vitest";
import type { ViewRun, ViewSpan } from "../../../src/view/format.ts";
import { callState } from "../../../src/view/model/call-state.ts";
import { exchangeOf } from "../../../src/view/model/exchange.ts";
import { runModel } from "../../../src/view/model/run-model.ts";
import { answerOf, asks, modelSpan, resultOf, userText } from "../support/exchange-spans.ts";
import { at, runDetail, runSpan, toolSpan, viewSpan } from "../support/view-span.ts";

const WHOLE = { from: 0, to: 100 };
const QUESTION = userText("Where is order 17?");

const itemsOf = (spans: readonly ViewSpan[]) => exchangeOf(runModel(runDetail(spans))).items;

it("an edited input that nests deeply is no error", () => {
  const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  const [call] = itemsOf([
    runSpan("run", undefined, WHOLE),
    toolSpan("t", "run", WHOLE, {
      attributes: {
        "entelix.approval.outcome": "edited",
        "entelix.approval.proposed_input": '{"a":1}',
        "gen_ai.tool.call.arguments": deep,
      },
    }),
  ]);
  expect(call).toMatchObject({
    decision: { change: "a 1 → (nested too deeply to be shown)" },
  });
});

it("a call without a span is open as long as its run is", () => {
  const model = modelSpan("m", 1, [QUESTION], [asks("c", "search", {})]);
  const stateOf = (run: Partial<ViewRun>, ...spans: readonly ViewSpan[]) => {
    const all = runDetail([...spans, model]);
    const detail = { ...all, run: { ...all.run, ...run } };
    const call = exchangeOf(runModel(detail)).items.find(({ kind }) => kind === "call");
    return call?.kind === "call" ? callState(call, detail.run) : undefined;
  };
  const open = { end_ns: null, outcome: "open" } as const;
  expect(stateOf(open)).toBe("open");
  expect(stateOf({})).toBe("not run");
  // The run of a sub-agent ends before that of the agent around it.
  expect(stateOf(open, runSpan("run", undefined, WHOLE))).toBe("not run");
  expect(stateOf(open, runSpan("run", undefined, { from: 0, to: null }))).toBe("open");
});

it("calls with one ID have the decisions of their own", () => {
  const call = (id: string, from: number, outcome: string) =>
    toolSpan(
      id,
      "run",
      { from, to: from + 1 },
      {
        attributes: { "gen_ai.tool.call.id": "call_0", "entelix.approval.outcome": outcome },
      },
    );
  const event = (from: number, outcome: string, person: string) => ({
    name: "entelix.approval",
    time_ns: at(from),
    attributes: {
      "gen_ai.tool.call.id": "call_0",
      "entelix.approval.outcome": outcome,
      "entelix.approval.person": person,
    },
  });
  const events = [event(1, "edited", "ann"), event(3, "denied", "bob")];
  const spans = [runSpan("run", undefined, WHOLE, { events }), call("t1", 2, "edited")];
  expect(itemsOf([...spans, call("t2", 4, "denied")])).toMatchObject([
    { decision: { outcome: "edited", person: "ann" } },
    { decision: { outcome: "denied", person: "bob" } },
  ]);
});

it("a call that was decided in a later segment does not wait any more", () => {
  const paused = runSpan(
    "s1",
    undefined,
    { from: 0, to: 10 },
    { attributes: { "entelix.run.outcome": "interrupted" } },
  );
  const model = modelSpan("m1", 1, [QUESTION], [asks("c1", "search", {})], {
    parent_span_id: "s1",
  });
  const waits = (spans: readonly ViewSpan[]) =>
    itemsOf(spans).flatMap((item) => (item.kind === "call" ? [item.waits] : []));
  expect(waits([paused, model])).toEqual([true]);
  const resumed = runSpan(
    "s2",
    undefined,
    { from: 50, to: 60 },
    { attributes: { "entelix.run.segment": 2 } },
  );
  const call = toolSpan(
    "t1",
    "s2",
    { from: 51, to: 52 },
    { attributes: { "gen_ai.tool.call.id": "c1" } },
  );
  expect(waits([paused, model, resumed, call])).toEqual([undefined]);
});

it("a span without an ID is not that of a call of an earlier turn, which has its result", () => {
  const history = [QUESTION, asks("c1", "search", { n: 1 }), resultOf("c1", "one")];
  const input = [...history, answerOf("One."), userText("And two?")];
  const [earlier, ...items] = itemsOf([
    runSpan("run", undefined, WHOLE),
    modelSpan("m1", 1, input, [asks("c2", "search", { n: 2 })]),
    toolSpan("t", "run", { from: 2, to: 3 }, { attributes: { "gen_ai.tool.call.result": "two" } }),
  ]);
  const old = earlier?.kind === "earlier" ? earlier.items[1] : undefined;
  expect(old).toMatchObject({ kind: "call", received: "one" });
  expect(old).not.toHaveProperty("result");
  const [call] = items.filter(({ kind }) => kind === "call");
  expect(call).toMatchObject({ result: "two", node: { id: "t" } });
});

it("failures of two branches with the same text are two, one that a span around repeats is one", () => {
  const failed = (id: string, parent: string | undefined, from: number) =>
    viewSpan(id, parent, { from, to: from + 5 }, { failed: true, message: "timeout" });
  const items = itemsOf([
    runSpan("run", undefined, WHOLE, { failed: true, message: "timeout" }),
    failed("one", "run", 1),
    failed("two", "run", 10),
  ]);
  expect(items.map((item) => [item.kind, item.kind === "error" && item.node.id])).toEqual([
    ["error", "one"],
    ["error", "two"],
  ]);
});

it.each([
  ["with one ID", { id: "call_0" }],
  ["without IDs", {}],
])("calls beside each other %s have their results in order", (_, id) => {
  const call = (order: number) => ({ type: "tool_call", ...id, name: "pay", arguments: { order } });
  const result = (response: string) => ({ type: "tool_call_response", ...id, response });
  const asked = { role: "assistant", parts: [call(1), call(2)] };
  const results = [
    [{ role: "tool", parts: [result("one"), result("two")] }],
    [
      { role: "tool", parts: [result("one")] },
      { role: "tool", parts: [result("two")] },
    ],
  ];
  for (const messages of results) {
    const items = itemsOf([
      modelSpan("a", 1, [QUESTION], [asked]),
      modelSpan("b", 2, [QUESTION, asked, ...messages], [answerOf("Paid.")]),
    ]);
    expect(items.filter(({ kind }) => kind === "call")).toMatchObject([
      { tool: "pay", received: "one" },
      { tool: "pay", received: "two" },
    ]);
    // The same in the history that a run continues.
    const [earlier] = itemsOf([
      modelSpan("b", 2, [QUESTION, asked, ...messages, answerOf("Paid.")], []),
    ]);
    expect(earlier?.kind === "earlier" && earlier.items).toMatchObject([
      { kind: "message" },
      { received: "one" },
      { received: "two" },
      { kind: "message" },
    ]);
  }
});

it("a call with the ID of an earlier turn has its own result", () => {
  const history = [QUESTION, asks("call_0", "pay", 1), resultOf("call_0", "one")];
  const second = [...history, asks("call_0", "pay", 2), resultOf("call_0", "two")];
  const items = itemsOf([
    modelSpan("a", 1, [QUESTION], [asks("call_0", "pay", 1)]),
    modelSpan("b", 2, history, [asks("call_0", "pay", 2)]),
    modelSpan("c", 3, second, [answerOf("Paid.")]),
  ]);
  const calls = items.filter(({ kind }) => kind === "call");
  expect(calls).toMatchObject([{ received: "one" }, { received: "two" }]);
});

it("a call that hands control to another agent is neither run nor waits for a decision", () => {
  const agent = (name: string, more = {}) => ({
    run_id: name,
    attributes: { "gen_ai.agent.name": name, ...more },
  });
  const paused = { "entelix.run.outcome": "interrupted" };
  const from = (name: string) => ({ ...paused, "entelix.handoff.from": name });
  const says = (id: string, run: string, at: number, tool: string) =>
    modelSpan(id, at, [QUESTION], [asks(`c-${id}`, tool, {})], {
      run_id: run,
      parent_span_id: run,
    });
  const items = itemsOf([
    runSpan("Triage", undefined, WHOLE, agent("Triage", paused)),
    says("m1", "Triage", 1, "transfer_to_Billing_Desk"),
    runSpan("Billing Desk", "Triage", { from: 2, to: 50 }, agent("Billing Desk", from("Triage"))),
    says("m2", "Billing Desk", 3, "transfer_to_Refunds"),
    runSpan("Refunds", "Triage", { from: 5, to: 50 }, agent("Refunds", from("Billing Desk"))),
    says("m3", "Refunds", 6, "refund"),
  ]);
  const [, handed, billing, refunds] = items;
  expect(handed).toMatchObject({ tool: "transfer_to_Billing_Desk", handoff: "Billing Desk" });
  expect(handed).not.toHaveProperty("waits");
  const inner = (item: typeof billing) =>
    item?.kind === "run" ? item.exchange.items[1] : undefined;
  expect(inner(billing)).toMatchObject({ tool: "transfer_to_Refunds", handoff: "Refunds" });
  expect(inner(billing)).not.toHaveProperty("waits");
  expect(inner(refunds)).toMatchObject({ tool: "refund", waits: true });
});

it("a call of the history that the resumed run makes is shown in this run, behind its input", () => {
  const asked = [
    QUESTION,
    asks("c1", "look_up", {}),
    resultOf("c1", "twice"),
    asks("c2", "refund", {}),
  ];
  const input = [...asked, { role: "tool", parts: [{ type: "text", content: "{}" }] }];
  const items = itemsOf([
    runSpan("run", undefined, WHOLE, {
      attributes: {
        "entelix.run.resumed_from": "paused",
        "gen_ai.input.messages": JSON.stringify(input),
      },
    }),
    toolSpan(
      "t",
      "run",
      { from: 5, to: 6 },
      { attributes: { "gen_ai.tool.call.id": "c2", "gen_ai.tool.name": "refund" } },
    ),
    modelSpan("m", 10, [...input, resultOf("c2", "refunded")], [answerOf("Done.")]),
  ]);
  const [earlier, resumed, refund, answer] = items;
  expect(earlier).toMatchObject({
    kind: "earlier",
    items: [{ kind: "message" }, { kind: "call", tool: "look_up" }],
  });
  expect(resumed).toMatchObject({ kind: "message", resumes: true });
  expect(refund).toMatchObject({ kind: "call", tool: "refund", received: "refunded" });
  expect(answer).toMatchObject({ kind: "message" });
  expect(items).toHaveLength(4);
});
