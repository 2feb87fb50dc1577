import { RunnableLambda, RunnableSequence } from "@langchain/core/runnables";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STOPPED_AFTER_MS } from "../../../src/agents/langchain/stopped-graphs.ts";
import { inSpan } from "../../../src/entries/langchain.ts";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { STOP_REASONS, untilAborted } from "../../support/stops.ts";
import { waitUntil } from "../../support/wait-for.ts";
import { tellsReasons } from "./abilities.ts";
import { ASKED, oneNodeGraph, plainTool, reactAgent, run, strictAgent } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, StreamingModel, says } from "./scripted-model.ts";

setUnclassifiedWarning(() => {});

type Invoked = Parameters<typeof run>[1];

/** What a stop during the work of a program may end: the run and its calls, none of which failed. */
interface Stopped {
  readonly program: (stop: () => void) => Invoked;
  readonly input?: unknown;
  readonly ends: readonly string[];
}

const listens = (stop: () => void) => async (signal: AbortSignal | undefined) => {
  stop();
  return untilAborted(signal);
};
/** As OpenAI's client, which throws an error of its own. */
const throwsOwn = (stop: () => void) => async (signal: AbortSignal | undefined) => {
  await listens(stop)(signal).catch(() => {});
  throw Object.assign(new Error("Request was aborted."), { name: "AbortError" });
};
const slowTool = (stop: () => void) => plainTool("slow", ({ signal }) => listens(stop)(signal));
const asksSlow = () => says("", ["slow", "call_1"]);

const PLACES: Readonly<Record<string, Stopped>> = {
  "a lone model": {
    program: (stop) => new ScriptedModel([listens(stop)]),
    input: "hi",
    ends: ["model_error cancelled", "failed cancelled"],
  },
  "a lone model whose client throws its own error": {
    program: (stop) => new ScriptedModel([throwsOwn(stop)]),
    input: "hi",
    ends: ["model_error cancelled", "failed cancelled"],
  },
  "the model of an agent whose client throws its own error": {
    program: (stop) => reactAgent([throwsOwn(stop)], []),
    ends: ["step_error cancelled", "model_error cancelled", "failed cancelled"],
  },
  "the model of an agent": {
    program: (stop) => reactAgent([listens(stop)], []),
    ends: ["step_error cancelled", "model_error cancelled", "failed cancelled"],
  },
  "the model of an agent that does not listen": {
    program: (stop) => {
      const deaf = () => {
        stop();
        return new Promise<never>(() => {});
      };
      return reactAgent([deaf], []);
    },
    ends: ["step_error cancelled", "model_error cancelled", "failed cancelled"],
  },
  "the model of a chain": {
    program: (stop) =>
      RunnableSequence.from([
        new RunnableLambda({ func: (input: string) => input }),
        new ScriptedModel([listens(stop)]),
      ]),
    input: "hi",
    ends: ["model_error cancelled", "failed cancelled"],
  },
  "a tool": {
    program: (stop) => reactAgent([asksSlow()], [slowTool(stop)]),
    ends: ["tool_error cancelled", "step_error cancelled", "failed cancelled"],
  },
  "a tool that lets errors out": {
    program: (stop) => strictAgent([asksSlow()], [slowTool(stop)]),
    ends: ["tool_error cancelled", "step_error cancelled", "failed cancelled"],
  },
  "a lone tool with `inSpan`": {
    program: (stop) => inSpan(slowTool(stop)),
    input: {},
    ends: ["tool_error cancelled", "failed cancelled"],
  },
  "a function with `inSpan`": {
    program: (stop) =>
      inSpan(
        new RunnableLambda({
          func: (_: unknown, { signal }: { signal?: AbortSignal }) => listens(stop)(signal),
        }),
      ),
    ends: ["failed cancelled"],
  },
  "a node with `inSpan`": {
    program: (stop) =>
      new StateGraph(MessagesAnnotation)
        .addNode(
          "work",
          inSpan(async (_: unknown, { signal }: { signal?: AbortSignal }) => listens(stop)(signal)),
        )
        .addEdge(START, "work")
        .compile(),
    ends: ["step_error cancelled", "failed cancelled"],
  },
  "a tool of an agent in a node": {
    program: (stop) => {
      const inner = reactAgent([asksSlow()], [slowTool(stop)]);
      return oneNodeGraph("outer", async (_, config) => inner.invoke(ASKED, config));
    },
    ends: [
      ...["tool_error cancelled", "step_error cancelled", "step_error cancelled"],
      ...["failed cancelled", "failed cancelled"],
    ],
  },
};

/** The ends that are no success. A call or step that was stopped is cut: it did not fail. */
const badEnds = ({ told }: ReturnType<typeof observe>) =>
  told.flatMap(({ event }) => {
    if (event.type === "tool_error" || event.type === "step_error") {
      const { cancelled, wire_code } = event.envelope;
      return [`${event.type} ${cancelled === true ? wire_code : "failed"}`];
    }
    if (event.type !== "failed" && event.type !== "model_error") return [];
    return [`${event.type} ${event.kind?.type}`];
  });

