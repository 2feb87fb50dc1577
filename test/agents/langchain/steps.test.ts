import { Document } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import { RunnableLambda, RunnableSequence } from "@langchain/core/runnables";
import {
  Command,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { activeRun } from "../../../src/agents/runtime/active-run.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { inSpan } from "../../../src/entries/langchain.ts";
import { bench } from "../../support/run-events.ts";
import { fingerprint } from "../../support/spans.ts";
import { ASKED, add, oneNodeGraph, plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

const observeSteps = () => observe({}, true);

class Pages extends BaseRetriever {
  lc_namespace = ["test"];
  readonly #found: () => Document[];

  constructor(found = () => [new Document({ pageContent: "page" })]) {
    super();
    this.#found = found;
  }

  override async _getRelevantDocuments() {
    return this.#found();
  }
}

type Node = (
  state: typeof MessagesAnnotation.State,
  config: LangGraphRunnableConfig,
) => Promise<typeof MessagesAnnotation.Update>;

/** A graph of these nodes, one after the other. */
function sequence(nodes: Readonly<Record<string, Node>>, checkpointer?: MemorySaver) {
  const graph = new StateGraph(MessagesAnnotation);
  for (const [name, node] of Object.entries(nodes)) graph.addNode(name, node);
  const places = [START, ...Object.keys(nodes), END];
  for (const [at, name] of places.slice(1).entries()) {
    Reflect.apply(graph.addEdge, graph, [places[at], name]);
  }
  return graph.compile({ name: "top", ...(checkpointer === undefined ? {} : { checkpointer }) });
}

describe("the nodes of a graph", () => {
  it("are steps, with their calls and graphs below them, and no plumbing", async () => {
    const seen = observeSteps();
    const inner = reactAgent([says("", ["add", "c1", { a: 1, b: 2 }]), says("3")], [add]);
    // Chains inside a node, one with the node's own name.
    const chained = RunnableSequence.from([
      RunnableLambda.from((state) => state).withConfig({ runName: "chained" }),
      RunnableLambda.from(async (_, config) => {
        await add.invoke({ a: 1, b: 1 }, config);
        return {};
      }),
    ]);
    const graph = sequence({
      plain: async () => ({}),
      chained: (state, config) => chained.invoke(state, config),
      agent: async (_, config) => ({ messages: (await inner.invoke(ASKED, config)).messages }),
    });
    await run(seen, graph);
    expect(seen.tree()).toEqual([
      "invoke_agent top complete",
      "  step plain complete",
      "  step chained complete",
      "    execute_tool add complete",
      "  step agent complete",
      "    invoke_agent support complete",
      "      step agent complete",
      "        chat small-1 complete",
      "      step tools complete",
      "        execute_tool add complete",
      "      step agent complete",
      "        chat small-1 complete",
    ]);
    expect(seen.errors).toEqual([]);
    expect(seen.handler.counts).toMatchObject({ duplicates: 0, unmatched: 0, late: 0, faults: 0 });
  });

  it("are named by LangChain's ids, by what starts in them, and say neither input nor output", async () => {
    const seen = observeSteps();
    await run(seen, reactAgent([says("", ["add", "c1", { a: 1, b: 2 }]), says("3")], [add]));
    const [first, second] = seen.of("step_start");
    expect(Object.keys(first?.event ?? {})).toEqual([
      "type",
      "run_id",
      "tenant_id",
      "step_id",
      "step",
    ]);
    expect(seen.of("step_complete").map(({ event }) => Object.keys(event))).toEqual(
      [1, 2, 3].map(() => ["type", "run_id", "tenant_id", "step_id", "step", "duration_ms"]),
    );
    const [model] = seen.of("model_start");
    const [tool] = seen.of("tool_start");
    expect(model?.envelope.details).toEqual({ step_id: first?.event.step_id });
    expect(tool?.envelope.details).toEqual({ step_id: second?.event.step_id });
    expect(first?.envelope.details).toBeUndefined();
  });

  it("that throw are errors, once for each level, and keep the run's failure kind", async () => {
    const seen = observeSteps();
    const graph = oneNodeGraph("failing", async () => {
      throw Object.assign(new Error("the CRM says no"), { status: 401 });
    });
    await run(seen, graph);
    expect(seen.tree()).toEqual(["invoke_agent failing failed internal !", "  step work error !"]);
    const [error] = seen.of("step_error");
    expect(error?.event).toMatchObject({
      error: "the CRM says no",
      envelope: { provider_status: 401, origin: "run" },
    });
  });

  it("that pause are interrupted, and the resumed run has steps of its own", async () => {
    const seen = observeSteps();
    const graph = sequence(
      {
        ask: async () => ({ messages: [{ role: "user", content: String(interrupt("secret?")) }] }),
      },
      new MemorySaver(),
    );
    const thread = { callbacks: [seen.handler], configurable: { thread_id: "t1" } };
    await graph.invoke(ASKED, thread);
    await graph.invoke(new Command({ resume: "yes" }), thread);
    expect(seen.tree()).toEqual([
      "invoke_agent top interrupted",
      "  step ask interrupted",
      "invoke_agent top complete",
      "  step ask complete",
    ]);
    expect(JSON.stringify(seen.of("step_error"))).not.toContain("secret");
  });

  it("that hand over to the graph above are complete", async () => {
    const seen = observeSteps();
    const below = new StateGraph(MessagesAnnotation)
      .addNode("leave", async () => new Command({ goto: "last", graph: Command.PARENT }))
      .addEdge(START, "leave")
      .compile({ name: "below" });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("first", below, { ends: ["last"] })
      .addNode("last", async () => ({}))
      .addEdge(START, "first")
      .addEdge("last", END)
      .compile({ name: "above" });
    await run(seen, graph);
    expect(seen.tree()).toEqual([
      "invoke_agent above complete",
      "  step first complete",
      "    invoke_agent below complete",
      "      step leave complete",
      "  step last complete",
    ]);
  });
});

describe("a retriever", () => {
  it("in a tool stands below the tool, in a node below the node", async () => {
    const seen = observeSteps();
    const pages = new Pages();
    const search = plainTool("search", async (config) => (await pages.invoke("q", config)).length);
    const graph = sequence({
      direct: async (_, config) => {
        await pages.invoke("q", { ...config, runName: "shop" });
        return {};
      },
      byTool: async (_, config) => {
        await search.invoke({}, config);
        return {};
      },
    });
    await run(seen, graph);
    expect(seen.tree()).toEqual([
      "invoke_agent top complete",
      "  step direct complete",
      "    retrieval shop complete",
      "  step byTool complete",
      "    execute_tool search complete",
      "      retrieval Pages complete",
    ]);
  });

  it("that throws is an error; one that is called alone is a run of its name, unless that is left out", async () => {
    const seen = observeSteps();
    const broken = new Pages(() => {
      throw new Error("no index");
    });
    await expect(broken.invoke("q", { callbacks: [seen.handler] })).rejects.toThrow("no index");
    await new Pages().invoke("q", { callbacks: [seen.handler] });
    expect(seen.tree()).toEqual([
      "invoke_agent Pages failed unclassified !",
      "  retrieval Pages error !",
      "invoke_agent Pages complete",
      "  retrieval Pages complete",
    ]);
    const quiet = observe({ loneCalls: "skip" }, true);
    await new Pages().invoke("q", { callbacks: [quiet.handler] });
    expect([quiet.told.length, quiet.handler.counts.skipped]).toEqual([0, 1]);
  });

  it("runs its code in its span with inSpan", async () => {
    const seen = observeSteps();
    const found: unknown[] = [];
    const pages = inSpan(
      new Pages(() => {
        found.push(trace.getActiveSpan()?.spanContext().spanId, activeRun()?.stepId);
        return [];
      }),
    );
    await pages.invoke("q", { callbacks: [seen.handler] });
    const [retrieval] = seen.spans();
    const [start] = seen.of("step_start");
    expect(found).toEqual([retrieval?.spanContext().spanId, start?.event.step_id]);
  });
});

describe("steps of several senders", () => {
  it("a graph in a step of the runtime, and a run of the runtime in a tool of a node", async () => {
    const seen = observeSteps();
    const hire = inSpan(
      plainTool("hire", () => runAgent({ agent: "kid" }, (kid) => kid.step("own", () => 1))),
    );
    const model = new ScriptedModel([says("", ["hire", "c1"]), says("done")]);
    const graph = sequence({
      work: async (_, config) => {
        await model.invoke("go", config);
        await hire.invoke({}, config);
        return {};
      },
    });
    await runAgent({ sink: seen.sink, agent: "outer", tenant: "acme" }, (outer) =>
      outer.step("plan", () => graph.invoke(ASKED, { callbacks: [seen.handler] })),
    );
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  step plan complete",
      "    invoke_agent top complete",
      "      step work complete",
      "        chat small-1 complete",
      "        execute_tool hire complete",
      "          invoke_agent kid complete",
      "            step own complete",
    ]);
  });

  it("make the identical spans when they are played again", async () => {
    const seen = observeSteps();
    const pages = new Pages();
    const search = plainTool("search", async (config) => (await pages.invoke("q", config)).length);
    const graph = sequence({
      look: async (_, config) => {
        await search.invoke({}, config);
        return {};
      },
    });
    await run(seen, graph);
    const again = bench({ captureContent: true });
    for (const { event, envelope } of seen.told) await again.sink.send(event, envelope);
    expect(again.spans().map(fingerprint)).toEqual(seen.spans().map(fingerprint));
    expect(again.spans()).toHaveLength(4);
  });
});
