import { RunnableLambda } from "@langchain/core/runnables";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ActiveRun,
  activeRun,
  withCurrentRun,
} from "../../../src/agents/runtime/active-run.ts";
import { inSpan } from "../../../src/entries/langchain.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { Deferred } from "../../../src/events/door.ts";
import { tellsCallIds } from "./abilities.ts";
import { add, oneNodeGraph, plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, StreamingModel, says } from "./scripted-model.ts";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

type Seen = ReturnType<typeof observe>;

/** A run that something else tells of, with a tool call open. */
async function inOtherRun(seen: Seen, work: (current: ActiveRun) => Promise<unknown>) {
  const ids = { run_id: "01a1fbfa-4823-7117-8175-79e327b20933", tenant_id: "globex" };
  const call = { ...ids, tool_use_id: "call_o", tool: "delegate" };
  seen.bridge.send({ type: "started", ...ids, agent: "outer" });
  seen.bridge.send({ type: "tool_start", ...call, input: null });
  const current: ActiveRun = {
    tenantId: ids.tenant_id,
    runId: ids.run_id,
    rootRunId: ids.run_id,
    threadId: "t9",
    toolUseId: call.tool_use_id,
    sink: seen.sink,
  };
  await withCurrentRun(current, () => work(current));
  seen.bridge.send({ type: "tool_complete", ...call, output: null, duration_ms: 1 });
  seen.bridge.send({ type: "complete", ...ids, state: null });
}

describe("inside a run that something else tells of", () => {
  it("a graph is its child, under the tool call that is open", async () => {
    const seen = observe();
    const agent = reactAgent([says("", ["add", "call_1", { a: 1, b: 2 }]), says("3")], [add]);
    await inOtherRun(seen, () => run(seen, agent));
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  execute_tool delegate complete",
      "    invoke_agent support complete",
      "      chat small-1 complete",
      "      execute_tool add complete",
      "      chat small-1 complete",
    ]);
    const [started] = seen.of("started");
    expect(started?.event).toMatchObject({ tenant_id: "globex" });
    expect(started?.envelope).toMatchObject({
      parent_tool_use_id: "call_o",
      root_run_id: started?.event.parent_run_id,
      thread_id: "t9",
    });
    expect(seen.of("complete")[0]?.event.usage).toBe(null);
  });

  it("a model called alone belongs to it", async () => {
    const seen = observe();
    const model = new ScriptedModel([says("hello")]);
    await inOtherRun(seen, () => model.invoke("hi", { callbacks: [seen.handler] }));
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  execute_tool delegate complete",
      "    chat small-1 complete",
    ]);
  });

  it("a tool that is the open tool call itself has no second span", async () => {
    const seen = observe();
    const callbacks = [seen.handler];
    await inOtherRun(seen, async () => {
      await add.invoke({ a: 1, b: 2 }, { callbacks });
      await add.invoke(
        { type: "tool_call", id: "call_o", name: "add", args: { a: 1, b: 2 } },
        { callbacks },
      );
    });
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  execute_tool delegate complete",
    ]);
    expect(seen.handler.counts).toMatchObject({ shownElsewhere: 2, unmatched: 0 });
  });

  it("a tool with a call id of its own is a tool call of it", async () => {
    const seen = observe();
    const request = { type: "tool_call", id: "call_9", name: "add", args: { a: 1, b: 2 } } as const;
    await inOtherRun(seen, () => add.invoke(request, { callbacks: [seen.handler] }));
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  execute_tool delegate complete",
      ...(tellsCallIds ? ["    execute_tool add complete"] : []),
    ]);
  });
});

