import { RunnableLambda, RunnableSequence } from "@langchain/core/runnables";
import {
  Annotation,
  Command,
  END,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { tellsBatchErrors } from "./abilities.ts";
import { ASKED, add, oneNodeGraph, plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, StreamingModel, says } from "./scripted-model.ts";

describe("parallel", () => {
  it("tools are open at once", async () => {
    const seen = observe();
    const asks = says("", ["add", "call_1", { a: 1, b: 2 }], ["add", "call_2", { a: 3, b: 4 }]);
    await run(seen, reactAgent([asks, says("3 and 7")], [add]));
    expect(seen.lines().slice(3, 7)).toEqual([
      "tool_start add",
      "tool_start add",
      "tool_complete add",
      "tool_complete add",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool add complete",
      "  execute_tool add complete",
      "  chat small-1 complete",
    ]);
  });

  it("branches belong to the one run", async () => {
    const seen = observe();
    const State = Annotation.Root({
      x: Annotation<number>(),
      sums: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const graph = new StateGraph(State)
      .addNode("work", async ({ x }, config) => ({
        sums: [await add.invoke({ a: x, b: 1 }, config)],
      }))
      .addConditionalEdges(START, () => [1, 2].map((x) => new Send("work", { x })))
      .addEdge("work", END)
      .compile({ name: "fan" });
    await run(seen, graph, {});
    expect(seen.tree()).toEqual([
      "invoke_agent fan complete",
      "  execute_tool add complete",
      "  execute_tool add complete",
    ]);
    const ids = seen.of("tool_start").map(({ event }) => event.tool_use_id);
    expect(new Set(ids).size).toBe(2);
  });

  it("invocations of a batch are runs of their own", async () => {
    const seen = observe();
    const chain = RunnableLambda.from(async (x: number, config) =>
      add.invoke({ a: x, b: 1 }, config),
    );
    await chain.batch([1, 2], { callbacks: [seen.handler], runName: "one" });
    expect(seen.tree()).toEqual([
      "invoke_agent one complete",
      "  execute_tool add complete",
      "invoke_agent one complete",
      "  execute_tool add complete",
    ]);
  });
});

describe("a batch that returns exceptions", () => {
  it("is a failed run of each input that failed", async () => {
    const seen = observe();
    const model = new ScriptedModel([
      says("1"),
      Object.assign(new Error("too fast"), { status: 429 }),
    ]);
    const chain = RunnableSequence.from([(x: string) => x, model]);
    const config = { callbacks: [seen.handler], maxConcurrency: 1, runName: "one" };
    const answers = await chain.batch(["a", "b"], config, { returnExceptions: true });
    expect(answers[1]).toBeInstanceOf(Error);
    expect(seen.tree()).toEqual([
      "invoke_agent one complete",
      "  chat small-1 complete",
      `invoke_agent one ${tellsBatchErrors ? "failed model_dispatch !" : "complete"}`,
      "  chat small-1 error !",
    ]);
  });
});

describe("nested agents", () => {
  it("a graph that is a node is a child run", async () => {
    const seen = observe();
    const model = new ScriptedModel([says("found")]);
    const inner = oneNodeGraph("researcher", async ({ messages }) => ({
      messages: [await model.invoke(messages)],
    }));
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", inner)
      .addEdge(START, "ask")
      .addEdge("ask", END)
      .compile({ name: "lead" });
    await run(seen, graph);
    expect(seen.tree()).toEqual([
      "invoke_agent lead complete",
      "  invoke_agent researcher complete",
      "    chat small-1 complete",
    ]);
    const [lead, researcher] = seen.of("started");
    expect(researcher?.event.parent_run_id).toBe(lead?.event.run_id);
    expect(researcher?.envelope.root_run_id).toBe(lead?.event.run_id);
  });

  it("a graph that a tool runs is a child run under the tool call", async () => {
    const seen = observe();
    const inner = oneNodeGraph("researcher", async (_, config) => {
      await add.invoke({ a: 1, b: 1 }, config);
      return { messages: [says("found")] };
    });
    const ask = plainTool("ask_researcher", async (config) => {
      await inner.invoke({ messages: [] }, config);
      return "found";
    });
    await run(seen, reactAgent([says("", ["ask_researcher", "call_1"]), says("done")], [ask]));
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool ask_researcher complete",
      "    invoke_agent researcher complete",
      "      execute_tool add complete",
      "  chat small-1 complete",
    ]);
    const [asked] = seen.of("tool_start");
    expect(seen.of("started")[1]?.envelope.parent_tool_use_id).toBe(asked?.event.tool_use_id);
  });

  it("a graph that hands over to the one above is complete", async () => {
    const seen = observe();
    const inner = new StateGraph(MessagesAnnotation)
      .addNode("leave", () => new Command({ goto: "after", graph: Command.PARENT }))
      .addEdge(START, "leave")
      .compile({ name: "researcher" });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", inner, { ends: ["after"] })
      .addNode("after", () => ({}))
      .addEdge(START, "ask")
      .compile({ name: "lead" });
    await run(seen, graph);
    expect(seen.lines()).toEqual(["started lead", "started researcher", "complete", "complete"]);
  });
});

describe("streaming", () => {
  it("tells when the first words came, and the usage once", async () => {
    const seen = observe();
    const model = new StreamingModel([says("all is well")]);
    const graph = oneNodeGraph("streamer", async ({ messages }) => ({
      messages: [await model.invoke(messages)],
    }));
    const stream = await graph.stream(ASKED, {
      callbacks: [seen.handler],
      streamMode: "messages",
    });
    for await (const _ of stream);
    expect(seen.tree()).toEqual(["invoke_agent streamer complete", "  chat small-1 complete"]);
    const [complete] = seen.of("model_complete");
    expect(complete?.event.first_output_ms).toBeGreaterThanOrEqual(0);
    expect(complete?.event.usage).toMatchObject({ input_tokens: 10, output_tokens: 5 });
  });
});