/** Plays it until the run has ended, which LangGraph does not report for all nodes. */
async function stopped({ program, input = ASKED }: Stopped, reason: unknown, config: object = {}) {
  const seen = observe({}, true);
  const controller = new AbortController();
  const callee = program(() => controller.abort(reason));
  await run(seen, callee, input, { signal: controller.signal, ...config });
  const isOver = () => seen.of("failed").length === seen.of("started").length;
  await waitUntil(() => isOver() || seen.of("step_error").length > 0);
  if (!isOver()) vi.advanceTimersByTime(STOPPED_AFTER_MS);
  await waitUntil(isOver);
  return seen;
}

describe.runIf(tellsReasons)("a stop", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  describe.each(Object.entries(PLACES))("in %s", (_, place) => {
    it.each(STOP_REASONS)("with %s is cancelled, and no failure", async (_, reason) => {
      const seen = await stopped(place, reason);
      expect(badEnds(seen).sort()).toEqual([...place.ends].sort());
    });

    it("with a time limit is a deadline that was exceeded", async () => {
      const seen = await stopped(place, new DOMException("too late", "TimeoutError"));
      const ends = place.ends.map((end) => end.replace("cancelled", "deadline_exceeded"));
      expect(badEnds(seen).sort()).toEqual([...ends].sort());
    });
  });

  it.each(STOP_REASONS)("in the stream of an answer, with %s", async (_, reason) => {
    const seen = observe({}, true);
    const controller = new AbortController();
    const agent = createReactAgent({ llm: new StreamingModel([says("let me see")]), tools: [] });
    const config = { callbacks: [seen.handler], streamMode: "messages" as const };
    const stream = await agent.stream(ASKED, { ...config, signal: controller.signal });
    const read = async () => {
      for await (const _ of stream) controller.abort(reason);
    };
    await read().catch(() => {});
    await waitUntil(() => seen.of("step_error").length > 0);
    vi.advanceTimersByTime(STOPPED_AFTER_MS);
    const ends = ["model_error cancelled", "step_error cancelled", "failed cancelled"];
    expect(badEnds(seen)).toEqual(ends);
  });
});

describe("a stop that LangChain does not show", () => {
  const gone = new Error("client gone");

  it.each<readonly [string, (stop: () => void) => Invoked, string]>([
    [
      "a function",
      (stop) =>
        new RunnableLambda({
          func: (_: unknown, { signal }: { signal?: AbortSignal }) => listens(stop)(signal),
        }),
      "failed unclassified",
    ],
    ["a lone tool", slowTool, "failed tool_error_terminal"],
  ])("in %s without `inSpan` has the kind of its reason", async (_, program, end) => {
    const seen = observe();
    const controller = new AbortController();
    await run(
      seen,
      program(() => controller.abort(gone)),
      {},
      { signal: controller.signal },
    );
    expect(badEnds(seen).at(-1)).toBe(end);
  });
});

describe("a failure beside a stop", () => {
  it("before it stays a failure", async () => {
    const seen = observe();
    const controller = new AbortController();
    const outage = Object.assign(new Error("overloaded"), { status: 529 });
    const model = new ScriptedModel([outage]);
    await run(seen, model, "hi", { signal: controller.signal });
    controller.abort("gone");
    expect(badEnds(seen)).toEqual(["model_error model_dispatch", "failed model_dispatch"]);
  });

  it("at the same time stays a failure, also of a model that saw the signal fire", async () => {
    const seen = observe();
    const controller = new AbortController();
    const model = new ScriptedModel([
      async () => {
        controller.abort("gone");
        throw Object.assign(new Error("overloaded"), { status: 529 });
      },
    ]);
    await run(seen, model, "hi", { signal: controller.signal });
    expect(badEnds(seen)).toEqual(["model_error model_dispatch", "failed model_dispatch"]);
  });

  it("is not cut where only one of two calls was left", async () => {
    const seen = observe();
    const leaves = new AbortController();
    const left = plainTool("left", ({ signal }) => untilAborted(signal));
    const stays = plainTool("stays", () => "done");
    const breaks = plainTool("breaks", () => {
      throw new Error("client gone too");
    });
    const graph = oneNodeGraph("both", async (_, config) => {
      const one = left.invoke({}, { ...config, signal: leaves.signal }).catch(() => {});
      leaves.abort(new Error("client gone"));
      await one;
      await breaks.invoke({}, config).catch(() => {});
      await stays.invoke({}, config);
      return {};
    });
    await run(seen, graph);
    expect(seen.of("complete")).toHaveLength(1);
    expect(seen.of("tool_complete").map(({ event }) => event.tool)).toEqual(["stays"]);
    const broke = seen.of("tool_error").find(({ event }) => event.tool === "breaks");
    expect(broke?.event.envelope.cancelled).toBeUndefined();
  });

  it("that the run survives leaves its end alone: a model that was left for another", async () => {
    const seen = observe();
    const leaves = new AbortController();
    const slow = new ScriptedModel([untilAborted]);
    const quick = new ScriptedModel([says("quick")]);
    const graph = oneNodeGraph("race", async (_, config) => {
      const one = slow.invoke("hi", { ...config, signal: leaves.signal }).catch(() => {});
      await waitUntil(() => seen.of("model_start").length > 0);
      leaves.abort("the other was quicker");
      await one;
      return { messages: [await quick.invoke("hi", config)] };
    });
    await run(seen, graph);
    expect(badEnds(seen)).toEqual(["model_error cancelled"]);
    expect(seen.of("complete")).toHaveLength(1);
  });
});
