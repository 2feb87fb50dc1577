import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import {
  Agent,
  getCurrentSpan,
  tool as openAITool,
  run as runOpenAI,
  setTraceProcessors,
  setTracingDisabled,
} from "@openai/agents-core";
import { context } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { currentRunContext } from "../../../src/entries/context.ts";
import { inSpan, LangChainHandler } from "../../../src/entries/langchain.ts";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";
import { type AgentRun, runAgent } from "../../../src/entries/runtime.ts";
import { setupTracing, type Tracing } from "../../../src/entries/setup.ts";
import { FanOutSink } from "../../../src/events/sinks/fan-out-sink.ts";
import type { Bridge } from "../../../src/index.ts";
import { asks, ScriptedModel, says } from "../../agents/openai-agents/scripted-model.ts";
import { type SpanNode, toTrees } from "../../support/spans.ts";

const memory = new InMemorySpanExporter();
let tracing: Tracing;
let bridge: Bridge;
let handler: LangChainHandler;
let processor: OpenAIAgentsProcessor;

beforeAll(() => {
  vi.stubEnv("OTEL_TRACES_EXPORTER", "none");
  tracing = setupTracing({ spanProcessors: [new SimpleSpanProcessor(memory)] });
  bridge = tracing.createBridge();
  handler = new LangChainHandler({ sink: bridge, tenant: "acme" });
  processor = new OpenAIAgentsProcessor({ sink: bridge, tenant: "acme" });
  // The SDK is silent in tests unless it is told otherwise.
  setTracingDisabled(false);
  setTraceProcessors([processor]);
});
afterAll(async () => {
  await tracing.shutdown();
  context.disable();
  vi.unstubAllEnvs();
});
afterEach(() => memory.reset());

/** The one tree, with its names alone. */
async function shape(): Promise<unknown> {
  await handler.flush();
  await processor.forceFlush();
  const [tree, another] = toTrees(memory.getFinishedSpans());
  expect(another).toBeUndefined();
  return tree === undefined ? undefined : names(tree);
}

function names({ span, children }: SpanNode): unknown {
  return children.length === 0 ? span : [span, ...children.map(names)];
}

const support = (work: (run: AgentRun<undefined>) => unknown) =>
  runAgent<unknown, undefined>(
    { sink: bridge, agent: "support", tenant: "acme", input: undefined },
    work,
  );

const search = (work: () => unknown = () => "found") =>
  tool(async () => JSON.stringify(await work()), {
    name: "search",
    description: "searches",
    schema: z.object({}),
  });

const expert = (tools: Parameters<typeof openAITool>[0][] = []) =>
  new Agent({
    name: "expert",
    model: new ScriptedModel([[asks("lookup")], [says("delivered")]]),
    tools: tools.map((options) => openAITool(options)),
  });

const lookup = (work: () => unknown = () => 17) => ({
  name: "lookup",
  description: "looks up",
  parameters: z.object({}),
  execute: async () => JSON.stringify(await work()),
});

/** The expert's part of a tree. */
const MODEL = expect.stringMatching(/^chat/);
const EXPERT = ["invoke_agent expert", MODEL, "execute_tool lookup", MODEL];

/** A chain that calls a tool. */
const chainOf = (called: ReturnType<typeof search>) =>
  RunnableLambda.from((_: object, config) => called.invoke({}, config)).withConfig({
    runName: "chain",
  });

const followed = () => ({ callbacks: [handler] });

