import { setTimeout as sleep } from "node:timers/promises";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STOPPED_AFTER_MS } from "../../../src/agents/langchain/stopped-graphs.ts";
import { formatRfc3339, fromMilliseconds } from "../../../src/events/door.ts";
import { waitUntil } from "../../support/wait-for.ts";
import { tellsEarlyLeave, tellsReasons } from "./abilities.ts";
import { ASKED, oneNodeGraph, plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, StreamingModel, says } from "./scripted-model.ts";

/** A tool that takes long, and stops at the signal where it is told of it. */
const patient = () =>
  plainTool("slow", (config) => sleep(60_000, "late", { signal: config.signal, ref: false }));
/** A tool that takes no heed of signals. */
const deaf = () => plainTool("slow", () => sleep(60_000, "late", { ref: false }));
const asksSlow = () => [says("", ["slow", "call_1"]), says("done")];

/** Aborts once the sink has heard of a tool's start. */
function abortAtTool(seen: ReturnType<typeof observe>, reason?: unknown): AbortSignal {
  const controller = new AbortController();
  void waitUntil(() => seen.of("tool_start").length > 0).then(() => controller.abort(reason));
  return controller.signal;
}

describe("cancellation", () => {
  it.each([
    ["a tool that listens", patient],
    ["a tool that does not", deaf],
  ])("during %s is a cancelled run; every span ends once", async (_, tool) => {
    const seen = observe();
    const agent = reactAgent(asksSlow(), [tool()]);
    await run(seen, agent, ASKED, { signal: abortAtTool(seen) });
    await waitUntil(() => seen.of("failed").length > 0);
    expect(seen.lines()).toEqual([
      "started support",
      "model_start small-1",
      "model_complete small-1",
      "tool_start slow",
      ...(tool === patient || tellsReasons ? ["tool_error slow cancelled"] : []),
      expect.stringMatching(/^failed cancelled: .*[Aa]bort/),
    ]);
    await seen.bridge.shutdown();
    expect(seen.ended()).toEqual(Array.from({ length: seen.started() }, () => 1));
  });

  it("during a model call is cancelled there too", async () => {
    const seen = observe();
    const controller = new AbortController();
    const model = new ScriptedModel([
      async (signal) => {
        controller.abort();
        await sleep(60_000, undefined, { signal, ref: false });
        return says("late");
      },
    ]);
    const asked = model.invoke("hi", { callbacks: [seen.handler], signal: controller.signal });
    await expect(asked).rejects.toThrow();
    await waitUntil(() => seen.of("failed").length > 0);
    expect(seen.lines()).toEqual([
      "started small-1",
      "model_start small-1",
      "model_error small-1 cancelled",
      expect.stringMatching(/^failed cancelled: /),
    ]);
  });

  it("by a time limit is a deadline that was exceeded", async () => {
    const seen = observe();
    await run(seen, reactAgent(asksSlow(), [patient()]), ASKED, { timeout: 30 });
    await waitUntil(() => seen.of("failed").length > 0);
    const kind = tellsReasons ? "deadline_exceeded" : "cancelled";
    expect(seen.of("failed")[0]?.event.kind).toEqual({ type: kind });
    // The tool did not fail: the time was the run's.
    const call = seen.spans().find(({ name }) => name === "execute_tool slow");
    expect(call?.attributes).toMatchObject({
      "entelix.tool.outcome": "cancelled",
      "entelix.error.wire_code": kind,
    });
  });

  it.runIf(tellsReasons)("by a time limit leaves a tool's own timeout its failure", async () => {
    const seen = observe();
    const hasty = plainTool("hasty", () =>
      sleep(60_000, "late", { signal: AbortSignal.timeout(5), ref: false }),
    );
    const slow = patient();
    const runs = new AbortController();
    const graph = oneNodeGraph("both", async (_, config) => {
      const first = hasty.invoke({}, config).catch(() => {
        runs.abort(new DOMException("the run's time is over", "TimeoutError"));
      });
      await Promise.all([first, slow.invoke({}, config)]);
      return {};
    });
    await run(seen, graph, ASKED, { signal: runs.signal });
    await waitUntil(() => seen.of("failed").length > 0);
    expect(seen.of("tool_error").map(({ event }) => [event.tool, event.envelope])).toEqual([
      [
        "slow",
        { wire_code: "deadline_exceeded", wire_class: "server", origin: "run", cancelled: true },
      ],
      ["hasty", { wire_code: "transport_failure", wire_class: "server", origin: "tool" }],
    ]);
    expect(seen.of("failed")[0]?.event.kind).toEqual({ type: "deadline_exceeded" });
  });

  it.runIf(tellsReasons)("of a graph that another node's failure cuts off", async () => {
    const seen = observe();
    const inner = reactAgent(asksSlow(), [deaf()]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("fails", async () => {
        await waitUntil(() => seen.of("tool_start").length > 0);
        throw new TypeError("x is not a function");
      })
      .addNode("asks", async (_, config) => {
        await inner.invoke(ASKED, config);
        return {};
      })
      .addEdge(START, "fails")
      .addEdge(START, "asks")
      .addEdge("fails", END)
      .addEdge("asks", END)
      .compile({ name: "outer" });
    await run(seen, graph, ASKED);
    expect(seen.lines().slice(-3)).toEqual([
      "tool_error slow cancelled",
      expect.stringMatching(/^failed cancelled/),
      "failed unclassified: x is not a function",
    ]);
    await seen.bridge.shutdown();
    expect(seen.ended()).toEqual(Array.from({ length: seen.started() }, () => 1));
  });

  it("of a graph in a failed one is told once, also if its own end comes later", () => {
    const { handler, lines } = observe();
    const graph = { id: ["langgraph", "pregel", "Pregel"] };
    handler.handleChainStart(graph, {}, "r1", undefined, [], {}, "", "outer");
    handler.handleChainStart(graph, {}, "r2", "r1", [], {}, "", "inner");
    handler.handleChainError(new TypeError("x"), "r1");
    handler.handleChainEnd({}, "r2");
    expect(lines()).toEqual([
      "started outer",
      "started inner",
      expect.stringMatching(/^failed cancelled/),
      "failed unclassified: x",
    ]);
  });

  it("by leaving a stream early is a cancelled run", async () => {
    const seen = observe();
    const agent = reactAgent(asksSlow(), [patient()]);
    for await (const _ of await agent.stream(ASKED, { callbacks: [seen.handler] })) break;
    if (tellsEarlyLeave) await waitUntil(() => seen.of("failed").length > 0);
    else await seen.bridge.shutdown();
    const outcomes = seen.trees().map(({ attributes }) => attributes["entelix.run.outcome"]);
    expect(outcomes).toEqual([tellsEarlyLeave ? "failed" : "abandoned"]);
  });

  describe("that nobody tells the end of", () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    it.each(["left", "aborted"])(
      "is told after a while: a stream that is %s in the middle of an answer",
      async (how) => {
        const seen = observe();
        const controller = new AbortController();
        const { signal } = controller;
        const model = new StreamingModel([says("let me see what there is")]);
        const agent = createReactAgent({ llm: model, tools: [] }).withConfig({
          runName: "support",
        });
        const config = { callbacks: [seen.handler], streamMode: "messages" as const, signal };
        const stream = await agent.stream(ASKED, config);
        const read = async () => {
          for await (const _ of stream) {
            if (how === "left") break;
            controller.abort();
          }
        };
        await read().catch(() => {});
        await waitUntil(() => seen.of("model_error").length > 0);
        const leftAt = formatRfc3339(fromMilliseconds(Date.now()));
        await sleep(20);
        expect(seen.of("failed")).toEqual([]);
        vi.advanceTimersByTime(STOPPED_AFTER_MS);
        expect(seen.of("failed").map(({ event }) => event.kind)).toEqual([{ type: "cancelled" }]);
        expect(seen.trees().map(({ attributes }) => attributes["entelix.failure.kind"])).toEqual([
          "cancelled",
        ]);
        expect((seen.trees()[0]?.end ?? "") <= leftAt).toBe(true);
        await seen.bridge.shutdown();
        expect(seen.ended()).toEqual(Array.from({ length: seen.started() }, () => 1));
      },
    );

    it.each([
      ["when nothing is open", [], true],
      ["not while another node is at work", ["other"], false],
      ["not when a node begins after it", ["next"], false],
    ])("is told of a graph whose node was called off, %s", (_, nodes, isTold) => {
      const { handler, lines } = observe();
      const abort = new DOMException("This operation was aborted", "AbortError");
      handler.handleChainStart({ id: ["langgraph", "pregel", "Pregel"] }, {}, "r1");
      handler.handleChainStart({}, {}, "node", "r1");
      if (nodes.includes("other")) handler.handleChainStart({}, {}, "other", "r1");
      handler.handleChainError(abort, "node", "r1");
      if (nodes.includes("next")) {
        handler.handleChainStart({}, {}, "next", "r1");
        handler.handleChainEnd({}, "next");
      }
      vi.advanceTimersByTime(STOPPED_AFTER_MS);
      expect(lines().length).toBe(isTold ? 2 : 1);
      handler.handleChainEnd({}, "other");
      handler.handleChainEnd({}, "r1");
      expect(lines()[1]).toMatch(isTold ? /^failed cancelled/ : /^complete/);
      expect(lines().length).toBe(2);
    });

    it.each([
      ["when its last node ends after the call around it", "tool", true],
      ["not while the call around it is open", undefined, false],
      ["not when it goes on", "next", false],
    ])("is told of a graph in a tool that nobody waits for, %s", (_, what, isTold) => {
      const { handler, lines } = observe();
      const graph = { id: ["langgraph", "pregel", "Pregel"] };
      handler.handleChainStart(graph, {}, "r1");
      handler.handleToolStart({}, "{}", "t1", "r1", [], {}, "ask");
      handler.handleChainStart(graph, {}, "r2", "t1", [], {}, undefined, "sub");
      handler.handleChainStart({}, {}, "node", "r2");
      if (what !== undefined) handler.handleToolEnd("gave up", "t1");
      handler.handleChainEnd({}, "node", "r2");
      if (what === "next") handler.handleChainStart({}, {}, "next", "r2");
      vi.advanceTimersByTime(STOPPED_AFTER_MS);
      const ends = lines().filter((line) => /^(failed|complete)/.test(line));
      expect(ends).toEqual(isTold ? [expect.stringMatching(/^failed cancelled/)] : []);
    });

    it("is not told of a node that failed otherwise, nor of a chain that is no graph", () => {
      const { handler, lines } = observe();
      handler.handleChainStart({ id: ["langgraph", "pregel", "Pregel"] }, {}, "r1");
      handler.handleChainStart({}, {}, "node", "r1");
      handler.handleChainError(new Error("vendor down"), "node", "r1");
      handler.handleChainStart({}, {}, "r2");
      handler.handleChainStart({}, {}, "step", "r2");
      handler.handleChainError(new DOMException("aborted", "AbortError"), "step", "r2");
      vi.advanceTimersByTime(2 * STOPPED_AFTER_MS);
      expect(lines().filter((line) => !line.startsWith("started"))).toEqual([]);
    });
  });
});
