import { RunnableLambda } from "@langchain/core/runnables";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { carriedChunks } from "../../../src/agents/langchain/in-span.ts";
import { type ActiveRun, activeRun } from "../../../src/agents/runtime/active-run.ts";
import { inSpan } from "../../../src/entries/langchain.ts";
import { ASKED, plainTool, reactAgent } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

const State = Annotation.Root({ done: Annotation<number> });
type Node = (state: typeof State.State) => Promise<Partial<typeof State.State>>;

const graphOf = (node: Node | RunnableLambda<typeof State.State, Partial<typeof State.State>>) =>
  new StateGraph(State)
    .addNode("work", node)
    .addEdge(START, "work")
    .addEdge("work", END)
    .compile({ name: "one" });

describe("a node that inSpan wraps", () => {
  it.each([
    ["a function", (node: Node) => inSpan(node)],
    ["a runnable", (node: Node) => inSpan(RunnableLambda.from(node))],
    ["wrapped twice", (node: Node) => inSpan(inSpan(node))],
  ])("%s has its code, and what that starts, in its step", async (_, wrap) => {
    const seen = observe({}, true);
    const runs: (ActiveRun | undefined)[] = [];
    const work: Node = async () => {
      await Promise.resolve();
      runs.push(activeRun());
      await new Promise<void>((resolve) => {
        setTimeout(() => {
          runs.push(activeRun());
          resolve();
        }, 0);
      });
      return { done: 1 };
    };
    const result = await graphOf(wrap(work)).invoke({ done: 0 }, { callbacks: [seen.handler] });
    expect(result).toEqual({ done: 1 });
    const [step] = seen.of("step_start");
    const place = { runId: step?.event.run_id, stepId: step?.event.step_id, tenantId: "acme" };
    expect(runs).toEqual([expect.objectContaining(place), expect.objectContaining(place)]);
    expect(activeRun()).toBeUndefined();
  });

  it("keeps its name, its `this` and its errors", async () => {
    const self = {
      value: 7,
      read: inSpan(function read(this: { readonly value: number }) {
        return this.value;
      }),
    };
    expect(self.read.name).toBe("read");
    expect(self.read()).toBe(7);
    const failing = inSpan(async () => Promise.reject(new Error("own")));
    const seen = observe();
    const graph = graphOf(failing).invoke({ done: 0 }, { callbacks: [seen.handler] });
    await expect(graph).rejects.toThrow("own");
  });

  it("works as before without a handler", async () => {
    const graph = graphOf(inSpan(async () => ({ done: 2 })));
    expect(await graph.invoke({ done: 0 })).toEqual({ done: 2 });
  });
});

describe("a tool that is an async generator", () => {
  it("has each of its steps in its call", async () => {
    const seen = observe();
    const calls: unknown[] = [];
    const steps = inSpan(
      new DynamicStructuredTool({
        name: "steps",
        description: "two steps",
        schema: z.object({}),
        // LangChain declares no generators, and runs them.
        func: async function* steps() {
          calls.push(activeRun()?.toolUseId);
          yield "one";
          await Promise.resolve();
          calls.push(activeRun()?.toolUseId);
          return "two";
        } as never,
      }),
    );
    const result: unknown = await steps.invoke(
      { type: "tool_call", id: "c1", name: "steps", args: {} },
      { callbacks: [seen.handler] },
    );
    expect(calls).toEqual(["c1", "c1"]);
    expect(result).toMatchObject({ content: "two" });
    expect(seen.of("tool_complete")[0]?.event.output).toBe("two");
  });

  it("in an agent has the model calls of its later steps below it", async () => {
    const seen = observe();
    const steps = inSpan(
      plainTool("steps", async function* steps() {
        yield "one";
        await new ScriptedModel([says("two")]).invoke("hi");
        return "two";
      }),
    );
    await reactAgent([says("", ["steps", "c1"]), says("done")], [steps]).invoke(ASKED, {
      callbacks: [seen.handler],
    });
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool steps complete",
      "    chat small-1 complete",
      "  chat small-1 complete",
    ]);
  });

  const stepsIn = (tell: (text: unknown) => void) => {
    async function* spoken(): AsyncGenerator<string, string, string> {
      try {
        tell(yield "first");
        tell(yield "second");
      } catch (error) {
        tell(error);
        yield "caught";
      } finally {
        tell(activeRun()?.toolUseId);
      }
      return "last";
    }
    const run: ActiveRun = { sink: { send() {} }, tenantId: "t", runId: "r", rootRunId: "r" };
    const scope = { run: { ...run, toolUseId: "c1" }, span: { tool_use_id: "c1" } };
    return carriedChunks(scope, spoken);
  };

  it("gets what its reader sends and throws, and gives its last value", async () => {
    const heard: unknown[] = [];
    const steps = stepsIn((text) => heard.push(text));
    expect(await steps.next("lost")).toEqual({ done: false, value: "first" });
    expect(await steps.next("go on")).toEqual({ done: false, value: "second" });
    expect(await steps.throw("stop")).toEqual({ done: false, value: "caught" });
    expect(await steps.next("over")).toEqual({ done: true, value: "last" });
    expect(heard).toEqual(["go on", "stop", "c1"]);
  });

  it("is left with the value of its reader", async () => {
    const heard: unknown[] = [];
    const steps = stepsIn((text) => heard.push(text));
    await steps.next("lost");
    expect(await steps.return("enough")).toEqual({ done: true, value: "enough" });
    expect(heard).toEqual(["c1"]);
  });
});
