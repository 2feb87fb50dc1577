import { describe, expect, it } from "vitest";
import { lastOf, listed, messages, otherRuns, shown } from "../support/other-spans.ts";

// Each file has what a real instrumentation sent of an agent that looks up an order and fails to refund it, and of a
// second one whose model fails.

const LOOK_UP = 'tool look_up {"order":17} → Order 17 was sent on Monday.';
const REFUND = 'tool refund {"order":17} ✗ the ledger is closed';
const ANSWER = "output assistant: A colleague will refund order 17.";

/** The messages of the last model call, with the text of the tool's error as the model received it. */
function dialogue(error: string) {
  return [
    "input system: You help customers.",
    "input user: Where is order 17?",
    'input assistant: tool_call look_up call_1 {"order":17}',
    "input tool: tool_result  call_1 Order17wassentonMonday.",
    'input assistant: tool_call refund call_2 {"order":17}',
    `input tool: tool_result  call_2 ${error}`,
    ANSWER,
  ];
}

describe("OpenInference", () => {
  it("shows LangChain's agents, models and tools", async () => {
    const [run, failed, ...more] = await otherRuns("openinference-langchain");
    if (run === undefined || failed === undefined) throw new Error("expected two runs");
    expect(more).toEqual([]);
    expect(listed(run)).toEqual(["support", "complete", 1050, 63, undefined]);
    expect(run.spans.map(shown)).toEqual([
      "run support",
      "model gpt-4o-mini 300/20",
      "step tools",
      LOOK_UP,
      "model gpt-4o-mini 350/21",
      "step tools",
      REFUND,
      "model gpt-4o-mini 400/22",
    ]);
    const error = "Error:theledgerisclosedPleasefixyourmistakes.";
    expect(messages(lastOf(run.spans, "model"))).toEqual(dialogue(error));
    expect(messages(lastOf(run.spans, "run"))).toEqual(["input user: Where is order 17?", ANSWER]);
    for (const { attributes, vocabulary } of run.spans) {
      const { "gen_ai.conversation.id": conversation, "user.id": user } = attributes;
      expect([vocabulary, conversation, user]).toEqual(["OpenInference", "s-1", "ada"]);
    }
    expect(listed(failed)).toEqual(["support", "failed", undefined, undefined, undefined]);
    expect(failed.spans.map(shown)).toEqual([
      "run support ✗ 400 the model is away",
      "model gpt-4o-mini ✗ 400 the model is away",
    ]);
  });

  it("shows message and stack of an error apart", async () => {
    const [run] = await otherRuns("openinference-langchain");
    const failed = run?.spans.find((span) => span.failed);
    expect(failed?.events.map(({ attributes }) => attributes)).toEqual([
      {
        "exception.message": "the ledger is closed",
        "exception.stacktrace":
          "Error: the ledger is closed\n    at agent (file:///app/agent.mjs:1:1)\n    at run (file:///app/agent.mjs:2:1)",
      },
    ]);
  });

  it("shows a call of OpenAI's client as a run", async () => {
    const [run, ...more] = await otherRuns("openinference-openai");
    expect(more).toEqual([]);
    expect(run && listed(run)).toEqual([undefined, "complete", 400, 22, undefined]);
    expect(run?.spans.map(shown)).toEqual(["model gpt-4o-mini-2024-07-18 400/22"]);
    expect(messages(run?.spans[0])).toEqual(
      dialogue("Error:theledgerisclosed").map((text) =>
        text.replace("Order17wassentonMonday.", "sentonMonday"),
      ),
    );
  });
});

describe("Traceloop", () => {
  it("shows agents and tools of its decorators with the models of its instrumentations", async () => {
    const [run, ...more] = await otherRuns("traceloop");
    expect(more).toEqual([]);
    expect(run && listed(run)).toEqual(["support", "complete", 1050, 63, undefined]);
    expect(run?.spans.map(shown)).toEqual([
      "run support",
      "model gpt-4o-mini 300/20",
      'tool look_up {"order":17} → sent on Monday',
      "model gpt-4o-mini 350/21",
      "model gpt-4o-mini 400/22",
    ]);
    const [first] = run?.spans ?? [];
    expect(messages(first)).toEqual(["input user: Where is order 17?", ANSWER]);
    expect(first?.attributes).toMatchObject({
      "gen_ai.conversation.id": "s-1",
      "user.id": "ada",
    });
    expect(run?.spans.map(({ vocabulary }) => vocabulary)).toEqual([
      "Traceloop",
      "GenAI conventions",
      "Traceloop",
      "GenAI conventions",
      "GenAI conventions",
    ]);
  });

  it("shows graphs and tools of LangChain", async () => {
    const runs = await otherRuns("traceloop-langchain");
    // Outside of a workflow each of them has its own trace.
    expect(runs.map(({ spans }) => spans.map(shown))).toEqual([
      ["run CompiledStateGraph"],
      ['tool DynamicStructuredTool {"order":17} → Order 17 was sent on Monday.'],
      ['tool DynamicStructuredTool {"order":17} ✗ the ledger is closed'],
      ["run CompiledStateGraph ✗ 400 the model is away"],
    ]);
    expect(messages(runs[0]?.spans[0])).toEqual(["input user: Where is order 17?", ANSWER]);
  });
});