describe("with the runtime helper", () => {
  const researcher = () => oneNodeGraph("researcher", async () => ({ messages: [says("found")] }));

  it("a graph inside its tool is a child run, and so is its run inside a graph's tool", async () => {
    const seen = observe();
    const inner = researcher();
    const ask = inSpan(
      plainTool("ask", (config) =>
        runAgent({ sink: seen.sink, agent: "helper" }, (helper) =>
          helper.tool("delegate", {}, async () => {
            await inner.invoke({ messages: [] }, config);
            return "found";
          }),
        ),
      ),
    );
    const agent = reactAgent([says("", ["ask", "call_1"]), says("done")], [ask]);
    await runAgent({ sink: seen.sink, agent: "outer", tenant: "globex" }, (outer) =>
      outer.tool("delegate", {}, () => run(seen, agent)),
    );
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  execute_tool delegate complete",
      "    invoke_agent support complete",
      "      chat small-1 complete",
      "      execute_tool ask complete",
      "        invoke_agent helper complete",
      "          execute_tool delegate complete",
      "            invoke_agent researcher complete",
      "      chat small-1 complete",
    ]);
    expect(new Set(seen.told.map(({ event }) => event.tenant_id))).toEqual(new Set(["globex"]));
  });
});

describe("inSpan", () => {
  it("runs a tool's code in the span of its call, as the current run", async () => {
    const seen = observe();
    const found: unknown[] = [];
    const look = inSpan(
      plainTool("look", async () => {
        await Promise.resolve();
        found.push([trace.getActiveSpan()?.spanContext().spanId, activeRun()]);
        return "seen";
      }),
    );
    expect(inSpan(look)).toBe(look);
    const asks = says("", ["look", "call_1"], ["look", "call_2"]);
    await run(seen, reactAgent([asks, says("done")], [look]));
    const spans = seen.spans().filter(({ name }) => name === "execute_tool look");
    const [started] = seen.of("started");
    const ids = seen.of("tool_start").map(({ event }) => event.tool_use_id);
    expect(ids).toHaveLength(2);
    expect(found).toEqual(
      ids.map((toolUseId, index) => [
        spans[index]?.spanContext().spanId,
        {
          tenantId: "acme",
          runId: started?.event.run_id,
          rootRunId: started?.event.run_id,
          threadId: undefined,
          tool: "look",
          toolUseId,
          stepId: expect.any(String),
          sink: seen.sink,
        },
      ]),
    );
    expect(trace.getActiveSpan()).toBe(undefined);
    expect(activeRun()).toBe(undefined);
  });

  it("without it, the code of a tool is in no span", async () => {
    const seen = observe();
    const found: unknown[] = [];
    const look = plainTool("look", () => {
      found.push(trace.getActiveSpan(), activeRun());
      return "seen";
    });
    await run(seen, reactAgent([says("", ["look", "call_1"]), says("done")], [look]));
    expect(found).toEqual([undefined, undefined]);
  });

  it("keeps runs inside the tool under its call, whoever tells of them", async () => {
    const seen = observe();
    const inner = oneNodeGraph("researcher", async () => ({ messages: [says("found")] }));
    const ask = inSpan(
      plainTool("ask", async () => {
        // Without LangChain's own configuration: only the current run says where it belongs.
        await inner.invoke({ messages: [] }, { callbacks: [seen.handler] });
        return "found";
      }),
    );
    await run(seen, reactAgent([says("", ["ask", "call_1"]), says("done")], [ask]));
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool ask complete",
      "    invoke_agent researcher complete",
      "  chat small-1 complete",
    ]);
  });

  it("changes nothing of a tool that no handler follows, and refuses what is no tool", async () => {
    const look = inSpan(plainTool("look", () => "seen"));
    expect(await look.invoke({})).toBe("seen");
    expect(() => inSpan({})).toThrow("callee: expected a function, a tool with `_call`");
  });

  it.each([
    ["asked", ScriptedModel],
    ["streaming", StreamingModel],
  ])("runs a model's code in the span of its call: %s", async (how, Model) => {
    const seen = observe();
    const found: unknown[] = [];
    const model = inSpan(
      new Model([
        async () => {
          await Promise.resolve();
          found.push(trace.getActiveSpan()?.spanContext().spanId);
          return says("all is well");
        },
      ]),
    );
    inSpan(model);
    const callbacks = [seen.handler];
    if (how === "asked") await model.invoke("hi", { callbacks });
    else for await (const _ of await model.stream("hi", { callbacks }));
    const chat = seen.spans().find(({ name }) => name === "chat small-1");
    expect(found).toEqual([chat?.spanContext().spanId]);
    expect(seen.of("model_complete")).toHaveLength(1);
    expect(typeof seen.of("model_complete")[0]?.event.first_output_ms).toBe(
      how === "asked" ? "object" : "number",
    );
  });

  it.each(["withConfig", "bindTools"])(
    "holds for the copy that a model gives by %s",
    async (method) => {
      const seen = observe();
      const found: unknown[] = [];
      const line = async () => {
        found.push(trace.getActiveSpan()?.spanContext().spanId);
        return says("all is well");
      };
      const made = () => new ScriptedModel([line]);
      const model = inSpan(Object.assign(made(), { [method]: () => copying() }));
      const copying = () => Object.assign(made(), { [method]: made });
      const copy: unknown = Reflect.apply(Reflect.get(model, method), model, [{}]);
      const next: unknown = Reflect.apply(Reflect.get(Object(copy), method), copy, [{}]);
      if (!(next instanceof ScriptedModel)) throw new Error("expected a model");
      await next.invoke("hi", { callbacks: [seen.handler] });
      const chat = seen.spans().find(({ name }) => name === "chat small-1");
      expect(found).toEqual([chat?.spanContext().spanId]);
    },
  );

  it("lets go of a model's stream that is left early", async () => {
    const seen = observe();
    let ends = 0;
    class Tap extends StreamingModel {
      override async *_streamResponseChunks(
        ...args: Parameters<StreamingModel["_streamResponseChunks"]>
      ) {
        try {
          yield* super._streamResponseChunks(...args);
        } finally {
          ends += 1;
        }
      }
    }
    const model = inSpan(new Tap([says("one two three")]));
    for await (const _ of await model.stream("hi", { callbacks: [seen.handler] })) break;
    expect(ends).toBe(1);
  });
});

