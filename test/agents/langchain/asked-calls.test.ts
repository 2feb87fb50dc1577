import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { ASKED, add, oneNodeGraph, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

const told = (seen: ReturnType<typeof observe>) =>
  seen.of("tool_error").map(({ event }) => [event.tool, event.envelope.wire_code]);

const refused = (tool_call_id: string, content: string, status?: "error") =>
  new ToolMessage({ tool_call_id, content, ...(status === undefined ? {} : { status }) });

/** A loop of one's own, whose run returns only a text. It answers the first call with these messages. */
async function loop(asks: AIMessage, answers: readonly BaseMessage[], before: BaseMessage[] = []) {
  const seen = observe();
  const model = new ScriptedModel([asks, says("done")]);
  const chain = RunnableLambda.from(async (question: string) => {
    const messages = [...before, new HumanMessage(question)];
    messages.push(await model.invoke(messages), ...answers);
    return (await model.invoke(messages)).content;
  });
  await run(seen, chain, "hi");
  expect(seen.of("complete")).toHaveLength(1);
  return seen;
}

it("a call of an answer before a pause that the resumed graph does not make is a failed call", async () => {
  const seen = observe();
  const script = [says("", ["add", "c1", { a: "no" }], ["add", "c2", { a: 1, b: 2 }]), says("3")];
  const agent = reactAgent(script, [add], {
    checkpointer: new MemorySaver(),
    interruptBefore: ["tools"],
  });
  const thread = { configurable: { thread_id: "t1" } };
  await run(seen, agent, ASKED, thread);
  expect(told(seen)).toEqual([]);
  await run(seen, agent, null, thread);
  expect(told(seen)).toEqual([["add", "tool_input_invalid"]]);
  // A later turn of the thread has the answered calls in its state.
  const later = reactAgent([says("again")], [add]);
  const { messages } = await agent.getState(thread).then(({ values }) => values);
  await run(seen, later, { messages: [...messages, new HumanMessage("and?")] });
  expect(told(seen)).toHaveLength(1);
});

describe("a call that the code of a run answers itself", () => {
  it.each([
    ["an error", "no such order", "error", "tool_not_called"],
    [
      "the text of AgentExecutor",
      "nope is not a valid tool, try another one.",
      undefined,
      "tool_unknown",
    ],
    [
      "the text of toolStrategy",
      "Failed to parse structured output for tool 'nope':\n  - city is invalid.",
      undefined,
      "tool_input_invalid",
    ],
    [
      "the text of toolStrategy about two answers",
      "The model has called multiple tools: a, b to return a structured output.",
      undefined,
      "tool_not_called",
    ],
  ] as const)("with %s is known from the next request", async (_, text, status, code) => {
    const asks = says("", ["nope", "c1"]);
    expect(told(await loop(asks, [refused("c1", text, status)]))).toEqual([["nope", code]]);
  });

  it("with a result is no failure", async () => {
    expect(told(await loop(says("", ["nope", "c1"]), [refused("c1", "from the cache")]))).toEqual(
      [],
    );
  });

  it("is not the one with its ID that an older message answers", async () => {
    const before = [
      new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "nope", args: {} }] }),
      refused("c1", "no such order", "error"),
    ];
    const seen = await loop(says("", ["nope", "c1"]), [refused("c1", "fine")], before);
    expect(told(seen)).toEqual([]);
  });
});

describe("a call whose input is not JSON", () => {
  it("stands below the step of its answer", async () => {
    const seen = observe({}, true);
    const unreadable = new AIMessage({
      content: "",
      invalid_tool_calls: [{ type: "invalid_tool_call", id: "c1", name: "add", args: "{" }],
    });
    const model = new ScriptedModel([unreadable]);
    await run(
      seen,
      oneNodeGraph("one", async () => ({ messages: [await model.invoke("hi")] })),
    );
    expect(told(seen)).toEqual([["add", "tool_input_invalid"]]);
    expect(seen.tree()).toEqual([
      "invoke_agent one complete",
      "  step work complete",
      "    chat small-1 complete",
      "    execute_tool add error validation !",
    ]);
  });
});
