// Every failure of `cases.mjs` in LangGraph.
//
//   node examples/failures/langgraph.mjs
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { renderForLlm } from "entelix-otel";
import { inSpan, LangChainHandler } from "entelix-otel/langchain";
import { z } from "zod";
import { report } from "./report.mjs";

const input = { messages: [new HumanMessage("Go on.")] };

await report(async (failure, sink) => {
  const handler = new LangChainHandler({ sink, tenant: "acme" });
  const abort = new AbortController();
  const config = {
    callbacks: [handler],
    ...(failure.cut === "user" ? { signal: abort.signal } : {}),
    ...(failure.cut === "deadline" ? { timeout: 30 } : {}),
  };
  if (failure.cut === "user") setTimeout(() => abort.abort(), 30);
  await graph("support", failure)
    .invoke(input, config)
    .catch(() => {});
  await handler.flush();
});

/** One question to the model, the tools that it asks for, and its last word. */
function graph(name, { asks = [], child, model, ownCode, told, tools = {} }) {
  const llm = fakeModel();
  if (model !== undefined) llm.alwaysThrow(model());
  else if (asks.length > 0) {
    llm.respondWithTools(asks.map((name) => ({ name, args: {}, id: `call_${name}` })));
  }
  llm.respond(new AIMessage("Done."));
  const known = new Map(
    asks.map((name) => {
      const work = tools[name] ?? (() => graph("expert", child).invoke(input));
      const run = async (_, { signal, toolCall }) =>
        toolMessage(await work({ signal }), toolCall?.id);
      return [name, inSpan(tool(run, { name, schema: z.object({}) }))];
    }),
  );

  const prepare = () => {
    if (ownCode !== undefined) throw ownCode();
    return {};
  };
  const ask = async ({ messages }) => ({ messages: [await llm.invoke(messages)] });
  const callTools = async ({ messages }, config) => ({
    messages: await Promise.all(messages.at(-1).tool_calls.map((call) => callTool(call, config))),
  });
  // What a `wrapToolCall` middleware of `createAgent` does: the model gets our text, not the error's.
  const callTool = async (call, config) => {
    try {
      return await known.get(call.name).invoke({ ...call, type: "tool_call" }, config);
    } catch (error) {
      if (!told) throw error;
      const content = renderForLlm(error, { origin: "tool" });
      return new ToolMessage({ content, status: "error", tool_call_id: call.id });
    }
  };
  return new StateGraph(MessagesAnnotation)
    .addNode("prepare", prepare)
    .addNode("ask", ask)
    .addNode("tools", callTools)
    .addEdge(START, "prepare")
    .addEdge("prepare", "ask")
    .addConditionalEdges("ask", ({ messages }) =>
      messages.at(-1).tool_calls?.length > 0 ? "tools" : END,
    )
    .addEdge("tools", "ask")
    .compile({ name });
}

/** A result of an MCP tool as LangChain has it: its text, and whether it is an error. */
function toolMessage(result, id) {
  if (result?.isError === undefined) return "ok";
  const content = result.content.map(({ text }) => text).join("\n");
  return new ToolMessage({ content, status: "error", tool_call_id: id });
}
