import { describe, expect, it } from "vitest";
import type { RunDetail, ViewSpan } from "../../../src/view/format.ts";
import { exchangeOf, hasExchange, hasTexts } from "../../../src/view/model/exchange.ts";
import type { ExchangeItem } from "../../../src/view/model/exchange-items.ts";
import { runModel } from "../../../src/view/model/run-model.ts";
import { answerOf, asks, modelSpan, resultOf, said, userText } from "../support/exchange-spans.ts";
import { at, runDetail, runSpan, toolSpan, viewRow, viewSpan } from "../support/view-span.ts";

const WHOLE = { from: 0, to: 100 };

function itemsOf(spans: readonly ViewSpan[], rest: Partial<RunDetail> = {}) {
  return exchangeOf(runModel(runDetail(spans, rest))).items;
}

/** An item in a line. */
function line(item: ExchangeItem): string {
  switch (item.kind) {
    case "message": {
      const text = item.message.parts.map((part) => part.text).join(" ");
      return `${item.resumes ? "resumes " : ""}${item.message.role}: ${text}`;
    }
    case "call": {
      const { decision, input, node, received, result, runs, tool, waits } = item;
      const parts = [
        `${tool}(${(input ?? "").replace(/\s+/g, "")})`,
        decision && `${decision.person ?? decision.by} ${decision.outcome} ${decision.waitMs}`,
        ...runs.map(line),
        node === undefined ? "no span" : node.id,
        result !== undefined && `= ${result}`,
        received !== undefined && `~ ${received}`,
        waits && "waits",
      ];
      return parts.filter(Boolean).join(" | ");
    }
    case "decision":
      return `${item.decision.by} ${item.decision.outcome} ${item.tool}`;
    case "error":
      return `${item.isRetried ? "retried" : "failed"}: ${item.attempts.join(", ")}`;
    case "wait":
      return `wait ${item.ms ?? item.asked}`;
    case "retrieval":
      return `retrieval ${item.query}: ${item.documents}`;
    case "run":
      return `run ${item.node.id} [${item.exchange.items.map(line).join("; ")}]`;
    case "earlier":
      return `earlier [${item.items.map(line).join("; ")}]`;
    case "note":
      return item.text;
    case "state":
      return `state ${item.text}`;
    default:
      return item satisfies never;
  }
}

const SYSTEM = said("system", "Be brief.");
const QUESTION = userText("Where is order 17?");

