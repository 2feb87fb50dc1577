import type { CallbackHandlerMethods } from "@langchain/core/callbacks/base";
import type { Callbacks } from "@langchain/core/callbacks/manager";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { ASKED, add, oneNodeGraph, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

const TREE = [
  "invoke_agent support complete",
  "  chat small-1 complete",
  "  execute_tool add complete",
  "  chat small-1 complete",
];
const script = () => [says("", ["add", "call_1", { a: 1, b: 2 }]), says("3")];

describe("a handler", () => {
  it("is one of LangChain's by type", () => {
    const { handler } = observe();
    const methods: CallbackHandlerMethods = handler;
    const callbacks: Callbacks = [handler];
    expect([methods, callbacks]).toEqual([handler, [handler]]);
  });

  it("that is registered twice makes no second span", async () => {
    const seen = observe();
    const agent = reactAgent(script(), [add]).withConfig({ callbacks: [seen.handler] });
    await run(seen, agent, ASKED, { callbacks: [seen.handler, seen.handler] });
    expect(seen.tree()).toEqual(TREE);
  });

  it("beside another of the same sink makes no second span", async () => {
    const seen = observe();
    const second = new LangChainHandler(seen.handlerOptions);
    await run(seen, reactAgent(script(), [add]), ASKED, { callbacks: [seen.handler, second] });
    expect(seen.tree()).toEqual(TREE);
  });

  it("of a model or tool, beside another of the same sink around it, makes no second span", async () => {
    const seen = observe();
    const second = new LangChainHandler({ ...seen.handlerOptions, tenant: "everybody" });
    const model = new ScriptedModel(script(), { callbacks: [second] });
    const sum = tool(async ({ a, b }) => String(a + b), {
      name: "add",
      schema: z.object({ a: z.number(), b: z.number() }),
      callbacks: [second],
    });
    const agent = createReactAgent({ llm: model, tools: [sum] }).withConfig({ runName: "support" });
    await run(seen, agent);
    expect(seen.tree()).toEqual(TREE);
    expect(seen.told.map(({ event }) => event.tenant_id)).toEqual(Array(8).fill("acme"));
    expect(seen.of("complete")[0]?.event.usage).toMatchObject({ requests: 2, input_tokens: 20 });
    expect(second.counts).toMatchObject({ duplicates: 3, faults: 0 });
  });

  it("keeps an invocation apart from another tenant's of the same id", () => {
    const seen = observe();
    const second = new LangChainHandler({ ...seen.handlerOptions, tenant: "globex" });
    for (const handler of [seen.handler, second]) handler.handleChainStart({}, {}, "request-1");
    for (const [index, handler] of [seen.handler, second].entries()) {
      handler.handleToolStart({}, "{}", `tool-${index}`, "request-1", [], {}, "look");
      handler.handleToolEnd("seen", `tool-${index}`);
    }
    for (const handler of [seen.handler, second]) handler.handleChainEnd({}, "request-1");
    expect(seen.told.map(({ event }) => `${event.type} ${event.tenant_id}`)).toEqual([
      "started acme",
      "started globex",
      "tool_start acme",
      "tool_complete acme",
      "tool_start globex",
      "tool_complete globex",
      "complete acme",
      "complete globex",
    ]);
  });

  it("sends nothing of two tenants' invocations that have one ID at the same time", () => {
    const seen = observe({ tenant: ({ org }) => String(org) });
    const { handler } = seen;
    const start = (org: string) => handler.handleChainStart({}, {}, "r1", undefined, [], { org });
    const call = (id: string) => {
      handler.handleToolStart({}, "{}", id, "r1", [], {}, "look");
      handler.handleToolEnd("secret", id);
    };
    start("acme");
    call("tool-1");
    start("acme");
    start("globex");
    for (const id of ["tool-2", "tool-3"]) call(id);
    handler.handleChainEnd({ answer: "secret" }, "r1");
    call("tool-4");
    handler.handleChainEnd({ answer: "secret" }, "r1");
    expect(seen.lines()).toEqual([
      "started chain",
      "tool_start look",
      "tool_complete look",
      "failed internal: invalid request: another tenant used the ID of this run (`runId`) at the same time",
    ]);
    expect(new Set(seen.told.map(({ event }) => event.tenant_id))).toEqual(new Set(["acme"]));
    expect(handler.counts).toMatchObject({ refused: 1, duplicates: 2, faults: 0 });
  });

  it("of an ID that a tenant uses after another one has the calls of the latter", () => {
    const seen = observe({ tenant: ({ org }) => String(org) });
    const { handler } = seen;
    for (const org of ["acme", "globex"]) {
      handler.handleChainStart({}, {}, "r1", undefined, [], { org });
      handler.handleChainEnd({}, "r1");
    }
    handler.handleToolStart({}, "{}", "left-behind", "r1", [], { org: "globex" }, "look");
    expect(seen.told.map(({ event }) => `${event.type} ${event.tenant_id}`)).toEqual([
      "started acme",
      "complete acme",
      "started globex",
      "complete globex",
      "started globex",
      "tool_start globex",
    ]);
  });

  it("that refuses an invocation leaves it to another one", async () => {
    const seen = observe();
    const refusing = new LangChainHandler({
      ...seen.handlerOptions,
      tenant: () => "",
      onError: undefined,
    });
    const callbacks = [refusing, seen.handler];
    await run(seen, reactAgent(script(), [add]), ASKED, { callbacks });
    expect(seen.tree()).toEqual(TREE);
  });

  it("that is told everything twice counts it", async () => {
    const seen = observe();
    const { handler } = seen;
    for (let time = 0; time < 2; time++) handler.handleChainStart({}, {}, "r1");
    for (let time = 0; time < 2; time++) handler.handleChainEnd({}, "r1");
    expect(seen.lines()).toEqual(["started chain", "complete"]);
    expect(handler.counts).toMatchObject({ duplicates: 1, unmatched: 1 });
  });

  it("of a model alone makes a run of each call", async () => {
    const seen = observe();
    const model = new ScriptedModel([says("hello")], { callbacks: [seen.handler] });
    await model.invoke("hi");
    expect(seen.tree()).toEqual(["invoke_agent small-1 complete", "  chat small-1 complete"]);
    await add.invoke(
      { type: "tool_call", id: "call_9", name: "add", args: { a: 1, b: 2 } },
      { callbacks: [seen.handler] },
    );
    expect(seen.tree().slice(2)).toEqual([
      "invoke_agent add complete",
      "  execute_tool add complete",
    ]);
  });

  it("can pass over what is called alone, and counts it", async () => {
    const seen = observe({ loneCalls: "skip" });
    const callbacks = [seen.handler];
    await new ScriptedModel([says("hello")]).invoke("hi", { callbacks });
    await add.invoke({ a: 1, b: 2 }, { callbacks });
    expect(seen.told).toEqual([]);
    expect(seen.handler.counts.skipped).toBe(2);
  });

  it("names the outermost run where it says so, and no run below", async () => {
    const seen = observe({ agent: "desk" });
    const inner = oneNodeGraph("inner", async () => ({ messages: [] }));
    const outer = oneNodeGraph("outer", async (_, config) => inner.invoke(ASKED, config));
    await run(seen, outer, ASKED, { runName: "request 4711" });
    expect(seen.of("started").map(({ event }) => event.agent)).toEqual(["desk", "inner"]);
  });

  it("prefers the name that createAgent gives its agent to the name of the invocation", async () => {
    const seen = observe();
    const inner = oneNodeGraph("inner", async () => ({ messages: [] }));
    const outer = oneNodeGraph("outer", async (_, config) => inner.invoke(ASKED, config));
    const metadata = { lc_agent_name: "support" };
    await run(seen, outer, ASKED, { runName: "request 4711", metadata });
    // What is below inherits the metadata, and is another agent.
    expect(seen.of("started").map(({ event }) => event.agent)).toEqual(["support", "inner"]);
  });

  it.each([[7], [null], [{}]])("refuses %j as the name of its agent", (agent) => {
    expect(() => observe({ agent: agent as unknown as string })).toThrow("agent: expected a text");
  });
});
