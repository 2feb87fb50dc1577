import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import { tool as langChainTool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AiSdkTelemetry } from "../../../src/entries/ai-sdk.ts";
import { claudeAgent } from "../../../src/entries/claude-agent.ts";
import { inSpan, LangChainHandler } from "../../../src/entries/langchain.ts";
import { MastraTelemetry } from "../../../src/entries/mastra.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { type AgentEventSink, setUnclassifiedWarning } from "../../../src/index.ts";
import { recorder } from "../../support/recorded-and-replayed.ts";
import { asks, FakeCall, text } from "../ai-sdk/fake-sdk.ts";
import { FakeCall6 } from "../ai-sdk/fake-sdk-6.ts";
import { failed, result, says, scripted, uses } from "../claude-agent/scripted-sdk.ts";
import { agentRun, answered, asked, tool as mastraTool } from "../mastra/fake-mastra.ts";

setUnclassifiedWarning(() => {});

/** The code of the tool. The second call fails while the first one is still open, and each starts an agent. */
async function lookUp(order: string): Promise<string> {
  await runAgent({ agent: `inner ${order}` }, async () => sleep(order === "A" ? 20 : 1));
  if (order === "B") throw new Error("state of B is lost");
  return `state of ${order}`;
}

const ID = "look_up";
const ORDERS = ["A", "B"];

/** Two calls at once with one ID. */
const SCENES: Readonly<Record<string, (sink: AgentEventSink) => Promise<void>>> = {
  runAgent: async (sink) => {
    await runAgent({ sink, agent: "outer", tenant: "acme" }, async (run) => {
      const call = (order: string) =>
        run.tool("look_up", { id: ID, input: { order } }, () => lookUp(order)).catch(() => {});
      await Promise.all(ORDERS.map(call));
    });
  },

  LangGraph: async (sink) => {
    const handler = new LangChainHandler({ sink, tenant: "acme" });
    const schema = z.object({ order: z.string() });
    const work = async ({ order }: { order: string }) => lookUp(order);
    const made = inSpan(langChainTool(work, { name: "look_up", description: "looks", schema }));
    const tool_calls = ORDERS.map((order) => ({ name: "look_up", args: { order }, id: ID }));
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", () => ({ messages: [new AIMessage({ content: "", tool_calls })] }))
      .addNode("tools", new ToolNode([made]))
      .addEdge(START, "ask")
      .addEdge("ask", "tools")
      .compile({ name: "outer" });
    await graph.invoke({ messages: [] }, { callbacks: [handler] });
    await handler.flush();
  },

  "AI SDK 7": async (sink) => {
    const telemetry = new AiSdkTelemetry({ sink, tenant: "acme" });
    const call = new FakeCall(telemetry, { functionId: "outer" });
    await call.start();
    await call.model({});
    const parts = ORDERS.map((order) => asks("look_up", ID, { order }));
    call.answers(parts);
    await Promise.all(parts.map((part, n) => call.tool(part, () => lookUp(ORDERS[n] ?? ""))));
    call.step(parts);
    await call.finish([text("done")]);
    await telemetry.flush();
  },

  "AI SDK 6": async (sink) => {
    const telemetry = new AiSdkTelemetry({ sink, tenant: "acme" });
    const parts = ORDERS.map((order) => asks("look_up", ID, { order }));
    await new FakeCall6(telemetry.tracer, { functionId: "outer" }).generate(async (call) => {
      await call.model(parts);
      await Promise.all(parts.map((part, n) => call.tool(part, () => lookUp(ORDERS[n] ?? ""))));
      await call.model([text("done")]);
    });
    await telemetry.flush();
  },

  Mastra: async (sink) => {
    const telemetry = new MastraTelemetry({ sink, tenant: "acme" });
    const run = agentRun(telemetry, { entityName: "outer" });
    const { generation, inference, step } = asked(run);
    const call = async (order: string) => {
      const span = mastraTool(step, "look_up", ID, { input: { order } });
      try {
        const output = await span.inside(() => lookUp(order));
        span.end({ output, attributes: { success: true } });
      } catch (error) {
        span.end({ errorInfo: { message: String(error), name: "Error" } });
      }
    };
    await Promise.all(ORDERS.map(call));
    inference.end(answered());
    step.end();
    generation.end(answered());
    run.end({ output: { text: "done" } });
    await telemetry.flush();
  },

  "Claude Agent SDK": async (sink) => {
    const agent = claudeAgent({ sink, tenant: "acme", agent: "outer" });
    const work = agent.inSpan(async ({ order }: { order: string }, _: object) => lookUp(order));
    const { query } = scripted(async (sdk) => {
      await sdk.prompt("hi");
      for (const order of ORDERS) sdk.send(says("m1", uses(ID, "look_up", { order })));
      // Otherwise, the answer ends with the next one, and a replay has another order.
      sdk.send({ type: "stream_event", event: { type: "message_stop" } });
      const call = async (order: string) => {
        const input = { order };
        await sdk.before(ID, "look_up", input);
        const output = await work(input, { _meta: { "claudecode/toolUseId": ID } });
        await sdk.after(ID, "look_up", output, { tool_input: input });
      };
      const failing = call("B").catch(async (thrown: unknown) => {
        const error = String(thrown);
        const named = { tool_use_id: ID, tool_name: "look_up", tool_input: { order: "B" } };
        await sdk.hook("PostToolUseFailure", { ...named, error });
        sdk.send(failed(ID, error));
      });
      await Promise.all([call("A"), failing]);
      sdk.send(result("done"));
    });
    for await (const _ of agent.query(query, { prompt: "hi" }));
    await agent.flush();
  },
};