describe("a call in a run of the runtime", () => {
  const inRun = (
    seen: ReturnType<typeof observe>,
    work: () => Promise<unknown>,
    stop?: AbortSignal,
  ) => runAgent({ sink: seen.sink, agent: "outer", tenant: "acme", signal: stop }, work);

  it("is cut with the run, and its late end is counted", async () => {
    const seen = observe();
    const controller = new AbortController();
    let answer = () => {};
    const late = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const callbacks = [seen.handler];
    const works = async () => {
      controller.abort("bye");
      await late;
      return says("late");
    };
    const model = new ScriptedModel([works]);
    const slow = plainTool("slow", () => model.invoke("hi"));
    let called: Promise<unknown> = late;
    const work = () => {
      called = slow.invoke({}, { callbacks });
      return called;
    };
    await expect(inRun(seen, work, controller.signal)).rejects.toThrow("cancelled");
    answer();
    await called;
    expect(seen.tree()).toEqual([
      "invoke_agent outer failed cancelled !",
      "  execute_tool slow cancelled",
      "    chat small-1 error !",
    ]);
    expect(seen.of("model_error").map(({ event }) => event.kind.type)).toEqual(["cancelled"]);
    expect(seen.handler.counts).toMatchObject({ late: 2, unmatched: 0 });
  });

  it("that begins after the run has a run of its own below it", async () => {
    const seen = observe();
    let goOn = () => {};
    const gone = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let called: Promise<unknown> = gone;
    const model = new ScriptedModel([says("noted")]);
    await inRun(seen, async () => {
      called = gone.then(() => model.invoke("take a note", { callbacks: [seen.handler] }));
    });
    goOn();
    await called;
    expect(seen.tree()).toEqual([
      "invoke_agent outer complete",
      "  invoke_agent small-1 complete",
      "    chat small-1 complete",
    ]);
  });
});

