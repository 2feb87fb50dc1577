import { tool } from "@langchain/core/tools";
import {
  END,
  type LangGraphRunnableConfig,
  type MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createReactAgent, ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import type { observe } from "./observed.ts";
import { type Line, ScriptedModel } from "./scripted-model.ts";

export const ASKED = { messages: [{ role: "user", content: "1 + 2?" }] };

/** Adds two numbers. */
export const add = tool(async ({ a, b }) => String(a + b), {
  name: "add",
  description: "adds",
  schema: z.object({ a: z.number(), b: z.number() }),
});

/** A tool without arguments. */
export function plainTool(
  name: string,
  work: (config: LangGraphRunnableConfig) => unknown | Promise<unknown>,
) {
  return tool(async (_, config) => work(config), {
    name,
    description: name,
    schema: z.object({}),
  });
}

type AnyTool = ReturnType<typeof plainTool> | typeof add;

/** LangGraph's own agent, named `support`. */
export function reactAgent(
  script: readonly Line[],
  tools: readonly AnyTool[],
  more: {
    checkpointer?: MemorySaver;
    interruptBefore?: ["tools"];
    interruptAfter?: ["tools"];
  } = {},
) {
  return createReactAgent({
    llm: new ScriptedModel(script),
    tools: [...tools],
    ...more,
  }).withConfig({ runName: "support" });
}

/** The same loop, of a tool node that lets errors out. */
export function strictAgent(script: readonly Line[], tools: readonly AnyTool[]) {
  const llm = new ScriptedModel(script);
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
    .addNode("tools", new ToolNode([...tools], { handleToolErrors: false }))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition, ["tools", END])
    .addEdge("tools", "agent")
    .compile({ name: "strict" });
}

/** A graph of one node. */
export function oneNodeGraph(
  name: string,
  node: (
    state: typeof MessagesAnnotation.State,
    config: LangGraphRunnableConfig,
  ) => Promise<Partial<typeof MessagesAnnotation.State>>,
  checkpointer?: MemorySaver,
) {
  return new StateGraph(MessagesAnnotation)
    .addNode("work", node)
    .addEdge(START, "work")
    .addEdge("work", END)
    .compile({ name, ...(checkpointer === undefined ? {} : { checkpointer }) });
}

/** Runs it with the handler, to whatever end. */
export async function run(
  seen: Pick<ReturnType<typeof observe>, "handler">,
  graph: { invoke(input: unknown, config: object): Promise<unknown> },
  input: unknown = ASKED,
  config: object = {},
): Promise<void> {
  try {
    await graph.invoke(input, { callbacks: [seen.handler], ...config });
  } catch {
    // What it failed with is what the test looks at.
  }
}