describe("two calls at once with one ID", () => {
  for (const [name, scene] of Object.entries(SCENES)) {
    it(`each have their own input, end, result and code inside: ${name}`, async () => {
      const recording = recorder({ captureContent: true });
      await scene(recording.sink);
      const spans = recording.spans();
      const calls = spans.filter((span) => span.name === "execute_tool look_up");
      const callOf = (order: string) =>
        calls.find(({ attributes }) =>
          String(attributes["gen_ai.tool.call.arguments"]).includes(order),
        );
      for (const order of ORDERS) {
        const call = callOf(order);
        expect(call?.attributes["gen_ai.tool.call.id"]).toBe(ID);
        const inner = spans.find((span) => span.name === `invoke_agent inner ${order}`);
        expect(inner?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
      }
      expect(callOf("A")?.attributes).toMatchObject({
        "entelix.tool.outcome": "complete",
        "gen_ai.tool.call.result": expect.stringContaining("state of A"),
      });
      expect(callOf("B")?.attributes["entelix.tool.outcome"]).toBe("error");
      expect(JSON.stringify(callOf("B")?.events)).toContain("state of B is lost");
      await recording.replayed();
    });
  }
});

describe("decisions about two calls with one ID", () => {
  it("belong to the call that they were made about", async () => {
    const recording = recorder({ captureContent: true });
    const options = { sink: recording.sink, agent: "outer", tenant: "acme" };
    await runAgent(options, async (run) => {
      const call = (order: string, person: string) => {
        const id = { id: ID, input: { order } };
        const approve = async () => {
          await sleep(order === "A" ? 20 : 1);
          const by = person === "rule" ? ("policy" as const) : ("user" as const);
          return { approved: true, by };
        };
        return run.tool("look_up", { ...id, approve }, () => lookUp("A"));
      };
      const refused = run.tool(
        "look_up",
        { id: ID, input: { order: "C" }, approve: () => ({ denied: "no" }) },
        () => lookUp("C"),
      );
      await Promise.all([call("A", "ann"), call("B", "rule"), refused.catch(() => {})]);
    });
    const said = recording
      .spans()
      .filter(({ name }) => name === "execute_tool look_up")
      .map(({ attributes }) => [
        attributes["gen_ai.tool.call.arguments"],
        attributes["entelix.tool.outcome"],
        attributes["entelix.approval.by"],
      ]);
    expect(said).toEqual([
      [undefined, "denied", undefined],
      ['{"order":"B"}', "complete", "policy"],
      ['{"order":"A"}', "complete", "user"],
    ]);
    await recording.replayed();
  });
});

describe("a tool that the code of a LangGraph tool calls", () => {
  it("has its own ID, also if LangChain hands the config with the outer call's on", async () => {
    const recording = recorder({ captureContent: true });
    const handler = new LangChainHandler({ sink: recording.sink, tenant: "acme" });
    const schema = z.object({});
    const named = (name: string) => ({ name, description: name, schema });
    const inner = langChainTool(async () => "inner", named("inner"));
    const outer = langChainTool((_, config) => inner.invoke({}, config), named("outer_tool"));
    const tool_calls = [{ name: "outer_tool", args: {}, id: "call_1" }];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", () => ({ messages: [new AIMessage({ content: "", tool_calls })] }))
      .addNode("tools", new ToolNode([outer]))
      .addEdge(START, "ask")
      .addEdge("ask", "tools")
      .compile({ name: "graph" });
    await graph.invoke({ messages: [] }, { callbacks: [handler] });
    const [below, above] = recording.spans().filter(({ name }) => name.startsWith("execute_tool"));
    expect(above?.attributes["gen_ai.tool.call.id"]).toBe("call_1");
    expect(below?.name).toBe("execute_tool inner");
    expect(below?.attributes["gen_ai.tool.call.id"]).not.toBe("call_1");
    expect(below?.parentSpanContext?.spanId).toBe(above?.spanContext().spanId);
    await recording.replayed();
  });
});