describe("a call that has callbacks of its own", () => {
  const asksInside = (seen: ReturnType<typeof observe>, metadata: Record<string, string> = {}) =>
    plainTool("ask", async () => {
      const callbacks = [seen.handler];
      await add.invoke({ a: 1, b: 2 }, { callbacks, metadata });
      await new ScriptedModel([says("yes")]).invoke("sure?", { callbacks, metadata });
      return "ok";
    });
  const script = () => [says("", ["ask", "c1"]), says("done")];

  it("in the code of a tool stands below it", async () => {
    const seen = observe();
    await run(seen, reactAgent(script(), [asksInside(seen)]));
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool ask complete",
      "    execute_tool add complete",
      "    chat small-1 complete",
      "  chat small-1 complete",
    ]);
    expect(seen.of("complete")[0]?.event.usage).toMatchObject({ requests: 3, input_tokens: 30 });
  });

  it("stands alone if it is another tenant's", async () => {
    const seen = observe();
    await run(seen, reactAgent(script(), [asksInside(seen, { tenant_id: "globex" })]));
    expect(seen.of("started").map(({ event }) => [event.agent, event.tenant_id])).toEqual([
      ["support", "acme"],
      ["add", "globex"],
      ["small-1", "globex"],
    ]);
    expect(seen.of("started").map(({ event }) => event.parent_run_id ?? null)).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe("a chain that the code of a tool starts after the end of its run", () => {
  it("is a run below it, with its answer", async () => {
    const seen = observe();
    let later: Promise<unknown> = Promise.resolve();
    const begun = new Deferred<void>();
    const note = plainTool("note", () => {
      const prompt = RunnableLambda.from((text: string) => text);
      const chain = prompt.pipe(new ScriptedModel([says("noted")]));
      later = begun.promise.then(() => chain.invoke("take a note", { runName: "notes" }));
      return "ok";
    });
    await run(seen, reactAgent([says("", ["note", "c1"]), says("done")], [note]));
    begun.resolve();
    await later;
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool note complete",
      "    invoke_agent notes complete",
      "      chat small-1 complete",
      "  chat small-1 complete",
    ]);
  });
});

describe("code of a tool that nothing awaits", () => {
  /** A tool that takes a note once `begin` was called. */
  const notes = () => {
    const begun = new Deferred<void>();
    let noted: Promise<unknown> = begun.promise;
    const note = plainTool("note", () => {
      noted = begun.promise.then(() => new ScriptedModel([says("noted")]).invoke("take a note"));
      return "ok";
    });
    const goOn = async () => {
      begun.resolve();
      await noted;
    };
    return { note, goOn };
  };

  it("has its calls in the run that goes on, with its usage", async () => {
    const seen = observe();
    const { goOn, note } = notes();
    const answers = async () => {
      await goOn();
      return says("done");
    };
    await run(seen, reactAgent([says("", ["note", "c1"]), answers], [note]));
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool note complete",
      "    chat small-1 complete",
      "  chat small-1 complete",
    ]);
    expect(seen.of("complete")[0]?.event.usage).toMatchObject({ requests: 3, input_tokens: 30 });
  });

  it("has a run of its own after the end of its run, below it", async () => {
    const seen = observe();
    const { goOn, note } = notes();
    await run(seen, reactAgent([says("", ["note", "c1"]), says("done")], [note]));
    await goOn();
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  chat small-1 complete",
      "  execute_tool note complete",
      "    invoke_agent small-1 complete",
      "      chat small-1 complete",
      "  chat small-1 complete",
    ]);
    expect(seen.handler.counts).toMatchObject({ late: 0, unmatched: 0 });
  });
});
