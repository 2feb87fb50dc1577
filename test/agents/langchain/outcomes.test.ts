import { ToolMessage } from "@langchain/core/messages";
import { RunnableLambda, RunnableSequence } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { Command, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fieldsOf } from "../../../src/agents/core/narrow.ts";
import { AgentError } from "../../../src/index.ts";
import { tellsCallIds } from "./abilities.ts";
import { ASKED, add, oneNodeGraph, plainTool, reactAgent, run, strictAgent } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

const unavailable = () => Object.assign(new Error("vendor down"), { status: 503 });

describe("success", () => {
  it("is a run with its calls of models and tools", async () => {
    const seen = observe();
    const agent = reactAgent([says("", ["add", "call_1", { a: 1, b: 2 }]), says("3")], [add]);
    await run(seen, agent);
    expect(seen.lines()).toEqual([
      "started support",
      "model_start small-1",
      "model_complete small-1",
      "tool_start add",
      "tool_complete add",
      "model_start small-1",
      "model_complete small-1",
      "complete",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool add complete",
      "  chat small-1 complete",
    ]);
  });

  it("of a plain chain is a run of its run name; its steps are none", async () => {
    const seen = observe();
    const chain = RunnableSequence.from([
      RunnableLambda.from((x: number) => x + 1),
      RunnableLambda.from((x: number) => x * 2),
    ]);
    await chain.invoke(1, { callbacks: [seen.handler], runName: "calculate" });
    expect(seen.tree()).toEqual(["invoke_agent calculate complete"]);
    expect(seen.of("complete")[0]?.event.state).toEqual({ output: 4 });
  });
});