describe("Langfuse", () => {
  it("shows agents, models, tools, cost, and errors that the status does not have", async () => {
    const [run, ...more] = await otherRuns("langfuse");
    expect(more).toEqual([]);
    expect(run && listed(run)).toEqual(["support", "complete", 1353, 87, "0.0012"]);
    expect(run?.spans.map(shown)).toEqual([
      "run support",
      "model gpt-4o-mini-2024-07-18 300/20",
      'tool look_up {"order":17} → sent on Monday',
      "model gpt-4o-mini-2024-07-18 350/21",
      REFUND,
      "model gpt-4o-mini-2024-07-18 400/22",
      "model gpt-4o-mini 300/20",
      "model gpt-4o-mini $0 ✗ Error: 400 the model is away",
      "model gpt-4o-mini 3/4 $0.0012",
    ]);
    expect(messages(lastOf(run?.spans ?? [], "run"))).toEqual([
      "input user: Where is order 17?",
      ANSWER,
    ]);
    expect(messages(run?.spans[6])).toEqual([
      "input system: You help customers.",
      "input user: Where is order 17?",
      'output assistant: tool_call look_up  {"order":17}',
    ]);
    for (const { attributes, vocabulary } of run?.spans ?? []) {
      const { "gen_ai.conversation.id": conversation, "user.id": user } = attributes;
      expect([vocabulary, conversation, user]).toEqual(["Langfuse", "s-1", "ada"]);
    }
  });

  it("shows LangChain's agents", async () => {
    const [run, failed, ...more] = await otherRuns("langfuse-langchain");
    if (run === undefined || failed === undefined) throw new Error("expected two runs");
    expect(more).toEqual([]);
    expect(listed(run)).toEqual(["support", "complete", 1050, 63, undefined]);
    expect(run.spans.map(shown)).toEqual([
      "run support",
      "model gpt-4o-mini-2024-07-18 300/20",
      LOOK_UP,
      "model gpt-4o-mini-2024-07-18 350/21",
      'tool refund {"order":17} ✗ Error: the ledger is closed',
      "model gpt-4o-mini-2024-07-18 400/22",
    ]);
    expect(messages(lastOf(run.spans, "run"))).toEqual(["input user: Where is order 17?", ANSWER]);
    expect(listed(failed)).toEqual(["support", "failed", undefined, undefined, undefined]);
    expect(failed.spans.map(({ message }) => message?.split("\n")[0])).toEqual([
      "Error: 400 the model is away",
      "Error: 400 the model is away",
    ]);
  });
});

describe("the AI SDK", () => {
  it.each(["ai-sdk-5", "ai-sdk-6"])("shows %s", async (name) => {
    const [run, failed, ...more] = await otherRuns(name);
    if (run === undefined || failed === undefined) throw new Error("expected two runs");
    expect(more).toEqual([]);
    expect(listed(run)).toEqual(["support", "complete", 1050, 63, undefined]);
    expect(run.spans.map(shown)).toEqual([
      "run support",
      "model gpt-4o-mini 300/20",
      LOOK_UP,
      "model gpt-4o-mini 350/21",
      REFUND,
      "model gpt-4o-mini 400/22",
    ]);
    expect(messages(lastOf(run.spans, "model"))).toEqual(dialogue("theledgerisclosed"));
    expect(messages(lastOf(run.spans, "run"))).toEqual([
      "input system: You help customers.",
      "input user: Where is order 17?",
      ANSWER,
    ]);
    for (const { attributes, vocabulary } of run.spans) {
      const { "gen_ai.conversation.id": conversation, "user.id": user } = attributes;
      expect([vocabulary, conversation, user]).toEqual(["AI SDK", "s-1", "ada"]);
    }
    expect(listed(failed)).toEqual(["support", "failed", undefined, undefined, undefined]);
    expect(failed.spans.map(shown).sort()).toEqual([
      "model gpt-4o-mini ✗ the model is away",
      "run support ✗ the model is away",
    ]);
  });

  it("shows version 7, which has the names of the conventions", async () => {
    const [run, failed, ...more] = await otherRuns("ai-sdk-7");
    if (run === undefined || failed === undefined) throw new Error("expected two runs");
    expect(more).toEqual([]);
    expect(listed(run)).toEqual(["support", "complete", 1050, 63, undefined]);
    expect(run.spans.map(shown).filter((text) => !text.startsWith("step"))).toEqual([
      "run support",
      "model gpt-4o-mini 300/20",
      'tool look_up {"order":17} → "Order 17 was sent on Monday."',
      "model gpt-4o-mini 350/21",
      REFUND,
      "model gpt-4o-mini 400/22",
    ]);
    const [, ...said] = dialogue("Error:theledgerisclosed");
    const instructions = "instructions system: You help customers.";
    expect(messages(lastOf(run.spans, "model"))).toEqual([instructions, ...said]);
    expect(listed(failed)).toEqual(["support", "failed", undefined, undefined, undefined]);
    expect(lastOf(failed.spans, "model")?.message).toBe("the model is away");
  });
});

describe("content", () => {
  it.each([
    "openinference-langchain",
    "openinference-openai",
    "traceloop",
    "traceloop-langchain",
    "langfuse",
    "langfuse-langchain",
    "ai-sdk-5",
    "ai-sdk-6",
    "ai-sdk-7",
  ])("is left out of the spans of %s, whose figures stay", async (name) => {
    const [withAll, without] = await Promise.all([otherRuns(name), otherRuns(name, false)]);
    expect(JSON.stringify(withAll)).toMatch(CONTENT);
    expect(JSON.stringify(without)).not.toMatch(CONTENT);
    expect(without.map(listed)).toEqual(withAll.map(listed));
    const names = (runs: typeof without) =>
      runs.flatMap(({ spans }) => spans.map(({ failed, kind, name }) => [kind, name, failed]));
    expect(names(without)).toEqual(names(withAll));
  });
});

/** Questions, answers, system texts, inputs and outputs of tools, errors, stacks. */
const CONTENT =
  /Where is|You help|on Monday|colleague|\\"order\\"|ledger|break it|model is away|agent\.mjs/;
