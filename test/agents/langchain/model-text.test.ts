import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { Bridge } from "../../../src/index.ts";

import { recorder } from "../../support/recorded-and-replayed.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";
import { ASKED, plainTool, reactAgent, run, strictAgent } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

const boom = plainTool("boom", () => {
  throw new TypeError("x is not a function");
});
const asksOnce = () => [says("", ["boom", "call_1"]), says("done")];

/** The texts of the failed calls: of the event, what it says of it, and of the span. */
function textsOf(seen: ReturnType<typeof observe>) {
  const spans = seen.spans().filter(({ name }) => name.startsWith("execute_tool"));
  return seen.of("tool_error").map(({ event, envelope }, at) => ({
    text: event.error_for_llm,
    mark: envelope.details?.model_text,
    onSpan: spans[at]?.attributes["entelix.tool.model_text"],
    unknown: spans[at]?.attributes["entelix.tool.model_text_unknown"],
  }));
}

/** A graph whose node calls the tool itself, and gives what `after` makes of that. */
function ownLoop(after: (error: unknown) => Partial<typeof MessagesAnnotation.State>) {
  return new StateGraph(MessagesAnnotation)
    .addNode("work", async () => {
      try {
        await boom.invoke({ name: "boom", args: {}, id: "call_1", type: "tool_call" });
        return {};
      } catch (error) {
        return after(error);
      }
    })
    .addEdge(START, "work")
    .addEdge("work", END)
    .compile({ name: "own" });
}

describe("the model's text of a failed tool call", () => {
  it("is the message that the tool node gives to the model", async () => {
    const seen = observe();
    await run(seen, reactAgent(asksOnce(), [boom]), ASKED);
    const text = "Error: x is not a function\n Please fix your mistakes.";
    expect(textsOf(seen)).toEqual([{ text, mark: undefined, onSpan: text, unknown: undefined }]);
    expect(seen.lines().slice(3, 6)).toEqual([
      "tool_start boom",
      "tool_error boom unclassified",
      "model_start small-1",
    ]);
  });

  it("is each call's own, and has the call's own time", async () => {
    const seen = observe();
    const slow = plainTool("slow", async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      throw new Error("slow is out of order");
    });
    const script = [says("", ["boom", "call_1"], ["slow", "call_2"]), says("done")];
    await run(seen, reactAgent(script, [boom, slow]), ASKED);
    expect(textsOf(seen).map(({ text }) => text.split("\n")[0])).toEqual([
      "Error: x is not a function",
      "Error: slow is out of order",
    ]);
    const [first, second] = seen.of("tool_error");
    expect(Number(first?.event.duration_ms)).toBeLessThan(Number(second?.event.duration_ms));
  });

  it("is our own where the failure ended the run: no model received any", async () => {
    const seen = observe();
    await run(seen, strictAgent(asksOnce(), [boom]), ASKED).catch(() => {});
    const [only] = textsOf(seen);
    expect(only).toMatchObject({ mark: undefined, unknown: undefined });
    expect(only?.text).not.toBe("");
    expect(only?.text).not.toContain("x is not a function");
    expect(seen.lines().slice(-2)).toMatchObject([
      "tool_error boom unclassified",
      expect.stringMatching(/^failed tool_error_terminal/),
    ]);
  });

  it("is what the code of a node tells the model", async () => {
    const seen = observe();
    const message = new ToolMessage({ content: "try later", tool_call_id: "call_1" });
    await run(
      seen,
      ownLoop(() => ({ messages: [message] })),
      ASKED,
    );
    expect(textsOf(seen)).toMatchObject([{ text: "try later", mark: undefined }]);
  });

  it("is empty and marked where nobody knows it", async () => {
    const seen = observe();
    await run(
      seen,
      ownLoop(() => ({ messages: [new AIMessage("it failed")] })),
      ASKED,
    );
    expect(textsOf(seen)).toEqual([
      { text: "", mark: "unknown", onSpan: undefined, unknown: true },
    ]);
  });

  it("is our own of a call that is made again", async () => {
    let times = 0;
    const flaky = tool(
      async () => {
        times += 1;
        if (times === 1) throw new Error("not yet");
        return "well";
      },
      { name: "flaky", description: "flaky", schema: z.object({}) },
    );
    const call = { name: "flaky", args: {}, id: "call_1", type: "tool_call" } as const;
    const seen = observe();
    const again = RunnableLambda.from(async (_: unknown, config) => {
      await flaky.invoke(call, config).catch(() => {});
      return { messages: [await flaky.invoke(call, config)] };
    });
    await again.invoke({}, { callbacks: [seen.handler], runName: "retry" });
    expect(seen.lines()).toEqual([
      "started retry",
      "tool_start flaky",
      "tool_error flaky unclassified",
      "tool_start flaky",
      "tool_complete flaky",
      "complete",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent retry complete",
      "  execute_tool flaky error internal !",
      "  execute_tool flaky complete",
    ]);
    expect(textsOf(seen)).toMatchObject([{ mark: undefined }]);
  });

  it("is given up by flush: a process that ends loses no event", async () => {
    const seen = observe();
    let flushed = 0;
    const waits = new StateGraph(MessagesAnnotation)
      .addNode("work", async () => {
        await boom.invoke({}).catch(() => {});
        await seen.handler.flush();
        flushed = seen.of("tool_error").length;
        return {};
      })
      .addEdge(START, "work")
      .addEdge("work", END)
      .compile({ name: "waits" });
    await run(seen, waits, ASKED);
    expect(flushed).toBe(1);
    expect(textsOf(seen)).toMatchObject([{ text: "", mark: "unknown" }]);
  });

  it("keeps the order of events in a recording, however long its event waits", async () => {
    const { replayed, sink } = recorder({ captureContent: true });
    const handler = new LangChainHandler({ sink, tenant: "acme" });
    const sent: string[] = [];
    const slow = plainTool("slow", () => new Promise((done) => setTimeout(() => done("ok"), 20)));
    const script = [says("", ["boom", "call_1"], ["slow", "call_2"]), says("done")];
    const node = new ToolNode([boom, slow]);
    const llm = new ScriptedModel(script);
    const agent = createReactAgent({ llm, tools: node }).withConfig({ runName: "support" });
    await agent.invoke(ASKED, { callbacks: [handler] });
    await handler.flush();
    const { tape } = await replayed();
    for (const line of tape.trim().split("\n")) sent.push(JSON.parse(line));
    const ends = sent
      .map((line) => Object(line))
      .filter(({ tool, type }) => tool && type !== "tool_start");
    expect(ends.map(({ tool, type }) => `${type} ${tool}`)).toEqual([
      "tool_complete slow",
      "tool_error boom",
    ]);
    const [later, waited] = ends;
    expect(waited.timestamp > later.timestamp).toBe(true);
    expect(waited.details.happened_at < later.timestamp).toBe(true);
  });

  it("makes the same spans when its recording is played", async () => {
    const seen = observe();
    const script = [says("", ["boom", "call_1"]), says("", ["boom", "call_1"]), says("done")];
    await run(seen, reactAgent(script, [boom]), ASKED);
    const again = collectSpans();
    const options = { captureContent: true, mode: "replay" } as const;
    const replay = new Bridge({ tracerProvider: again.provider, ...options });
    for (const { event, envelope } of seen.told) await replay.send(event, envelope);
    expect(toTrees(again.spans())).toEqual(seen.trees());
  });
});