describe("failure", () => {
  it("of a tool that the agent is told of is a tool error, and the run goes on", async () => {
    const seen = observe();
    const bad = plainTool("bad", () => {
      throw AgentError.http(401, "key expired");
    });
    await run(seen, reactAgent([says("", ["bad", "call_1"]), says("sorry")], [bad]));
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool bad error auth !",
      "  chat small-1 complete",
    ]);
  });

  it("of a tool that ends the run is terminal", async () => {
    const seen = observe();
    const bad = plainTool("bad", () => {
      throw AgentError.http(401, "key expired");
    });
    await run(seen, strictAgent([says("", ["bad", "call_1"])], [bad]));
    expect(seen.lines()).toEqual([
      "started strict",
      "model_start small-1",
      "model_complete small-1",
      "tool_start bad",
      "tool_error bad upstream_unauthorized",
      "failed tool_error_terminal: provider returned 401: key expired",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent strict failed tool_error_terminal !",
      "  chat small-1 complete",
      "  execute_tool bad error auth !",
    ]);
  });

  it("of a model ends the run", async () => {
    const seen = observe();
    await run(seen, reactAgent([unavailable()], [add]));
    expect(seen.lines()).toEqual([
      "started support",
      "model_start small-1",
      "model_error small-1 model_dispatch",
      "failed model_dispatch: vendor down",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent support failed model_dispatch !",
      "  chat small-1 error !",
    ]);
  });

  it("that a tool returns as a message is a tool error with the model's text", async () => {
    const seen = observe();
    const refuses = tool(
      async (_, config) =>
        new ToolMessage({
          content: "no such order",
          status: "error",
          tool_call_id: config.toolCall?.id ?? "",
        }),
      { name: "refuses", description: "refuses", schema: z.object({}) },
    );
    await run(seen, reactAgent([says("", ["refuses", "call_1"]), says("sorry")], [refuses]));
    expect(seen.of("tool_error").map(({ event }) => event)).toMatchObject([
      { kind: "internal", error_for_llm: "no such order", envelope: { origin: "tool" } },
    ]);
    expect(seen.tree()[0]).toBe("invoke_agent support complete");
  });

  it.each([
    ["a command", (message: ToolMessage) => new Command({ update: { messages: [message] } })],
    [
      "a command of names and values",
      (message: ToolMessage) => new Command({ update: [["messages", message]] }),
    ],
  ])(
    "that a tool returns in %s is a tool error, where the call's ID is known",
    async (_, result) => {
      const seen = observe();
      const refuses = plainTool("refuses", () =>
        result(
          new ToolMessage({ content: "no such order", status: "error", tool_call_id: "call_1" }),
        ),
      );
      await run(seen, reactAgent([says("", ["refuses", "call_1"]), says("sorry")], [refuses]));
      const failed = {
        kind: "internal",
        error_for_llm: "no such order",
        envelope: { origin: "tool" },
      };
      const events = seen.of("tool_error").map(({ event }) => event);
      expect(events).toMatchObject(tellsCallIds ? [failed] : []);
    },
  );

  it("of another call in a command is not the tool's", async () => {
    const seen = observe();
    const tells = plainTool("tells", () => {
      const content = "no such order";
      const other = new ToolMessage({ content, status: "error", tool_call_id: "call_0" });
      const own = new ToolMessage({ content: "told", tool_call_id: "call_1" });
      return new Command({ update: { messages: [other, own] } });
    });
    await run(seen, reactAgent([says("", ["tells", "call_1"]), says("sorry")], [tells]));
    expect(seen.of("tool_complete")).toHaveLength(1);
  });

  it("that the handler's predicate sees is of the kind that it names", async () => {
    const seen = observe({
      isFailure: (result, { tool: name }) =>
        name === "add" && String(fieldsOf(result)?.content) === "3" ? "validation" : undefined,
    });
    const agent = reactAgent([says("", ["add", "call_1", { a: 1, b: 2 }]), says("3")], [add]);
    await run(seen, agent);
    expect(seen.of("tool_error").map(({ event }) => event.kind)).toEqual(["validation"]);
  });

  it("of a node's own call of a service is not the model's", async () => {
    const seen = observe();
    const crm = () => Object.assign(new Error("CRM says no"), { status: 401 });
    const graph = oneNodeGraph("crm", async () => {
      throw crm();
    });
    await run(seen, graph);
    expect(seen.of("failed")[0]?.event).toMatchObject({
      kind: { type: "internal" },
      envelope: { wire_code: "upstream_unauthorized", provider_status: 401, origin: "run" },
    });
  });

  it("of a model in a graph that a tool runs is the model's, at every level", async () => {
    const seen = observe();
    const model = new ScriptedModel([unavailable()]);
    const inner = oneNodeGraph("inner", async ({ messages }) => ({
      messages: [await model.invoke(messages)],
    }));
    const delegate = plainTool("delegate", (config) => inner.invoke(ASKED, config));
    await run(seen, strictAgent([says("", ["delegate", "call_1"])], [delegate]));
    expect(seen.of("failed").map(({ event }) => [event.kind, event.envelope.origin])).toEqual([
      [{ type: "model_dispatch" }, "model"],
      [{ type: "model_dispatch" }, "model"],
    ]);
  });

  it("of a tool in a graph that a tool runs names the tool at the bottom", async () => {
    const seen = observe();
    const db = plainTool("db", () => {
      throw unavailable();
    });
    const inner = oneNodeGraph("inner", async (_, config) => {
      try {
        await db.invoke({}, config);
      } catch (cause) {
        throw new Error("node failed", { cause });
      }
      return { messages: [] };
    });
    const delegate = plainTool("delegate", (config) => inner.invoke(ASKED, config));
    await run(seen, strictAgent([says("", ["delegate", "call_1"])], [delegate]));
    const kind = { type: "tool_error_terminal", kind: "transient", tool_name: "db" };
    expect(seen.of("failed").map(({ event }) => [event.kind, event.envelope.origin])).toEqual([
      [kind, "tool"],
      [kind, "tool"],
    ]);
    expect(seen.of("tool_error").map(({ event }) => event.error_for_llm)).toEqual([
      "tool call failed (HTTP 503)",
      "tool call failed (HTTP 503)",
    ]);
  });

  it("of a model with a fallback is an error of the call alone", async () => {
    const seen = observe();
    const model = new ScriptedModel([unavailable()]).withFallbacks([
      new ScriptedModel([says("here")]),
    ]);
    await model.invoke("hi", { callbacks: [seen.handler], runName: "ask" });
    expect(seen.tree()).toEqual([
      "invoke_agent ask complete",
      "  chat small-1 error !",
      "  chat small-1 complete",
    ]);
  });

  it("of a model that is asked again is an error of the first call alone", async () => {
    const seen = observe();
    const model = new ScriptedModel([unavailable(), says("here")]).withRetry({
      stopAfterAttempt: 2,
    });
    await model.invoke("hi", { callbacks: [seen.handler], runName: "ask" });
    expect(seen.tree()).toEqual([
      "invoke_agent ask complete",
      "  chat small-1 error !",
      "  chat small-1 complete",
    ]);
  });

  it("to stop within the recursion limit is a budget used up", async () => {
    const seen = observe();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("again", () => ({}))
      .addEdge(START, "again")
      .addConditionalEdges("again", () => "again", ["again"])
      .compile({ name: "loop" });
    await run(seen, graph, ASKED, { recursionLimit: 3 });
    expect(seen.tree()).toEqual(["invoke_agent loop failed usage_limit_exceeded !"]);
  });
});
