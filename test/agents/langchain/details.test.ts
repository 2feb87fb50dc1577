import type { CallbackManagerForRetrieverRun } from "@langchain/core/callbacks/manager";
import { Document } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import { RunnableLambda } from "@langchain/core/runnables";
import { StructuredTool } from "@langchain/core/tools";
import { Command, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { tellsCallIds } from "./abilities.ts";
import { plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

describe("a tool that is a class", () => {
  it("has the name that the model asked for, where the id of the call is told", async () => {
    class Search extends StructuredTool {
      name = "web_search";
      description = "searches";
      schema = z.object({});
      async _call() {
        return "found";
      }
    }
    const seen = observe();
    const llm = new ScriptedModel([says("", ["web_search", "call_1"])]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("agent", async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
      .addNode("tools", new ToolNode([new Search()]))
      .addEdge(START, "agent")
      .addEdge("agent", "tools")
      .addEdge("tools", END)
      .compile({ name: "support" });
    await run(seen, graph);
    expect(seen.of("tool_start")[0]?.event.tool).toBe(tellsCallIds ? "web_search" : "Search");
  });
});

describe("a tool that answers with a command", () => {
  it("is complete, with the command as its output", async () => {
    const seen = observe();
    const move = plainTool("move", () => new Command({ goto: END }));
    await run(seen, reactAgent([says("", ["move", "call_1"])], [move]));
    const [complete] = seen.of("tool_complete");
    expect(complete?.event.output).toMatchObject({ goto: [END] });
  });
});

describe("a tool that hands over to the graph above", () => {
  it("is complete as well", () => {
    const seen = observe();
    const { handler } = seen;
    const thrown = Object.assign(new Error(""), { is_bubble_up: true, name: "ParentCommand" });
    handler.handleChainStart({}, {}, "r1");
    handler.handleToolStart({}, "{}", "t1", "r1", [], {}, "move");
    handler.handleToolError(thrown, "t1");
    handler.handleChainError(thrown, "r1");
    expect(seen.lines()).toEqual([
      "started chain",
      "tool_start move",
      "tool_complete move",
      "complete",
    ]);
  });
});

describe("a retriever", () => {
  it("is a retrieval with query and documents, and what it calls stands below it", async () => {
    class Rephrasing extends BaseRetriever {
      lc_namespace = ["test"];
      readonly model = new ScriptedModel([says("better words")]);
      override async _getRelevantDocuments(
        query: string,
        manager?: CallbackManagerForRetrieverRun,
      ) {
        const child = manager?.getChild();
        await this.model.invoke(query, child === undefined ? {} : { callbacks: child });
        return [new Document({ pageContent: "found", id: "d1", metadata: { page: 3 } })];
      }
    }
    const seen = observe({}, true);
    const retriever = new Rephrasing();
    const chain = RunnableLambda.from(async (query: string, config) => {
      return (await retriever.invoke(query, config)).length;
    });
    await chain.invoke("words", { callbacks: [seen.handler], runName: "rag" });
    expect(seen.tree()).toEqual([
      "invoke_agent rag complete",
      "  retrieval Rephrasing complete",
      "    chat small-1 complete",
    ]);
    const [retrieval] = seen.spans().filter(({ name }) => name === "retrieval Rephrasing");
    expect(retrieval?.attributes).toMatchObject({
      "gen_ai.operation.name": "retrieval",
      "gen_ai.retrieval.query.text": "words",
      "gen_ai.retrieval.documents": '[{"id":"d1","content":"found","metadata":{"page":3}}]',
    });
    expect(seen.handler.counts).toMatchObject({ unmatched: 0, faults: 0 });
  });
});

describe("a drained graph", () => {
  it("is paused, with the reason as what it says", () => {
    const seen = observe();
    const drained = Object.assign(new Error("Graph drained: shutdown"), {
      is_bubble_up: true,
      name: "GraphDrained",
      reason: "shutdown",
    });
    seen.handler.handleChainStart({ id: ["langgraph", "pregel", "Pregel"] }, {}, "r1");
    seen.handler.handleChainError(drained, "r1");
    const [{ event } = { event: undefined }] = seen.of("interrupted");
    expect([event?.kind, event?.payload]).toEqual([{ type: "custom" }, [{ value: "shutdown" }]]);
  });
});
