import {
  Annotation,
  Command,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { ASKED, plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

const look = plainTool("look", () => "seen");
const looks = (id: string) => reactAgent([says("", ["look", id]), says("done")], [look]);

describe("a graph that sends several tasks to one node", () => {
  it("has the agent of each below the step of its task", async () => {
    const seen = observe({}, true);
    const State = Annotation.Root({ job: Annotation<string>() });
    const graph = new StateGraph(State)
      .addNode("plan", () => ({}))
      .addNode("work", async ({ job }, config) => {
        await looks(job).invoke(ASKED, config);
        return {};
      })
      .addEdge(START, "plan")
      .addConditionalEdges("plan", () => ["a", "b", "c"].map((job) => new Send("work", { job })))
      .compile({ name: "outer" });
    await run(seen, graph, { job: "" });
    const inner = [
      "    invoke_agent support complete",
      "      step agent complete",
      "        chat small-1 complete",
      "      step tools complete",
      "        execute_tool look complete",
      "      step agent complete",
      "        chat small-1 complete",
    ];
    const task = ["  step work complete", ...inner];
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  step plan complete",
      ...[...task, ...task, ...task],
    ]);
    // Each agent's tool has the call that was asked for in it.
    const asked = seen.of("tool_start").map(({ event }) => [event.run_id, event.tool_use_id]);
    expect(new Set(asked.map(([id]) => id)).size).toBe(3);
    expect(asked.map(([, call]) => call).sort()).toEqual(["a", "b", "c"]);
  });
});

describe("a handover to the graph above", () => {
  it("beside another call of the answer leaves both calls complete, in their agent", async () => {
    const seen = observe();
    const leave = plainTool("leave", () => new Command({ goto: "second", graph: Command.PARENT }));
    const model = new ScriptedModel([says("", ["leave", "h1"], ["look", "h2"])]);
    const first = new StateGraph(MessagesAnnotation)
      .addNode("ask", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode("tools", new ToolNode([leave, look]))
      .addEdge(START, "ask")
      .addEdge("ask", "tools")
      .compile({ name: "first" });
    const answers = new ScriptedModel([says("here")]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("first", first, { ends: ["second"] })
      .addNode("second", async () => ({ messages: [await answers.invoke("hi")] }))
      .addEdge(START, "first")
      .compile({ name: "outer" });
    await run(seen, graph);
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  invoke_agent first complete",
      "    chat small-1 complete",
      "    execute_tool leave complete",
      "    execute_tool look complete",
      "  chat small-1 complete",
    ]);
    expect(seen.errors).toEqual([]);
  });
});