describe("one tool call is one span", () => {
  it("where a LangChain tool is called in a tool of the runtime", async () => {
    await support((run) => run.tool("search", () => search().invoke({}, followed())));
    expect(await shape()).toEqual(["invoke_agent support", "execute_tool search"]);
    expect(handler.counts.shownElsewhere).toBe(1);
  });

  it("where it is called with the model's id of the call", async () => {
    const call = { type: "tool_call" as const, id: "call_1", name: "search", args: {} };
    await support((run) =>
      run.tool("search", { id: "call_1" }, () => search().invoke(call, followed())),
    );
    expect(await shape()).toEqual(["invoke_agent support", "execute_tool search"]);
  });

  it("where a handler is registered twice, and two on one sink", async () => {
    const chain = chainOf(search());
    const second = new LangChainHandler({ sink: new FanOutSink([bridge]), tenant: "acme" });
    await chain.invoke({}, { callbacks: [handler, handler, second] });
    await second.flush();
    expect(await shape()).toEqual(["invoke_agent chain", "execute_tool search"]);
  });
});

describe("what runs in a tool is below its span", () => {
  it("a chain of LangChain's in the runtime's", async () => {
    const chain = chainOf(search());
    await support((run) => run.tool("ask", () => chain.invoke({}, followed())));
    expect(await shape()).toEqual([
      "invoke_agent support",
      ["execute_tool ask", ["invoke_agent chain", "execute_tool search"]],
    ]);
  });

  it("an OpenAI agent in the runtime's", async () => {
    await support((run) => run.tool("ask", () => runOpenAI(expert([lookup()]), "where is it?")));
    expect(await shape()).toEqual(["invoke_agent support", ["execute_tool ask", EXPERT]]);
  });

  it("an agent of the runtime's in LangChain's, and what that carries", async () => {
    let carried: ReturnType<typeof currentRunContext>;
    const nested = () =>
      runAgent({ agent: "expert" }, (run) =>
        run.tool("lookup", () => {
          carried = currentRunContext();
          return 17;
        }),
      );
    const chain = chainOf(inSpan(search(nested)));
    await chain.invoke({}, followed());
    expect(await shape()).toEqual([
      "invoke_agent chain",
      ["execute_tool search", ["invoke_agent expert", "execute_tool lookup"]],
    ]);
    const [inner] = memory.getFinishedSpans().filter(({ name }) => name === "execute_tool lookup");
    const [outer] = memory.getFinishedSpans().filter(({ name }) => name === "invoke_agent chain");
    expect(carried).toMatchObject({
      root_run_id: outer?.attributes["entelix.run_id"],
      parent_run_id: inner?.attributes["entelix.run_id"],
      traceparent: `00-${outer?.spanContext().traceId}-${inner?.spanContext().spanId}-01`,
    });
  });

  it("an agent of the runtime's in OpenAI's", async () => {
    const nested = () =>
      processor.withSpan(getCurrentSpan(), () =>
        runAgent({ agent: "clerk" }, (run) => run.tool("count", () => 1)),
      );
    await runOpenAI(expert([lookup(nested)]), "where is it?");
    expect(await shape()).toEqual([
      "invoke_agent expert",
      MODEL,
      ["execute_tool lookup", ["invoke_agent clerk", "execute_tool count"]],
      MODEL,
    ]);
  });
});

describe("what runs in a run, and in no tool, is below that run", () => {
  it("a chain, and an OpenAI agent", async () => {
    const chain = RunnableLambda.from(() => "done").withConfig({ runName: "chain" });
    await support(async () => {
      await chain.invoke({}, followed());
      await runOpenAI(expert([lookup()]), "where is it?");
    });
    expect(await shape()).toEqual(["invoke_agent support", "invoke_agent chain", EXPERT]);
  });

  it("a chain, and an OpenAI agent, while a tool call of that run is open", async () => {
    const chain = RunnableLambda.from(() => "done").withConfig({ runName: "chain" });
    await support(async (run) => {
      let isDone = () => {};
      const slow = run.tool("slow", () => new Promise<void>((done) => (isDone = done)));
      await chain.invoke({}, followed());
      await handler.flush();
      await runOpenAI(expert([lookup()]), "where is it?");
      await processor.forceFlush();
      isDone();
      await slow;
    });
    expect(await shape()).toEqual([
      "invoke_agent support",
      "execute_tool slow",
      "invoke_agent chain",
      EXPERT,
    ]);
  });
});
