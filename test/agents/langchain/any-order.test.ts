import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../support/runs.ts";
import { observe } from "./observed.ts";

// Whatever the framework tells, in whatever order, twice or not at all.

const GRAPH = { id: ["langgraph", "pregel", "CompiledStateGraph"] };
const CHAIN = { id: ["langchain_core", "runnables", "RunnableSequence"] };
const PAUSE = Object.assign(new Error("pause"), {
  is_bubble_up: true,
  name: "GraphInterrupt",
  interrupts: [{ value: "?" }],
});
const THROWN = [new Error("boom"), new Error("Abort"), PAUSE, undefined, "text"];

interface Call {
  readonly id: string;
  readonly parent: string | undefined;
  readonly thread: string | undefined;
  readonly thrown: unknown;
}
type Handler = ReturnType<typeof observe>["handler"];

const CALLBACKS: Record<string, (handler: Handler, call: Call) => void> = {
  graph: (handler, { id, parent, thread }) =>
    handler.handleChainStart(GRAPH, null, id, parent, [], { thread_id: thread }),
  chain: (handler, { id, parent, thread }) =>
    handler.handleChainStart(CHAIN, null, id, parent, [], { thread_id: thread }),
  node: (handler, { id, parent }) =>
    handler.handleChainStart(CHAIN, null, id, parent, [], { langgraph_node: "n" }, "", "n"),
  chainEnd: (handler, { id }) => handler.handleChainEnd({}, id),
  chainError: (handler, { id, parent, thrown }) => handler.handleChainError(thrown, id, parent),
  pause: (handler, { id }) =>
    handler.handleInterrupt({ runId: id, status: "pending", interrupts: [] }),
  tool: (handler, { id, parent }) =>
    handler.handleToolStart({}, "{}", id, parent, [], {}, "look", "call_1"),
  toolEnd: (handler, { id }) => handler.handleToolEnd("seen", id),
  toolError: (handler, { id, thrown }) => handler.handleToolError(thrown, id),
  model: (handler, { id, parent }) =>
    handler.handleChatModelStart({}, [[]], id, parent, {}, [], {}),
  token: (handler, { id }) => handler.handleLLMNewToken("a", undefined, id),
  modelEnd: (handler, { id }) => handler.handleLLMEnd({ generations: [] }, id),
  modelError: (handler, { id, thrown }) => handler.handleLLMError(thrown, id),
  retriever: (handler, { id, parent }) => handler.handleRetrieverStart({}, "q", id, parent),
  retrieverEnd: (handler, { id }) => handler.handleRetrieverEnd([], id),
  retrieverError: (handler, { id, thrown }) => handler.handleRetrieverError(thrown, id),
};

const ids = fc.constantFrom("a", "b", "c", "d", "e", "f");
const step = fc.record({
  what: fc.constantFrom(...Object.keys(CALLBACKS)),
  id: ids,
  parent: fc.option(ids, { nil: undefined }),
  thread: fc.option(fc.constantFrom("t1", "t2"), { nil: undefined }),
  thrown: fc.constantFrom(...THROWN),
});

describe("callbacks in any order", () => {
  it("never throw; a run has one start, at most one end, and nothing after it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const seen = observe({}, true);
        for (const { what, ...call } of steps) CALLBACKS[what]?.(seen.handler, call);
        expect(seen.handler.counts).toMatchObject({ faults: 0, sinkFailures: 0 });
        const open = new Set<string>();
        for (const { event } of seen.told) {
          if (event.type === "started") {
            expect(open.has(event.run_id)).toBe(false);
            open.add(event.run_id);
            continue;
          }
          expect(open.has(event.run_id)).toBe(true);
          if (["complete", "failed", "interrupted"].includes(event.type)) open.delete(event.run_id);
        }
        await seen.bridge.shutdown();
        expect(seen.ended()).toEqual(Array.from({ length: seen.started() }, () => 1));
      }),
      { numRuns: runs(300) },
    );
  });
});
