import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { AgentError, setUnclassifiedWarning } from "../../../src/index.ts";
import { tellsStaticPauses } from "./abilities.ts";
import { ASKED, add, oneNodeGraph, plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

const THREAD = { configurable: { thread_id: "t1" } };
const asking = () => plainTool("ask", () => `answer ${interrupt({ question: "ok?" })}`);
const asksOnce = () => [says("", ["ask", "call_1"]), says("done")];

describe("a pause inside a tool", () => {
  it("is no error, and its resumption a run that goes on from it", async () => {
    const seen = observe();
    const agent = reactAgent(asksOnce(), [asking()], { checkpointer: new MemorySaver() });
    await run(seen, agent, ASKED, THREAD);
    await run(seen, agent, new Command({ resume: "yes" }), THREAD);
    expect(seen.lines()).toEqual([
      "started support",
      "model_start small-1",
      "model_complete small-1",
      "tool_start ask",
      "tool_error ask interrupted",
      "interrupted custom",
      "started support",
      "tool_start ask",
      "tool_complete ask",
      "model_start small-1",
      "model_complete small-1",
      "complete",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent support interrupted",
      "  chat small-1 complete",
      "  execute_tool ask interrupted",
      "invoke_agent support complete",
      "  execute_tool ask complete",
      "  chat small-1 complete",
    ]);
    expect(seen.spans().map(({ status }) => status.code)).toEqual(seen.spans().map(() => 0));
    const [first, second] = seen.of("started");
    expect(first?.envelope).toEqual({
      event_id: first?.event.run_id.replace(/^(.{14})./, "$1a"),
      thread_id: "t1",
      timestamp: expect.anything(),
      details: {
        input: [{ role: "user", parts: [{ type: "text", content: "1 + 2?" }] }],
      },
    });
    expect(second?.envelope).toMatchObject({
      thread_id: "t1",
      resumed_from_run_id: first?.event.run_id,
    });
    expect(seen.trees()[1]).toMatchObject({
      links: [seen.trees()[0]?.span_id],
      linkKinds: ["resumed_from"],
    });
  });

  it("is gone on from under the run's own id as well, by as many handlers as are registered", async () => {
    const seen = observe();
    const script = [says("", ["ask", "call_1"]), says("", ["ask", "call_2"]), says("done")];
    const agent = reactAgent(script, [asking()], { checkpointer: new MemorySaver() });
    const second = new LangChainHandler(seen.handlerOptions);
    const config = {
      ...THREAD,
      runId: "01a1fff2-939e-74eb-b277-baac429ca2c7",
      callbacks: [seen.handler, second],
    };
    await run(seen, agent, ASKED, config);
    for (let time = 0; time < 2; time++) {
      await run(seen, agent, new Command({ resume: "yes" }), config);
    }
    expect(seen.tree()).toEqual([
      "invoke_agent support interrupted",
      "  chat small-1 complete",
      "  execute_tool ask interrupted",
      "invoke_agent support interrupted",
      "  execute_tool ask complete",
      "  chat small-1 complete",
      "  execute_tool ask interrupted",
      "invoke_agent support complete",
      "  execute_tool ask complete",
      "  chat small-1 complete",
    ]);
    const roots = seen.trees();
    expect(roots.map(({ attributes }) => attributes["entelix.run.segment"])).toEqual([
      undefined,
      2,
      3,
    ]);
    expect(roots.map(({ links }) => links)).toEqual([[], [roots[0]?.span_id], [roots[1]?.span_id]]);
  });

  it("has LangGraph's interrupts as its payload, and no payload in texts", async () => {
    const seen = observe();
    const agent = reactAgent(asksOnce(), [asking()], { checkpointer: new MemorySaver() });
    await run(seen, agent, ASKED, THREAD);
    expect(seen.of("interrupted")[0]?.event.payload).toMatchObject([
      { value: { question: "ok?" } },
    ]);
    const [error] = seen.of("tool_error");
    expect([error?.event.error, error?.event.error_for_llm]).toEqual([
      AgentError.interrupted({ type: "custom" }).message,
      "awaiting human review",
    ]);
  });

  it("is remembered across handlers of one sink", async () => {
    const seen = observe();
    const agent = reactAgent(asksOnce(), [asking()], { checkpointer: new MemorySaver() });
    await run(seen, agent, ASKED, THREAD);
    await agent.invoke(new Command({ resume: "yes" }), {
      callbacks: [new LangChainHandler(seen.handlerOptions)],
      ...THREAD,
    });
    const [first, second] = seen.of("started");
    expect(second?.envelope.resumed_from_run_id).toBe(first?.event.run_id);
  });

  it("is not resumed by other input, by another thread, or by another tenant", async () => {
    const script = [...asksOnce(), ...asksOnce(), ...asksOnce(), says("")];
    const seen = observe();
    const agent = reactAgent(script, [asking()], { checkpointer: new MemorySaver() });
    await run(seen, agent, ASKED, THREAD);
    await run(seen, agent, null, { configurable: { thread_id: "t2" } });
    await run(seen, agent, null, { ...THREAD, metadata: { tenant_id: "globex" } });
    await run(seen, agent, ASKED, THREAD);
    expect(seen.of("started").map(({ envelope }) => envelope.resumed_from_run_id)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("an approver who does not name the tenant", () => {
  it.each([
    ["a text", "acme"],
    ["a function without an answer", () => ""],
  ])("resumes the run of its tenant (tenant: %s)", async (_, tenant) => {
    const seen = observe({ tenant: (metadata) => String(metadata.tenant_id ?? "") });
    const context = ({ user }: Readonly<Record<string, unknown>>, tags: readonly string[]) => ({
      user: user === undefined ? undefined : String(user),
      tags,
    });
    const graph = oneNodeGraph("asker", async () => interrupt("ok?"), new MemorySaver());
    const metadata = { tenant_id: "globex", user: "u1" };
    const before = { handler: new LangChainHandler({ ...seen.handlerOptions, context }) };
    const after = { handler: new LangChainHandler({ ...seen.handlerOptions, context, tenant }) };
    await run(before, graph, ASKED, { ...THREAD, metadata, tags: ["vip"] });
    await run(after, graph, new Command({ resume: { messages: [] } }), THREAD);
    await run(after, graph, ASKED, { configurable: { thread_id: "t2" } });
    const [first, second] = seen.of("started");
    expect(second).toMatchObject({
      event: { tenant_id: "globex" },
      envelope: {
        resumed_from_run_id: first?.event.run_id,
        thread_id: "t1",
        details: { user_id: "u1", tags: ["vip"] },
      },
    });
    // Nothing else makes up for a tenant that is not known.
    const tenants = seen.of("started").map(({ event }) => event.tenant_id);
    const others = tenant === "acme" ? ["acme"] : [];
    expect(tenants).toEqual(["globex", "globex", ...others]);
  });
});

describe("a paused thread", () => {
  const resumed = (seen: ReturnType<typeof observe>) =>
    seen.of("started").map(({ envelope }) => envelope.resumed_from_run_id);

  it("is paused still when the run that went on failed, until one does not", async () => {
    const seen = observe();
    let fails = 1;
    const graph = oneNodeGraph(
      "flaky",
      async () => {
        interrupt("ok?");
        if (fails-- > 0) throw new Error("down");
        return { messages: [] };
      },
      new MemorySaver(),
    );
    await run(seen, graph, ASKED, THREAD);
    await run(seen, graph, new Command({ resume: "yes" }), THREAD);
    await run(seen, graph, new Command({ resume: "yes" }), THREAD);
    await run(seen, graph, null, THREAD);
    const [first] = seen.of("started");
    const id = first?.event.run_id;
    expect(resumed(seen)).toEqual([undefined, id, id, undefined]);
    expect(seen.tree()).toEqual([
      "invoke_agent flaky interrupted",
      "invoke_agent flaky failed unclassified !",
      "invoke_agent flaky complete",
      "invoke_agent flaky complete",
    ]);
  });

  it("is not gone on with from an older checkpoint of it", async () => {
    const seen = observe();
    const graph = oneNodeGraph(
      "asker",
      async () => ({ messages: [says(String(interrupt("ok?")))] }),
      new MemorySaver(),
    );
    await run(seen, graph, ASKED, THREAD);
    const here = await graph.getState(THREAD);
    const states = [];
    for await (const state of graph.getStateHistory(THREAD)) states.push(state);
    await run(seen, graph, null, { configurable: states.at(-1)?.config.configurable });
    expect(resumed(seen)).toEqual([undefined, undefined]);

    const again = observe();
    await run(again, graph, ASKED, { configurable: { thread_id: "t2" } });
    const there = await graph.getState({ configurable: { thread_id: "t2" } });
    expect(there.config.configurable?.checkpoint_id).not.toBe(
      here.config.configurable?.checkpoint_id,
    );
    await run(again, graph, new Command({ resume: "yes" }), there.config);
    const [first] = again.of("started");
    expect(resumed(again)).toEqual([
      undefined,
      tellsStaticPauses ? first?.event.run_id : undefined,
    ]);
  });
});

describe("a pause before or after a node", () => {
  it.each([
    ["interruptBefore", { type: "scheduled_pause", phase: "before", node: "" }],
    ["interruptAfter", { type: "scheduled_pause", phase: "after", node: "tools" }],
  ] as const)("%s is a scheduled pause, and resumed by nothing", async (option, kind) => {
    const seen = observe();
    const script = [says("", ["add", "call_1", { a: 1, b: 2 }]), says("3")];
    const agent = reactAgent(script, [add], {
      checkpointer: new MemorySaver(),
      [option]: ["tools"],
    });
    await run(seen, agent, ASKED, THREAD);
    await run(seen, agent, null, THREAD);
    const told = seen.of("interrupted").map(({ event: { kind, payload } }) => ({ kind, payload }));
    expect(told).toEqual(tellsStaticPauses ? [{ kind, payload: null }] : []);
    const [first, second] = seen.of("started");
    expect(second?.envelope.resumed_from_run_id).toBe(
      tellsStaticPauses ? first?.event.run_id : undefined,
    );
    expect(seen.lines().at(-1)).toBe("complete");
  });
});

describe("a pause further down", () => {
  it("pauses the run of each graph it rises through", async () => {
    const seen = observe();
    const inner = oneNodeGraph("researcher", async () => {
      return { messages: [says(String(interrupt("deep?")))] };
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", inner)
      .addEdge(START, "ask")
      .addEdge("ask", END)
      .compile({ name: "lead", checkpointer: new MemorySaver() });
    await run(seen, graph, ASKED, THREAD);
    await run(seen, graph, new Command({ resume: "yes" }), THREAD);
    expect(seen.tree()).toEqual([
      "invoke_agent lead interrupted",
      "  invoke_agent researcher interrupted",
      "invoke_agent lead complete",
      "  invoke_agent researcher complete",
    ]);
    const values = seen.of("interrupted").map(({ event }) => event.payload);
    expect(values).toMatchObject([[{ value: "deep?" }], [{ value: "deep?" }]]);
    const [lead, , resumed] = seen.of("started");
    expect(resumed?.envelope.resumed_from_run_id).toBe(lead?.event.run_id);
  });

  it("of several branches is one, with what each asks", async () => {
    const seen = observe();
    const ask = (name: string) => async () => {
      return { messages: [says(String(interrupt(name)))] };
    };
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("left", ask("left?"))
      .addNode("right", ask("right?"))
      .addEdge(START, "left")
      .addEdge(START, "right")
      .compile({ name: "both", checkpointer: new MemorySaver() });
    await run(seen, graph, ASKED, THREAD);
    expect(seen.lines()).toEqual(["started both", "interrupted custom"]);
    expect(seen.of("interrupted")[0]?.event.payload).toMatchObject([
      { value: "left?" },
      { value: "right?" },
    ]);
  });

  it("that asks to approve the one call of a tool names that call", async () => {
    const seen = observe();
    const model = [says("", ["refund", "call_7"], ["add", "call_8"])];
    const review = { actionRequests: [{ name: "refund", args: {} }], reviewConfigs: [] };
    const graph = oneNodeGraph(
      "shop",
      async ({ messages }) => {
        await new ScriptedModel(model).invoke(messages);
        interrupt(review);
        return {};
      },
      new MemorySaver(),
    );
    await run(seen, graph, ASKED, THREAD);
    expect(seen.of("interrupted")[0]?.event.kind).toEqual({
      type: "approval_pending",
      tool_use_id: "call_7",
    });
  });

  it("thrown as this package's own interruption is a pause as well", async () => {
    const seen = observe();
    const kind = { type: "approval_pending", tool_use_id: "call_1" } as const;
    const graph = oneNodeGraph("own", async () => {
      throw AgentError.interrupted(kind, { order: 17 });
    });
    const warned: string[] = [];
    setUnclassifiedWarning((message) => warned.push(message));
    await run(seen, graph);
    setUnclassifiedWarning();
    expect(warned).toEqual([]);
    expect(seen.lines()).toEqual(["started own", "interrupted approval_pending"]);
    expect(seen.of("interrupted")[0]?.event.payload).toEqual({ order: 17 });
  });
});