describe("the conversation of a run", () => {
  it("has system text, question, call with its result, and answer once each; the state is last", () => {
    const asked = asks("c1", "search", { order: 17 });
    const end = answerOf("Delivered.");
    const items = itemsOf([
      runSpan("run", undefined, WHOLE, {
        attributes: {
          "gen_ai.input.messages": JSON.stringify([QUESTION]),
          "gen_ai.output.messages": JSON.stringify([{ ...end, name: "planner" }]),
          "entelix.run.state": '{"n":1}',
        },
      }),
      modelSpan("m1", 1, [SYSTEM, QUESTION], [{ ...asked, finish_reason: "tool_calls" }]),
      toolSpan(
        "t1",
        "run",
        { from: 2, to: 3 },
        {
          attributes: {
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"order":17}',
            "gen_ai.tool.call.result": "delivered",
          },
        },
      ),
      modelSpan("m2", 4, [SYSTEM, QUESTION, asked, resultOf("c1", "delivered")], [end]),
    ]);
    expect(items.map(line)).toEqual([
      "system: Be brief.",
      "user: Where is order 17?",
      'search({"order":17}) | t1 | = delivered | ~ delivered',
      "assistant: Delivered.",
      'state {\n  "n": 1\n}',
    ]);
  });

  it("joins calls with their spans by ID, in any order, and by tool without an ID", () => {
    const tool = (id: string, from: number, callId: string) =>
      toolSpan(
        id,
        "run",
        { from, to: from + 1 },
        {
          attributes: callId === "" ? {} : { "gen_ai.tool.call.id": callId },
        },
      );
    const answer = (...ids: readonly string[]) => [
      {
        role: "assistant",
        parts: ids.map((id) => ({ type: "tool_call", id, name: "search", arguments: {} })),
      },
    ];
    const items = itemsOf([
      runSpan("run", undefined, WHOLE),
      tool("early", 0.5, "c0"),
      modelSpan("m1", 1, [], answer("c0", "c1", "c2", "")),
      tool("second", 3, "c2"),
      tool("first", 4, "c1"),
      tool("nameless", 5, ""),
      tool("unasked", 6, "c9"),
    ]);
    expect(items.map(line)).toEqual([
      "search({}) | early",
      "search({}) | first",
      "search({}) | second",
      "search({}) | nameless",
      "search() | unasked",
    ]);
  });

  it("finds the span of a call by the tool, if only the messages have IDs", () => {
    const tool = (id: string, from: number) => toolSpan(id, "run", { from, to: from + 1 });
    const items = itemsOf([
      runSpan("run", undefined, WHOLE),
      modelSpan("m1", 1, [], [asks("c1", "search", { n: 1 }), asks("c2", "search", { n: 2 })]),
      tool("first", 2),
      tool("second", 3),
      tool("third", 4),
      modelSpan(
        "m2",
        6,
        [{ role: "search", parts: [{ type: "text", content: "found" }] }],
        [asks("c3", "search", { n: 3 })],
      ),
    ]);
    expect(items.map(line)).toEqual([
      'search({"n":1}) | first',
      'search({"n":2}) | second',
      'search({"n":3}) | third | ~ found',
    ]);
  });

  it("does not show the answer of a run again that has the calls of its models, too", () => {
    const call = { type: "tool_call", id: "c1", name: "search", arguments: {} };
    const text = { type: "text", content: "Found." };
    const items = itemsOf([
      runSpan("run", undefined, WHOLE, {
        attributes: {
          "gen_ai.output.messages": JSON.stringify([
            { role: "assistant", parts: [text, call] },
            { role: "assistant", parts: [{ type: "text", content: "And this." }] },
          ]),
        },
      }),
      modelSpan("m1", 1, [], [{ role: "assistant", parts: [call] }]),
      modelSpan("m2", 2, [], [{ role: "assistant", parts: [text] }]),
    ]);
    expect(items.map(line)).toEqual([
      "search({}) | no span",
      "assistant: Found.",
      "assistant: And this.",
    ]);
  });

  it("has who decided about a call, after which wait, and what was edited", () => {
    const call = (id: string, attributes: ViewSpan["attributes"]) =>
      toolSpan(
        id,
        "run",
        { from: 5, to: 6 },
        {
          attributes: { "gen_ai.tool.call.id": id, ...attributes },
        },
      );
    const rows = [
      viewRow(1, {
        kind: "entelix.tool_call_decided",
        event: {
          tool_use_id: "c2",
          name: "search",
          decision: "denied",
          by: "policy",
          reason: "No.",
        },
      }),
    ];
    const event = (id: string) => ({
      name: "entelix.approval",
      time_ns: at(4),
      attributes: {
        "entelix.approval.outcome": "approved",
        "entelix.approval.by": "user",
        "entelix.approval.person": "ann",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": id,
      },
    });
    const items = itemsOf(
      [
        runSpan("run", undefined, WHOLE, { events: [event("c1"), event("gone")] }),
        call("c1", {
          "entelix.approval.outcome": "edited",
          "entelix.approval.by": "user",
          "entelix.approval.wait_ms": 1200,
          "entelix.approval.proposed_input": '{"euros":41.9,"order":17,"note":"x"}',
          "gen_ai.tool.call.arguments": '{"euros":20,"order":17,"fast":true}',
        }),
        call("c2", { "entelix.tool.outcome": "denied" }),
      ],
      { rows },
    );
    const [lonely, edited, denied] = items;
    expect(lonely && line(lonely)).toBe("user approved search");
    expect(edited).toMatchObject({
      decision: {
        outcome: "edited",
        person: "ann",
        waitMs: 1200,
        change: "euros 41.9 → 20, note x → nothing, fast nothing → true",
      },
    });
    expect(denied).toMatchObject({ decision: { outcome: "denied", by: "policy", reason: "No." } });
  });

  it("folds the attempts of a model call, also those within a span, and says why the last failed", () => {
    const retries = {
      events: [
        { name: "entelix.retry", time_ns: at(5), attributes: { "entelix.error.message": "503" } },
      ],
      attributes: { "entelix.retry.count": 2 },
    };
    const items = itemsOf([
      runSpan("run", undefined, WHOLE, { failed: true, message: "429 slow down" }),
      modelSpan("m1", 1, [QUESTION], undefined),
      modelSpan("m2", 2, [QUESTION], undefined),
      modelSpan("m3", 3, [QUESTION], [answerOf("Soon.")], retries),
      modelSpan("m4", 7, [QUESTION, answerOf("Soon."), userText("When?")], undefined),
    ]);
    expect(items.map(line)).toEqual([
      "user: Where is order 17?",
      "retried: 429 slow down, 429 slow down, 503, ",
      "assistant: Soon.",
      "user: When?",
      "failed: 429 slow down",
    ]);
  });

  it("folds the failed attempts of a tool call, if the model did not ask again", () => {
    const call = (id: string, from: number, failed: boolean, callId = "c1") =>
      toolSpan(
        id,
        "run",
        { from, to: from + 1 },
        {
          failed,
          ...(failed ? { message: `no ${id}` } : {}),
          attributes: { "gen_ai.tool.call.id": callId },
        },
      );
    const items = itemsOf([
      runSpan("run", undefined, WHOLE),
      call("t1", 1, true),
      call("t2", 2, true),
      call("t3", 3, false),
      call("t4", 5, true, "c2"),
      call("t5", 6, true, "c3"),
    ]);
    const attempts = items.map((item) =>
      item.kind === "call" ? [item.node?.id, ...item.attempts.map(({ id }) => id)] : [],
    );
    expect(attempts).toEqual([["t3", "t1", "t2"], ["t4"], ["t5"]]);
  });

  it("shows an error once, where it arose", () => {
    const failed = { failed: true, message: "no disk" };
    const items = itemsOf([
      runSpan("run", undefined, WHOLE, failed),
      viewSpan("step", "run", { from: 1, to: 9 }, failed),
      toolSpan("t1", "step", { from: 2, to: 3 }, failed),
      viewSpan("other step", "run", { from: 10, to: 11 }, { failed: true, message: "bad node" }),
    ]);
    expect(items.map(line)).toEqual(["search() | t1", "failed: bad node"]);
  });

  it("says what a paused run waits for, and how long a pause was", () => {
    const paused = runSpan(
      "s1",
      undefined,
      { from: 0, to: 10 },
      {
        attributes: {
          "entelix.run.outcome": "interrupted",
          "entelix.interruption.payload": '"ok?"',
          "gen_ai.output.messages": JSON.stringify([answerOf("ok?")]),
        },
      },
    );
    const resumed = runSpan(
      "s2",
      undefined,
      { from: 1210, to: 1300 },
      {
        attributes: {
          "entelix.run.segment": 2,
          "gen_ai.input.messages": JSON.stringify([userText("Yes.")]),
        },
      },
    );
    const model = modelSpan("m1", 1, [QUESTION], [asks("c1", "search", {})], {
      parent_span_id: "s1",
    });
    expect(itemsOf([paused, model]).map(line)).toEqual([
      "user: Where is order 17?",
      "search({}) | no span | waits",
      'wait "ok?"',
    ]);
    expect(itemsOf([paused, model, resumed]).map(line)).toEqual([
      "user: Where is order 17?",
      "search({}) | no span | waits",
      'wait "ok?"',
      "wait 1200",
      "resumes user: Yes.",
    ]);
  });

  it("of a run that continues another one begins with the messages from before it", () => {
    const history = [
      QUESTION,
      asks("c1", "search", { n: 1 }),
      resultOf("c1", "one"),
      asks("c2", "refund", { n: 2 }),
    ];
    const items = itemsOf([
      runSpan("run", undefined, WHOLE, {
        attributes: {
          "entelix.run.resumed_from": "earlier run",
          "gen_ai.input.messages": JSON.stringify([userText('{"type":"edit"}')]),
        },
      }),
      toolSpan(
        "t2",
        "run",
        { from: 2, to: 3 },
        {
          attributes: { "gen_ai.tool.name": "refund", "gen_ai.tool.call.id": "c2" },
        },
      ),
      modelSpan("m1", 4, [SYSTEM, ...history, resultOf("c2", "done")], [answerOf("Done.")]),
      modelSpan(
        "m2",
        5,
        [SYSTEM, ...history, resultOf("c2", "done"), answerOf("Done."), userText("Ok")],
        [answerOf("Bye.")],
      ),
    ]);
    expect(items.map(line)).toEqual([
      "system: Be brief.",
      'earlier [user: Where is order 17?; search({"n":1}) | no span | ~ one]',
      'resumes user: {"type":"edit"}',
      'refund({"n":2}) | t2 | ~ done',
      "assistant: Done.",
      "user: Ok",
      "assistant: Bye.",
    ]);
  });

  it("folds sub-agents: in the call that runs them, else where they began", () => {
    const sub = (id: string, parent: string, from: number) =>
      runSpan(id, parent, { from, to: from + 1 }, { run_id: id });
    const answer = (id: string, parent: string, from: number, text: string) =>
      modelSpan(id, from, [userText(`ask ${id}`)], [answerOf(text)], { parent_span_id: parent });
    const items = itemsOf([
      runSpan("run", undefined, WHOLE),
      toolSpan("t1", "run", { from: 1, to: 9 }),
      viewSpan("step", "t1", { from: 1, to: 9 }),
      sub("a", "step", 2),
      answer("m1", "a", 2.1, "one"),
      sub("b", "run", 10),
      answer("m2", "b", 10.1, "two"),
    ]);
    expect(items.map(line)).toEqual([
      "search() | run a [user: ask m1; assistant: one] | t1",
      "run b [user: ask m2; assistant: two]",
    ]);
  });

  it("has retrievals, handoffs and compactions", () => {
    const event = (name: string, ms: number, attributes: ViewSpan["attributes"]) => ({
      name,
      time_ns: at(ms),
      attributes,
    });
    const items = itemsOf([
      runSpan("run", undefined, WHOLE, {
        events: [
          event("entelix.handoff", 5, { "entelix.handoff.from": "a", "entelix.handoff.to": "b" }),
          event("entelix.context_compacted", 6, {
            "entelix.compaction.original_count": 40,
            "entelix.compaction.new_count": 3,
          }),
          event("entelix.checkpoint", 7, {}),
        ],
      }),
      viewSpan(
        "r",
        "run",
        { from: 1, to: 2 },
        {
          attributes: {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "law",
            "gen_ai.retrieval.documents": "[]",
          },
        },
      ),
    ]);
    expect(items.map(line)).toEqual([
      "retrieval law: []",
      "Handoff from a to b",
      "The context was compacted: 40 messages became 3",
    ]);
  });

  it("without content has calls, decisions and answers without their texts", () => {
    const bare = viewSpan("m1", "run", { from: 1, to: 2 }, { kind: "model", name: "chat x" });
    const spans = [
      runSpan("run", undefined, WHOLE),
      bare,
      toolSpan("t1", "run", { from: 3, to: 4 }),
      viewSpan(
        "e1",
        "run",
        { from: 5, to: 6 },
        {
          kind: "model",
          attributes: { "gen_ai.operation.name": "embeddings" },
        },
      ),
    ];
    const model = runModel(runDetail(spans));
    expect(exchangeOf(model).items.map(line)).toEqual(["assistant: ", "search() | t1"]);
    expect([hasExchange(model), hasTexts(model)]).toEqual([true, false]);
    const bareModel = runModel(runDetail([runSpan("run", undefined, WHOLE), bare]));
    expect([hasExchange(bareModel), hasTexts(bareModel)]).toEqual([false, false]);
  });
});
