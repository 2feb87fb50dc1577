import { RunnableLambda } from "@langchain/core/runnables";
import { describe, expect, it } from "vitest";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { run } from "./agents.ts";
import { observe } from "./observed.ts";

describe("the framework is never disturbed", () => {
  it("by what is thrown, whatever it is", async () => {
    const seen = observe();
    const hostile = new Proxy(new Error("x"), {
      get() {
        throw new Error("no");
      },
    });
    for (const thrown of [undefined, null, "text", 7, Object.freeze({}), hostile, Symbol("s")]) {
      const chain = RunnableLambda.from(() => {
        throw thrown;
      });
      await run(seen, chain, 1);
    }
    expect(seen.of("failed")).toHaveLength(7);
    expect(seen.of("started")).toHaveLength(7);
    expect(seen.handler.counts).toMatchObject({ faults: 0, sinkFailures: 0 });
  });

  it("by arguments that are not what LangChain's types say", () => {
    const seen = observe();
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error("no");
        },
      },
    );
    for (const odd of [undefined, null, 7, "text", [], {}, [[]], hostile]) {
      const id = `r-${String(seen.told.length)}`;
      const { handler } = seen;
      handler.handleChainStart(odd, odd, id, undefined, undefined, odd, odd, "odd");
      handler.handleChatModelStart(odd, [[odd]], `${id}m`, id, odd, [], odd);
      handler.handleLLMNewToken(odd, odd, `${id}m`);
      handler.handleLLMEnd({ generations: [[{ message: odd, text: odd }], odd] }, `${id}m`);
      handler.handleLLMStart(odd, ["a"], `${id}l`, id, odd, [], odd);
      handler.handleLLMEnd(odd, `${id}l`, undefined, undefined, odd);
      handler.handleToolStart(odd, "{not json", `${id}t`, id, [], odd, undefined, undefined);
      handler.handleToolEnd(odd, `${id}t`);
      handler.handleInterrupt(odd);
      handler.handleChainError(odd, `${id}?`, id);
      handler.handleChainEnd(odd, id);
    }
    expect(seen.of("complete").length).toBeGreaterThan(5);
    expect(seen.handler.counts.sinkFailures).toBe(0);
  });
});

describe("what is remembered", () => {
  it("is bounded, and what is forgotten counted", () => {
    const seen = observe({ limits: { openCalls: 3 } });
    for (let run = 0; run < 5; run++) seen.handler.handleChainStart({}, {}, `r${run}`);
    expect(seen.handler.counts.forgotten).toBe(2);
    for (let run = 0; run < 5; run++) seen.handler.handleChainEnd({}, `r${run}`);
    expect(seen.of("complete")).toHaveLength(3);
    expect(seen.handler.counts.unmatched).toBe(2);
  });

  it("of pauses is bounded as well", () => {
    const seen = observe({ limits: { pausedThreads: 1 } });
    const graph = { id: ["langgraph", "pregel", "CompiledStateGraph"] };
    for (let run = 0; run < 4; run++) {
      const metadata = { thread_id: `t${run}` };
      seen.handler.handleChainStart(graph, {}, `r${run}`, undefined, [], metadata);
      seen.handler.handleInterrupt({ runId: `r${run}`, interrupts: [], status: "pending" });
      seen.handler.handleChainEnd({}, `r${run}`);
    }
    expect(seen.handler.counts.threadsForgotten).toBe(2);
  });

  it("has limits that are whole numbers from 1", () => {
    const { handlerOptions } = observe();
    const limits = { openCalls: 0 };
    expect(() => new LangChainHandler({ ...handlerOptions, limits })).toThrow(
      "limits.openCalls: expected a whole number from 1, got 0",
    );
  });

  it("of a run is over with it: ends that come later are counted, and calls are a run below it", () => {
    const seen = observe();
    const { handler } = seen;
    handler.handleChainStart({}, {}, "r1");
    handler.handleChainStart({}, {}, "step", "r1");
    handler.handleToolStart({}, "{}", "open", "step", [], {}, "slow");
    handler.handleChainError(new Error("Abort"), "r1");
    handler.handleToolEnd("late", "open");
    handler.handleToolStart({}, "{}", "after", "step", [], {}, "more");
    handler.handleToolEnd("later", "after");
    expect(seen.lines()).toEqual([
      "started chain",
      "tool_start slow",
      "tool_error slow cancelled",
      "failed cancelled: Abort",
      "started more",
      "tool_start more",
      "tool_complete more",
      "complete",
    ]);
    expect(handler.counts).toMatchObject({ late: 1, unmatched: 0, faults: 0 });
    expect(seen.tree()).toEqual([
      "invoke_agent chain failed cancelled !",
      "  execute_tool slow cancelled",
      "  invoke_agent more complete",
      "    execute_tool more complete",
    ]);
  });
});
